import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { plainWorkflow } from "../doubles/jira/model.ts";
import { AgentWorld, lines } from "./agent-world.ts";

describe("an issue", () => {
  let world: AgentWorld;

  afterEach(async () => {
    await world?.[Symbol.asyncDispose]();
  });

  it("becomes a branch, a commit and a merge request, is linked, and is moved by transitions of any name", async () => {
    world = await AgentWorld.open({ jira: true, script: () => edits("fixed.txt") });

    const issue = world.jira.addIssue(world.issues, { summary: "Add the file" });

    const [task] = await issueTasks(1);
    expect(task?.status).toMatchObject({ phase: "Completed", result: { branch: "agent/app-1" } });
    expect(openRequests()).toMatchObject([
      { title: "feat(APP-1): Add the file", sourceBranch: "agent/app-1", targetBranch: "main", author: "copilot" },
    ]);
    const { transitions, comments } = world.jira.whatHappened();
    expect(transitions.map(({ issue: key, to, by }) => [key, to, by])).toEqual([
      [issue.key, "In Progress", "agent"],
      [issue.key, "In Review", "agent"],
    ]);
    expect(comments).toHaveLength(1);
    expect(comments[0]?.text).toContain(`${world.project.webUrl}/-/merge_requests/1`);
    expect(await world.git("show", "agent/app-1:fixed.txt")).toBe("done\n");
  });

  it("has a merge request with a valid title although its summary is cut within a character", async () => {
    world = await AgentWorld.open({ jira: true, script: () => edits("fixed.txt") });
    const prefix = "feat(APP-1): ";

    world.jira.addIssue(world.issues, { summary: `${"x".repeat(199 - prefix.length)}😀${"y".repeat(20)}` });

    await issueTasks(1);
    const title = openRequests()[0]?.title ?? "";
    expect(title).toHaveLength(200);
    expect(Buffer.from(title).toString()).toBe(title);
  });

  it("reaches the coder with its description, in any format", async () => {
    world = await AgentWorld.open({ jira: true, script: (folder) => [{ do: "echo", file: join(folder, "echo") }] });
    const description = {
      type: "doc",
      version: 1,
      content: [
        {
          type: "paragraph",
          content: [
            { type: "text", text: "Please use " },
            { type: "text", text: "x < 3 && y", marks: [{ type: "code" }] },
          ],
        },
        {
          type: "codeBlock",
          attrs: { language: "ts" },
          content: [{ type: "text", text: "const a = 1;\n  // indented" }],
        },
      ],
    };

    world.jira.addIssue(world.issues, { summary: "Add the file", description });

    await issueTasks(1);
    const [echo] = (await world.witnessed("echo")) as unknown as readonly {
      request: { issue: { description: string } };
    }[];
    expect(echo?.request.issue.description).toBe("Please use `x < 3 && y`\n\n```ts\nconst a = 1;\n  // indented\n```");
    expect(world.jira.whatHappened().comments[0]?.text).toContain("The agent found no changes to make.");
  });

  it("is worked on in parallel to another of the same repository", async () => {
    world = await AgentWorld.open({
      jira: true,
      agents: 2,
      script: (folder) => ({
        cases: [
          {
            kind: "edit",
            steps: [{ do: "sleep", ms: 1_500, witness: join(folder, "witness") }, ...edits("fixed.txt")],
          },
        ],
      }),
    });

    world.jira.addIssue(world.issues, { summary: "One" });
    world.jira.addIssue(world.issues, { summary: "Two" });

    await issueTasks(2);
    expect(
      openRequests()
        .map(({ sourceBranch }) => sourceBranch)
        .sort(),
    ).toEqual(["agent/app-1", "agent/app-2"]);
    const events = (await world.witnessed("witness")).map(({ event }) => event);
    expect(events).toEqual(["begin", "begin", "end", "end"]);
  });

  it("is retried when it is moved back after a failure", async () => {
    world = await AgentWorld.open({
      jira: true,
      env: { AGENT_MAX_ATTEMPTS: "1" },
      script: (folder) => [
        {
          do: "times",
          counter: join(folder, "counter"),
          first: 1,
          steps: [{ do: "exit", code: 3 }],
          otherwise: edits("fixed.txt"),
        },
      ],
    });
    const issue = world.jira.addIssue(world.issues, { summary: "Add the file" });
    const [failed] = await issueTasks(1);
    expect(failed?.status?.phase).toBe("Failed");
    expect(world.jira.whatHappened().comments.map(({ text }) => text)).toEqual([
      expect.stringContaining("Move the issue back to To Do to retry."),
    ]);

    world.jira.moveAs(world.jira.root, issue, "To Do");

    await issueTasks(2);
    expect(openRequests()).toHaveLength(1);
  });

  it("that cannot start is reported once, and delays no other", async () => {
    world = await AgentWorld.open({ jira: true, script: () => edits("fixed.txt") });
    const stuck = { ...plainWorkflow, transitions: plainWorkflow.transitions.filter(({ to }) => to !== "In Progress") };
    Object.assign(world.issues, { workflow: stuck });
    world.jira.addIssue(world.issues, { summary: "Cannot begin" });
    await issueTasks(1);
    Object.assign(world.issues, { workflow: plainWorkflow });

    world.jira.addIssue(world.issues, { summary: "Can" });

    const tasks = await issueTasks(2);
    expect(tasks.map(({ status }) => status?.phase).sort()).toEqual(["Completed", "Failed"]);
    const comments = world.jira.whatHappened().comments.filter(({ issue }) => issue === "APP-1");
    expect(comments).toHaveLength(1);
    expect(comments[0]?.text).toContain("no transition leads from To Do to In Progress");
  });

  it("adopts the existing merge request of its branch", async () => {
    world = await AgentWorld.open({ jira: true, script: () => edits("fixed.txt") });
    world.gitlab.faults.loseReply({ method: "POST", path: "/merge_requests" });

    world.jira.addIssue(world.issues, { summary: "Add the file" });

    const [task] = await issueTasks(1);
    expect(task?.status?.phase).toBe("Completed");
    expect(openRequests()).toHaveLength(1);
  });

  it("has one comment of ours, although a former lock holder adds another late; quotes of it stay", async () => {
    world = await AgentWorld.open({
      jira: true,
      script: (folder) => [{ do: "wait-for-file", path: join(folder, "gate"), witness: join(folder, "witness") }],
    });
    const issue = world.jira.addIssue(world.issues, { summary: "Add the file" });
    await expect.poll(() => world.witnessed("witness")).toHaveLength(1);
    const [begun] = world.jira.whatHappened().comments;

    for (const user of [world.jira.root, world.jiraBot]) world.jira.commentAs(user, issue, begun?.text ?? "");
    await world.openGate("gate");

    await issueTasks(1);
    const left = world.jira.whatHappened().comments.filter(({ isDeleted }) => !isDeleted);
    expect(left.map(({ author, text }) => `${author}: ${text.split("\n", 1)[0]}`)).toEqual([
      "agent: The agent found no changes to make.",
      "root: Working on it.",
    ]);
  });

  it("is left to a person who takes it meanwhile", async () => {
    world = await AgentWorld.open({ jira: true, script: () => edits("fixed.txt") });
    world.jira.indexLagMs = 60_000;
    const issue = world.jira.addIssue(world.issues, { summary: "Mine" });
    world.jira.moveAs(world.jira.root, issue, "In Progress");
    world.jira.addIssue(world.issues, { summary: "Yours" });
    world.jira.indexLagMs = 0;

    await issueTasks(1);

    expect(openRequests().map(({ sourceBranch }) => sourceBranch)).toEqual(["agent/app-2"]);
  });

  async function issueTasks(count: number) {
    const isIssue = ({ spec }: { readonly spec: { readonly type: string } }) => spec.type === "Issue";
    await expect.poll(async () => (await world.tasks()).filter(isIssue).length).toBeGreaterThanOrEqual(count);
    return (await world.allEnded(count)).filter(isIssue);
  }

  function openRequests() {
    return world.gitlab.whatHappened().mergeRequests.filter(({ state }) => state === "opened");
  }
});

function edits(path: string) {
  return [{ do: "write", path, text: lines("done") }] as const;
}
