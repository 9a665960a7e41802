import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLedger } from "../../../src/ledger/index.ts";
import type { CodingTask } from "../../../src/resources/index.ts";
import type { Project } from "../../doubles/gitlab/model.ts";
import type { CoderStep } from "../../doubles/scripted-coder.ts";
import { AgentStage, agentWorkflow, secrets } from "./agent-stage.ts";

const everySecret = Object.values(secrets);
const pattern = everySecret.join("|");
const childMs = 987_654;

interface Trick {
  readonly name: string;
  readonly steps: (folder: string) => readonly CoderStep[];
  /** How the task ends. */
  readonly end: string;
  /** All texts that users read. */
  readonly reply: RegExp;
  readonly isPushed: boolean;
}

const tricks: readonly Trick[] = [
  {
    name: "edits the pipeline",
    steps: () => [{ do: "write", path: ".gitlab-ci.yml", text: "steal: {script: env}\n" }],
    end: "Failed PatchProtectedPath",
    reply: /^❌ Failed: .*\.gitlab-ci\.yml/,
    isPushed: false,
  },
  {
    name: "links out of the tree",
    steps: () => [{ do: "symlink", path: "users", to: "/etc/passwd" }],
    end: "Failed PatchSymlink",
    reply: /^❌ Failed: .*users/,
    isPushed: false,
  },
  {
    name: "writes 20 MB",
    steps: () => [{ do: "write-random", path: "large.txt", bytes: 20_000_000 }],
    end: "Failed PatchTooLarge",
    reply: /^❌ Failed: .*large/,
    isPushed: false,
  },
  {
    name: "looks for tokens",
    steps: () => [{ do: "look-for-secrets", pattern }],
    end: "Completed",
    reply: /^ℹ️ No file changes needed\.\n\nFound:\n/,
    isPushed: false,
  },
  {
    name: "repeats tokens",
    steps: () => [
      { do: "write", path: "harmless.txt", text: "x\n" },
      { do: "answer", value: { summary: `I know ${everySecret.join(" ")}`, commitMessage: `fix: ${secrets.gitlab}` } },
    ],
    end: "Completed",
    reply: /^✅ Changes pushed .*\n\nI know \[redacted\] \[redacted\] \[redacted\]/,
    isPushed: true,
  },
  {
    name: "writes a token into a file",
    steps: () => [{ do: "write", path: "config.txt", text: `token=${secrets.jira}\n` }],
    end: "Failed PatchSecret",
    reply: /^❌ Failed: the change to config.txt contains a secret of Interlock/,
    isPushed: false,
  },
  {
    name: "complains with tokens",
    steps: () => [
      { do: "complain", text: `cannot log in with ${secrets.webhook}` },
      { do: "exit", code: 3 },
    ],
    end: "Failed ExitCode",
    reply: /^❌ Failed: .*cannot log in with \[redacted\]/,
    isPushed: false,
  },
  {
    name: "hangs",
    steps: () => [{ do: "hang", ignoresSignals: true }],
    end: "Failed Timeout",
    reply: /^❌ Failed: .*[^.]\.\n/,
    isPushed: false,
  },
  {
    name: "forks",
    steps: (folder) => [
      { do: "fork", pids: join(folder, "pids"), ms: childMs, detached: true, ignoresSignals: true, holdsOutput: true },
      { do: "write", path: "forked.txt", text: "x\n" },
    ],
    end: "Completed",
    reply: /^✅ Changes pushed /,
    isPushed: true,
  },
];

describe("a hostile coder", () => {
  let stage: AgentStage;
  let project: Project;
  let tasks: readonly CodingTask[];
  const commandLines = new Set<string>();

  beforeAll(async () => {
    stage = await AgentStage.open({ backend: "kubernetes" });
    project = await stage.addProject("group/app");
    const cases = tricks.map(({ name, steps }) => ({
      kind: "edit" as const,
      matches: name,
      steps: steps(stage.directory),
    }));
    const shop = stage.jira.addProject("SHOP", agentWorkflow);
    stage.jira.addIssue(shop, { summary: "One that repeats tokens" });
    for (const { name } of tricks) {
      const branch = branchOf(name);
      await stage.gitlab.pushAs(stage.kim, project, branch, { "app.ts": `${name}\n` });
      const draft = { sourceBranch: branch, title: `Draft: ${branch}`, author: stage.kim };
      await stage.gitlab.commentOn(await stage.gitlab.openMergeRequest(project, draft), stage.kim, `/copilot ${name}`);
    }
    const sampling = setInterval(() => everyCommandLine().forEach((line) => void commandLines.add(line)), 20);
    stage
      .agent("agent", {
        AGENT_COMMAND: await stage.command({ cases }),
        AGENT_TIMEOUT: "15s",
        AGENT_MAX_ATTEMPTS: "1",
        ...{ GITLAB_POLL: "true", GITLAB_POLL_FROM: "1h", GITLAB_PROJECTS: project.path },
        ...stage.solving("SHOP", project),
      })
      .start();
    tasks = await stage.allEnded(tricks.length + 1, { withinMs: 150_000 });
    clearInterval(sampling);
  }, 180_000);

  afterAll(() => stage[Symbol.asyncDispose]());

  it.each(tricks)("that $name is contained, and the reply reports it", async ({ name, end, reply, isPushed }) => {
    const task = tasks.find(({ spec }) => spec.type === "Command" && spec.note.instruction.includes(name));
    const { status } = task ?? {};
    const reason = status?.phase === "Failed" ? ` ${status.failure.reason}` : "";
    expect(`${status?.phase}${reason}`).toBe(end);
    const iid = task?.spec.type === "Command" ? task.spec.mergeRequest.iid : 0;
    const replies = stage.notes(project).filter((note) => note.iid === iid);
    expect(replies.map(({ body }) => body)).toEqual([expect.stringMatching(reply)]);
    const subjects = await stage.git(project, "log", "--format=%an", `main..${branchOf(name)}`);
    expect(subjects.split("\n").filter((author) => author === "Interlock")).toHaveLength(isPushed ? 1 : 0);
  });

  it("leaves no process behind", () => {
    expect(everyCommandLine().filter((line) => line.includes(`${childMs}`))).toEqual([]);
    // Otherwise the check below proves nothing.
    expect(stage.witnessed("pids")).toHaveLength(1);
  });

  it("gets no token into any stored, shown or logged text", async () => {
    const events = [];
    for await (const event of readLedger(stage.ledgerDirectory)) events.push(event);
    const kept = {
      logs: stage.logs(Number.POSITIVE_INFINITY),
      notes: JSON.stringify(stage.gitlab.whatHappened()),
      descriptions: JSON.stringify(project.mergeRequests.map(({ title, description }) => [title, description])),
      jira: JSON.stringify(stage.jira.whatHappened()),
      git: (await stage.git(project, "log", "--all", "-p", "--format=%B")).toString(),
      ledger: JSON.stringify(events),
      tasks: JSON.stringify(tasks),
      commandLines: [...commandLines].join("\n"),
    };

    for (const [where, text] of Object.entries(kept)) {
      expect(text.length, where).toBeGreaterThan(100);
      expect(
        everySecret.filter((secret) => text.includes(secret)),
        where,
      ).toEqual([]);
    }
    expect(kept.jira).toContain("I know [redacted] [redacted] [redacted]");
  });
});

function branchOf(name: string): string {
  return name.replaceAll(" ", "-").toLowerCase();
}

/** Of every process of this machine. */
function everyCommandLine(): readonly string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => textAt(`/proc/${pid}/cmdline`).replaceAll("\0", " "));
}

function textAt(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
