import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { gitWorkshop, type PushOrder, type Repository, type Workshop } from "../../src/agent/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import type { Project, User } from "../doubles/gitlab/model.ts";
import { type GitLabDouble, startGitLab } from "../doubles/gitlab/start-gitlab.ts";

const { signal } = new AbortController();

let gitlab: GitLabDouble;
let bot: User;
let ann: User;
let token: string;
let directory: string;
let project: Project;
let repository: Repository;
let workshop: Workshop & AsyncDisposable;
let projects = 0;

beforeAll(async () => {
  gitlab = await startGitLab();
  [bot, ann] = [gitlab.addUser("bot"), gitlab.addUser("ann")];
  directory = await mkdtemp(join(tmpdir(), "interlock-http-workshop-"));
});
afterAll(async () => {
  await gitlab.close();
  await rm(directory, { recursive: true, force: true });
});

beforeEach(async () => {
  const branches = { topic: { "a.txt": "one\ntwo\n" } };
  project = await gitlab.addProject({ path: `shop/cart-${++projects}`, branches });
  repository = { projectId: project.id, cloneUrl: project.cloneUrl };
  token = bot.token;
  workshop = await gitWorkshop({
    directory,
    server: { origin: gitlab.url, token: () => token },
    timeLimitMs: 60_000,
    env: { PATH: process.env["PATH"] },
    clock: systemClock(),
    random: systemRandom(),
  });
});
afterEach(async () => {
  gitlab.faults.clear();
  Object.assign(gitlab.settings, { acceptsCustomRefs: true, pushRefusal: "" });
  await workshop[Symbol.asyncDispose]();
});

