import { type LedgerEvent, readLedger } from "../../../src/ledger/index.ts";
import type { CodingTask } from "../../../src/resources/index.ts";
import type { Project } from "../../doubles/gitlab/model.ts";
import type { CoderStep } from "../../doubles/scripted-coder.ts";
import { type AgentStage, agentWorkflow } from "./agent-stage.ts";

/** One task for the agent, in a project of its own, and its expected result. */
export interface CrashStory {
  readonly name: "review" | "command" | "issue";
  readonly steps: readonly CoderStep[];
  /** Requests the task. Resolves to the variables that the agent needs to find it. */
  arrange(stage: AgentStage, project: Project): Promise<Readonly<Record<string, string>>>;
  /** The expected effects, and how often each occurs. */
  outcome(stage: AgentStage, project: Project, task: CodingTask): Promise<readonly string[]>;
  readonly expected: readonly string[];
}

const review: CrashStory = {
  name: "review",
  steps: [
    {
      do: "answer",
      value: {
        summary: "Fine.",
        findings: [
          { path: "app.ts", line: 2, side: "new", severity: "error", message: "not a word" },
          { path: "app.ts", line: 900, side: "new", severity: "info", message: "nowhere" },
        ],
      },
    },
  ],
  async arrange(stage, project) {
    await openMergeRequest(stage, project, "topic");
    return polling(project);
  },
  async outcome(stage, project) {
    return stage.notes(project).map(({ body }) => firstLine(body));
  },
  expected: ["## Code Review Summary", "**[ERROR]** not a word", "`app.ts:900` **[INFO]** nowhere"],
};

const command: CrashStory = {
  name: "command",
  steps: [{ do: "append", path: "list.txt", text: "x\n" }],
  async arrange(stage, project) {
    // Drafts are not reviewed.
    const mr = await openMergeRequest(stage, project, "Draft: topic");
    await stage.gitlab.commentOn(mr, stage.kim, "/copilot add a line");
    return polling(project);
  },
  async outcome(stage, project, task) {
    const { awards, notes } = stage.gitlab.whatHappened();
    const asked = notes.find((note) => note.project === project.path && note.author === "kim");
    return [
      ...awards.filter(({ note }) => note === asked?.id).map(({ name }) => name),
      ...stage.notes(project).map(({ body }) => firstLine(body).replace(/[0-9a-f]{40}/, "SHA")),
      ...(await commits(stage, project, { branch: "topic", task })),
      `list.txt: ${await stage.git(project, "show", "topic:list.txt").catch(() => "missing")}`,
    ];
  },
  expected: ["eyes", "✅ Changes pushed to `topic`: SHA", "commit: fix: add a line", "list.txt: x\n"],
};

const issue: CrashStory = {
  name: "issue",
  steps: [{ do: "append", path: "list.txt", text: "x\n" }],
  async arrange(stage, project) {
    const key = keyOf(project);
    stage.jira.addIssue(stage.jira.addProject(key, agentWorkflow), { summary: "A list is missing" });
    return stage.solving(key, project);
  },
  async outcome(stage, project, task) {
    const isOurs = ({ issue }: { issue: string }) => issue === `${keyOf(project)}-1`;
    const { transitions, comments } = stage.jira.whatHappened();
    const { mergeRequests } = stage.gitlab.whatHappened();
    const branch = `agent/${keyOf(project).toLowerCase()}-1`;
    return [
      ...transitions.filter(isOurs).map(({ from, to }) => `${from} to ${to}`),
      ...comments.filter(isOurs).map(({ text }) => text.split(":", 1)[0] ?? ""),
      ...mergeRequests.filter((mr) => mr.project === project.path).map(({ state }) => `merge request: ${state}`),
      ...(await commits(stage, project, { branch, task })).map((text) => text.replace(keyOf(project), "KEY")),
    ];
  },
  expected: [
    "AI Ready to In Progress",
    "In Progress to In Review",
    "Merge request",
    "merge request: opened",
    "commit: feat(KEY-1): A list is missing",
  ],
};

export const crashStories: readonly CrashStory[] = [review, command, issue];

/** The deviations from the expected result after all tasks have ended. */
export async function storyProblems(
  stage: AgentStage,
  story: CrashStory,
  { project, tasks }: { readonly project: Project; readonly tasks: readonly CodingTask[] },
): Promise<readonly string[]> {
  const [task] = tasks;
  if (!task || tasks.length > 1) return [`${tasks.length} tasks instead of one`];
  const problems: string[] = [];
  if (task.status?.phase !== "Completed") problems.push(`it ended ${JSON.stringify(task.status)}`);
  const found = [...(await story.outcome(stage, project, task))].sort();
  const expected = [...story.expected].sort();
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    problems.push(`there is ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  }
  const types = (await ledgerOf(stage, task)).map(({ type }) => type).join();
  if (!/^task\.received,(task\.started,)+task\.ended$/.test(types)) problems.push(`the ledger has ${types}`);
  return problems;
}

async function ledgerOf(stage: AgentStage, { metadata }: CodingTask): Promise<readonly LedgerEvent[]> {
  const events: LedgerEvent[] = [];
  for await (const event of readLedger(stage.ledgerDirectory)) {
    if (event.id.startsWith(`${metadata.uid}/`)) events.push(event);
  }
  return events;
}

async function openMergeRequest(stage: AgentStage, project: Project, title: string) {
  await stage.gitlab.pushAs(stage.kim, project, "topic", { "app.ts": "one\n2\nthree\n" });
  return stage.gitlab.openMergeRequest(project, { sourceBranch: "topic", title, author: stage.kim });
}

function polling({ path }: Project) {
  return { GITLAB_POLL: "true", GITLAB_POLL_INTERVAL: "1s", GITLAB_POLL_FROM: "1h", GITLAB_PROJECTS: path };
}

/** The commits that say that they are the task's. */
async function commits(
  stage: AgentStage,
  project: Project,
  { branch, task }: { readonly branch: string; readonly task: CodingTask },
): Promise<readonly string[]> {
  const trailer = `--grep=^Interlock-Task: ${task.metadata.uid}$`;
  const log = await stage.git(project, "log", "--format=commit: %s", trailer, branch);
  return log.split("\n").filter(Boolean);
}

function keyOf({ id }: Project): string {
  return `P${id}`;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
