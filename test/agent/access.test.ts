import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { CodingTask } from "../../src/resources/index.ts";
import { developer, type MergeRequest, type Project, reporter, type User } from "../doubles/gitlab/model.ts";
import type { CoderStep } from "../doubles/scripted-coder.ts";
import { AgentWorld, type AgentWorldOptions, lines } from "./agent-world.ts";

let world: AgentWorld;

afterEach(async () => {
  await world?.[Symbol.asyncDispose]();
});

const polling = {
  gateways: 0,
  env: { GITLAB_POLL: "true", GITLAB_PROJECTS: "group/app", GITLAB_POLL_INTERVAL: "1s", GITLAB_POLL_FROM: "1h" },
} as const;
const paths: readonly (readonly [string, AgentWorldOptions])[] = [
  ["a webhook", {}],
  ["a poll", polling],
];

describe.each(paths)("a merge request that %s reports", (_path, options) => {
  it("is not reviewed if its author is not a member, and nothing is posted", async () => {
    world = await AgentWorld.open({ ...options, script: asked });
    const stranger = world.gitlab.addUser("stranger");

    await openFrom(stranger);

    const [task] = await world.allEnded();
    expect(task?.status).toMatchObject({
      phase: "Cancelled",
      reason: "NotAMember",
      message: expect.stringContaining("the author is not a member: stranger needs the role Developer"),
    });
    expect(await world.witnessed("asked")).toEqual([]);
    expect(world.notes()).toEqual([]);
  });

  it("is not reviewed for a Reporter at the default, but for a Developer", async () => {
    world = await AgentWorld.open({ ...options, script: asked });
    const visitor = world.gitlab.addUser("visitor");
    world.gitlab.setMember(world.project, visitor, reporter);

    await openFrom(visitor, "theirs");
    await world.openMergeRequest({ branch: "ours" });

    const tasks = await world.allEnded(2);
    expect(statusOn(tasks, "theirs")).toMatchObject({
      phase: "Cancelled",
      reason: "AccessTooLow",
      message: expect.stringContaining("visitor has the role Reporter and needs Developer"),
    });
    expect(statusOn(tasks, "ours")).toMatchObject({ phase: "Completed" });
    expect(await world.witnessed("asked")).toHaveLength(1);
  });

  it("from a fork is reviewed only after a member asks", async () => {
    world = await AgentWorld.open({ ...options, script: asked });
    const { mr } = await openFromFork();
    const [first] = await world.allEnded(1);
    expect(first?.status).toMatchObject({ phase: "Cancelled", reason: "ForkNotRequested" });
    expect(await world.witnessed("asked")).toEqual([]);

    await world.gitlab.commentOn(mr, world.kim, "/copilot review");

    await expect.poll(async () => (await world.tasks()).length, { timeout: 20_000 }).toBe(3);
    await world.allEnded(3);
    expect(await world.witnessed("asked")).toHaveLength(1);
    expect(world.summaries()).toHaveLength(1);
  });
});

describe.each(paths)("a comment that %s reports", (_path, options) => {
  it.each([
    ["a Reporter at the default", reporter, "/copilot add the file", "AccessTooLow"],
    ["a non-member", 0, "/copilot add the file", "NotAMember"],
    ["a non-member", 0, "/copilot review", "NotAMember"],
    ["a non-member", 0, "/copilot status", "NotAMember"],
  ])("of %s (%i) triggers nothing: %s", async (_who, level, text, reason) => {
    world = await AgentWorld.open({ ...options, script: asked });
    const mr = await world.openMergeRequest({ title: "Draft: no review" });
    const visitor = world.gitlab.addUser("visitor");
    world.gitlab.setMember(world.project, visitor, level);

    await world.gitlab.commentOn(mr, visitor, text);

    const [task] = await world.allEnded(1);
    expect(task?.status).toMatchObject({ phase: "Cancelled", reason });
    expect(world.gitlab.whatHappened().awards).toEqual([]);
    expect(world.notes()).toEqual([]);
    expect(await world.witnessed("asked")).toEqual([]);
    expect(world.ledger.events()).toContainEqual(
      expect.objectContaining({ type: "task.ended", facts: expect.objectContaining({ reason, by: "visitor" }) }),
    );
  });

  it("of a Developer is acted on", async () => {
    world = await AgentWorld.open({ ...options, script: asked });
    const mr = await world.openMergeRequest({ title: "Draft: no review" });
    const colleague = world.gitlab.addUser("colleague");
    world.gitlab.setMember(world.project, colleague, developer);

    await world.gitlab.commentOn(mr, colleague, "/copilot look");

    const [task] = await world.allEnded(1);
    expect(task?.status).toMatchObject({ phase: "Completed" });
  });
});