describe("a workshop and a GitLab", () => {
  it("agree on where a branch stands", async () => {
    expect(await workshop.branchHead(repository, "topic", signal)).toBe(head("topic"));
    expect(await workshop.branchHead(repository, "nothing", signal)).toBeUndefined();
  });

  it("bring a change from a work tree to its merge request", async () => {
    const mr = await gitlab.openMergeRequest(project, { sourceBranch: "topic" });
    const commit = await editedCommit("topic");

    expect(await workshop.push(repository, order("topic", commit), signal)).toEqual({ kind: "pushed" });
    expect(mr.versions.map((version) => version.head)).toEqual([expect.any(String), commit]);
    expect(branchPushes()).toMatchObject([{ user: "bot", new: commit }]);
  });

  it("find the commits of a fork's merge request, and those that were rewritten since", async () => {
    const fork = await gitlab.addProject({ path: `ann/fork-${projects}`, forkOf: project, members: [] });
    const first = await gitlab.pushAs(ann, fork, "main", { "fork.txt": "1\n" });
    const mr = await gitlab.openMergeRequest(project, { sourceProject: fork, sourceBranch: "main" });
    await gitlab.pushAs(ann, fork, "main", { "fork.txt": "2\n" }, { from: project.branches.get("main") ?? "" });

    await workshop.fetchCommit(repository, first, `refs/merge-requests/${mr.iid}/head`, signal);
    await using tree = await workshop.checkout(repository, first, signal);
    expect(tree.sha).toBe(first);
  });

  it("push once when the reply is lost", async () => {
    const commit = await editedCommit("topic");
    gitlab.faults.loseReply({ method: "POST", path: "/git-receive-pack" });

    expect(await workshop.push(repository, order("topic", commit), signal)).toEqual({ kind: "pushed" });
    expect(branchPushes()).toMatchObject([{ new: commit }]);
  });

  it("leave a branch alone that a person moved right before the push", async () => {
    const commit = await editedCommit("topic");
    const push = order("topic", commit);
    let hers = "";
    gitlab.faults.before({ method: "POST", path: "/git-receive-pack" }, async () => {
      hers = await gitlab.pushAs(ann, project, "topic", { "hers.txt": "hers\n" });
    });

    expect(await workshop.push(repository, push, signal)).toEqual({ kind: "moved", sha: hers });
    expect(branchPushes()).toMatchObject([{ user: "ann", new: hers }]);
  });

  it("let one of two who push under different fences through", async () => {
    const commit = await editedCommit("topic");
    const before = head("topic");
    expect(await workshop.push(repository, order("topic", commit, 7n), signal)).toEqual({ kind: "pushed" });

    const late = { ...order("topic", commit, 6n), expectedSha: before };
    expect(await workshop.push(repository, late, signal)).toEqual({ kind: "stale" });
  });

  it.each([
    ["unavailable", "GitLab is down", () => gitlab.faults.failNext({ status: 502, times: 9 })],
    ["unavailable", "there are too many of us", () => gitlab.faults.failNext({ status: 429, times: 9 })],
    ["denied", "the token is none", () => useToken("glpat-nonsense")],
    ["denied", "the token is for something else", () => useToken(gitlab.addToken(bot, "read_api"))],
    ["missing", "the project is hidden from us", () => gitlab.setMember(project, bot, 0)],
  ])("say %s when %s", async (kind, _why, happens) => {
    happens();
    await expect(workshop.branchHead(repository, "topic", signal)).rejects.toMatchObject({ kind });
  });

  it.each([
    ["denied", "the branch is protected", () => project.protectedBranches.add("topic")],
    ["denied", "we may only read", () => useToken(gitlab.addToken(bot, "read_repository"))],
    ["refused", "a hook says no", () => Object.assign(gitlab.settings, { pushRefusal: "no such thing" })],
    ["refused", "only branches may be pushed", () => Object.assign(gitlab.settings, { acceptsCustomRefs: false })],
    ["unavailable", "GitLab is down", () => gitlab.faults.failNext({ method: "POST", status: 502, times: 9 })],
  ])("say %s when %s and we push", async (kind, _why, happens) => {
    const push = order("topic", await editedCommit("topic"));
    happens();
    await expect(workshop.push(repository, push, signal)).rejects.toMatchObject({ kind });
    expect(branchPushes()).toEqual([]);
  });

  it("say unavailable for a pack that was cut off, and bring the commit at the next try", async () => {
    gitlab.faults.cutReply({ path: "/git-upload-pack", afterBytes: 60 });
    const fetching = () => workshop.fetchCommit(repository, head("topic"), "refs/heads/topic", signal);

    await expect(fetching()).rejects.toMatchObject({ kind: "unavailable" });
    await fetching();
    await using tree = await workshop.checkout(repository, head("topic"), signal);
    expect(tree.sha).toBe(head("topic"));
  });
});

function head(branch: string): string {
  return project.branches.get(branch) ?? "";
}

function useToken(other: string): void {
  token = other;
}

function branchPushes() {
  const { pushes } = gitlab.whatHappened();
  return pushes.filter((push) => push.project === project.path && push.ref.startsWith("refs/heads/"));
}

/** A change to `a.txt`, on top of the branch. */
async function editedCommit(branch: string): Promise<string> {
  const parent = head(branch);
  await workshop.fetchCommit(repository, parent, `refs/heads/${branch}`, signal);
  await using tree = await workshop.checkout(repository, parent, signal);
  await writeFile(join(tree.directory, "a.txt"), "one\ntwo\nthree\n");
  const reading = await workshop.patchOf(tree, { maxBytes: 1_000_000, maxFiles: 10, protectedPaths: [] }, signal);
  if (reading.kind !== "patch") throw new Error(JSON.stringify(reading));
  const author = { name: "Bot", email: "bot@example.com" };
  const draft = { parent, patch: reading.patch, message: "Three\n", author, atSeconds: 1_700_000_000 };
  const outcome = await workshop.commit(repository, draft, signal);
  if (outcome.kind !== "committed") throw new Error(JSON.stringify(outcome));
  return outcome.sha;
}

function order(branch: string, commit: string, fence = 1n): PushOrder {
  const lease = { fence, holder: `holder-${fence}`, signal, assertHeld: () => {} };
  return { branch, expectedSha: head(branch), commit, lease };
}