describe("access", () => {
  it("is read again when the work begins: the task of a removed member does not run", async () => {
    world = await AgentWorld.open({
      env: { AGENT_CONCURRENCY: "1" },
      script: (folder) => [
        { do: "wait-for-file", path: join(folder, "gate"), witness: join(folder, "asked") },
        { do: "write", path: "added.txt", text: "done\n" },
      ],
    });
    const first = await world.openMergeRequest({ branch: "first", title: "Draft: first" });
    await world.gitlab.commentOn(first, world.kim, "/copilot one");
    await expect.poll(() => world.witnessed("asked")).toHaveLength(1);
    const colleague = world.gitlab.addUser("colleague");
    world.gitlab.setMember(world.project, colleague, developer);
    const second = await world.openMergeRequest({ branch: "second", title: "Draft: second" });
    await world.gitlab.commentOn(second, colleague, "/copilot two");
    await expect.poll(() => world.gitlab.whatHappened().awards.length).toBe(2);

    world.gitlab.setMember(world.project, colleague, 0);
    await world.openGate("gate");

    const tasks = await world.allEnded(2);
    expect(statusOn(tasks, "second")).toMatchObject({ phase: "Cancelled", reason: "NotAMember" });
    expect(await world.witnessed("asked")).toHaveLength(2);
    expect(world.pushes()).toHaveLength(1);
  });

  it("is read again before a push: the change of a removed member is not pushed", async () => {
    world = await AgentWorld.open({
      script: (folder) => [
        { do: "wait-for-file", path: join(folder, "gate"), witness: join(folder, "asked") },
        { do: "write", path: "added.txt", text: "done\n" },
      ],
    });
    const mr = await world.openMergeRequest({ title: "Draft: no review" });
    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");
    await expect.poll(() => world.witnessed("asked")).toHaveLength(1);

    world.gitlab.setMember(world.project, world.kim, 0);
    await world.openGate("gate");

    const [task] = await world.allEnded(1);
    expect(task?.status).toMatchObject({ phase: "Failed", failure: { reason: "NotAMember" } });
    expect(world.pushes()).toEqual([]);
    expect(world.notes().map(({ body }) => body)).toEqual([expect.stringMatching(/^❌ Failed: /)]);
  });

  it("is not assumed while GitLab does not respond: the task waits, and nothing runs or is posted", async () => {
    world = await AgentWorld.open({ script: asked });
    const members = new RegExp(`/projects/${world.project.id}/members/all/`);
    world.gitlab.faults.failNext({ path: members, status: 502, times: 1_000 });

    await world.openMergeRequest();

    const waiting = async () => (await world.tasks()).map(({ status }) => [status?.phase, status?.message]);
    await expect
      .poll(waiting, { timeout: 20_000 })
      .toEqual([["Waiting", expect.stringMatching(/GitLab responded 502 to GET .*members/)]]);
    expect(await world.witnessed("asked")).toEqual([]);
    expect(world.notes()).toEqual([]);
    world.gitlab.faults.clear();
    await world.allEnded(1);
    expect(world.summaries()).toHaveLength(1);
  });

  it("is that of the author on GitLab, not in the webhook", async () => {
    world = await AgentWorld.open({ agents: 0, script: asked });
    const mr = await world.openMergeRequest({ title: "Draft: no review" });
    const stranger = world.gitlab.addUser("stranger");
    world.gitlab.webhooks.hold();
    const note = await world.gitlab.commentOn(mr, stranger, "/copilot add the file");
    const body = {
      object_kind: "note",
      user: { id: world.kim.id, username: "kim" },
      project: { id: world.project.id, path_with_namespace: world.project.path },
      object_attributes: {
        ...{ id: note.id, author_id: world.kim.id, note: note.body, noteable_type: "MergeRequest", action: "create" },
      },
      merge_request: {
        ...{ iid: mr.iid, state: "opened", source_branch: "topic", target_branch: "main" },
        last_commit: { id: mr.versions.at(-1)?.head },
      },
    };
    const headers = { "content-type": "application/json", "x-gitlab-token": "the-secret-of-the-webhook" };
    const answer = await fetch(`${world.gatewayUrls[0]}/webhook`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(201);

    await world.openAgent();

    const [task] = await world.allEnded(1);
    expect(task?.status).toMatchObject({ phase: "Cancelled", reason: "NotAMember" });
    expect(await world.witnessed("asked")).toEqual([]);
  });
});

describe("a merge request from a fork", () => {
  it("is not reviewed at a commit that was pushed after the member asked", async () => {
    world = await AgentWorld.open({ agents: 0, script: asked });
    const { mr, fork } = await openFromFork();
    await world.gitlab.commentOn(mr, world.kim, "/copilot review");
    await pushLater(fork);

    await world.openAgent();

    await expect
      .poll(() => world.notes().map(({ body }) => body))
      .toEqual([
        expect.stringMatching(
          /^Not reviewed: the fork has new commits since the request .*: read them, then ask again/,
        ),
      ]);
    await world.allEnded(2);
    expect(await world.witnessed("asked")).toEqual([]);
  });

  it("is not changed by a command at a commit that was pushed after the member asked", async () => {
    world = await AgentWorld.open({ agents: 0, script: asked });
    const { mr, fork } = await openFromFork();
    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");
    await pushLater(fork);

    await world.openAgent();

    const tasks = await world.allEnded(2);
    const command = tasks.find(({ spec }) => spec.type === "Command");
    expect(command?.status).toMatchObject({ phase: "Failed", failure: { reason: "ForkMoved" } });
    expect(await world.witnessed("asked")).toEqual([]);
  });

  it("is changed by the command of a member", async () => {
    world = await AgentWorld.open({ script: asked });
    const { mr } = await openFromFork();

    await world.gitlab.commentOn(mr, world.kim, "/copilot add the file");

    await world.allEnded(2);
    expect(await world.witnessed("asked")).toHaveLength(1);
    expect(world.pushes()).toHaveLength(1);
  });

  it("gitlab.forks: always reviews those of members, and no others", async () => {
    world = await AgentWorld.open({ env: { GITLAB_FORKS: "always" }, script: asked });
    await openFromFork({ branch: "stranger" });
    await openFromFork({ branch: "member", author: world.kim });

    const tasks = await world.allEnded(2);

    expect(statusOn(tasks, "stranger")).toMatchObject({ phase: "Cancelled", reason: "NotAMember" });
    expect(statusOn(tasks, "member")).toMatchObject({ phase: "Completed" });
  });

  it("gitlab.forks: never is explained to the member who asks", async () => {
    world = await AgentWorld.open({ env: { GITLAB_FORKS: "never" }, script: asked });
    const { mr } = await openFromFork();

    await world.gitlab.commentOn(mr, world.kim, "/copilot review");

    await world.allEnded(2);
    expect(world.notes().map(({ body }) => body)).toEqual([
      expect.stringContaining("the merge request comes from a fork, and gitlab.forks is never"),
    ]);
    expect(await world.witnessed("asked")).toEqual([]);
  });
});

/** Writes down each time that the coder is asked. */
function asked(folder: string): CoderStep[] {
  return [
    { do: "echo", file: join(folder, "asked") },
    { do: "write", path: "added.txt", text: "done\n" },
  ];
}

async function openFrom(author: User, branch = "topic"): Promise<MergeRequest> {
  await world.gitlab.pushAs(world.kim, world.project, branch, { "app.ts": lines("one", "2", "three") });
  return world.gitlab.openMergeRequest(world.project, { sourceBranch: branch, title: branch, author });
}

async function openFromFork({
  branch = "topic",
  author,
}: {
  readonly branch?: string;
  readonly author?: User;
} = {}): Promise<{ mr: MergeRequest; fork: Project }> {
  const owner = author ?? world.gitlab.addUser(`owner-of-${branch}`);
  const fork = await world.gitlab.addProject({ path: `${owner.username}/${branch}`, forkOf: world.project });
  await world.gitlab.pushAs(owner, fork, branch, { "app.ts": lines("from", "the", "fork") });
  const draft = { sourceProject: fork, sourceBranch: branch, title: branch, author: owner };
  return { mr: await world.gitlab.openMergeRequest(world.project, draft), fork };
}

/** At a later time than what was asked before. */
async function pushLater(fork: Project): Promise<void> {
  await world.gitlab.pushAs(world.root, fork, "topic", { "app.ts": lines("another", "commit") });
  await world.gitlab.webhooks.settled();
}

function statusOn(tasks: readonly CodingTask[], branch: string) {
  return tasks.find(({ spec }) => spec.type !== "Issue" && spec.mergeRequest.sourceBranch === branch)?.status;
}
