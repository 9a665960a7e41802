import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AccessToken, gitWorkshop, type Repository, type Workshop } from "../../src/agent/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import type { Project, User } from "../doubles/gitlab/model.ts";
import { type GitLabDouble, startGitLab } from "../doubles/gitlab/start-gitlab.ts";
import { recordingLogger } from "../doubles/recording-logger.ts";

const { signal } = new AbortController();
const limits = { maxBytes: 100_000, maxFiles: 10, protectedPaths: [] };

let root: string;
let server: GitLabDouble;
let bot: User;
let ann: User;
let token: string;
let project: Project;
let repository: Repository;
let workshop: Workshop & AsyncDisposable;
let projects = 0;
const log = recordingLogger();

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "interlock-workshop-http-"));
  server = await startGitLab();
  [bot, ann] = [server.addUser("bot"), server.addUser("ann")];
});

afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true, force: true });
});

beforeEach(async () => {
  token = bot.token;
  log.forget();
  project = await server.addProject({ path: `group/project-${++projects}`, files: { "a.txt": "a\n" } });
  repository = { projectId: project.id, cloneUrl: project.cloneUrl };
  workshop = await openWorkshop();
});

afterEach(async () => {
  server.faults.clear();
  Object.assign(server.settings, { pushRefusal: "", acceptsCustomRefs: true });
  await workshop[Symbol.asyncDispose]();
});

describe("a workshop at GitLab", () => {
  it("works on the head of a merge request, also from a fork, and pushes the result", async () => {
    const fork = await server.addProject({ path: `ann/fork-${projects}`, forkOf: project });
    const sha = await server.pushAs(ann, fork, "topic", { "a.txt": "fork\n" }, { from: "main" });
    const mr = await server.openMergeRequest(project, {
      sourceBranch: "topic",
      title: "t",
      sourceProject: fork,
      author: ann,
    });

    await workshop.fetchCommit(repository, sha, `refs/merge-requests/${mr.iid}/head`, signal);
    await using tree = await workshop.checkout(repository, sha, signal);
    expect(await readFile(join(tree.directory, "a.txt"), "utf8")).toBe("fork\n");
    await writeFile(join(tree.directory, "a.txt"), "better\n");
    const commit = await committed(await workshop.createPatch(tree, limits, signal), sha);

    expect(await push(commit, "agent/topic")).toEqual({ kind: "pushed" });
    expect(await workshop.branchHead(repository, "agent/topic", signal)).toBe(commit);
    expect(server.whatHappened().pushes.at(-1)).toMatchObject({ user: "bot" });
  });

  it("fetches commits that were rewritten since", async () => {
    const before = await server.pushAs(ann, project, "topic", { "a.txt": "1\n" });
    await server.pushAs(ann, project, "topic", { "a.txt": "2\n" }, { from: "main" });

    await workshop.fetchCommit(repository, before, "refs/heads/topic", signal);
    await using tree = await workshop.checkout(repository, before, signal);
    expect(await readFile(join(tree.directory, "a.txt"), "utf8")).toBe("1\n");
  });

  it("does not move a branch that a person moved right before the push", async () => {
    const before = await server.pushAs(ann, project, "topic", { "b.txt": "b\n" });
    const commit = await edited();
    let hers = "";
    server.faults.before({ method: "POST", path: "/git-receive-pack" }, async () => {
      hers = await server.pushAs(ann, project, "topic", { "hers.txt": "hers\n" });
    });

    expect(await push(commit, "topic", before)).toEqual({ kind: "moved", sha: hers });
    expect(branchPushes().map(({ user }) => user)).toEqual(["ann", "ann"]);
  });

  it("finds its own push by the task, deep in the history", async () => {
    const head = await headOfMain();
    await workshop.fetchCommit(repository, head, "refs/heads/main", signal);
    await using tree = await workshop.checkout(repository, head, signal);
    await writeFile(join(tree.directory, "a.txt"), "better\n");
    const commit = await committed(await workshop.createPatch(tree, limits, signal), head);
    await push(commit, "agent/x");
    await server.pushAs(ann, project, "agent/x", { "b.txt": "b\n" });
    const newer = await server.pushAs(ann, project, "agent/x", { "c.txt": "c\n" });

    await workshop.fetchCommit(repository, newer, "refs/heads/agent/x", signal);

    expect(await workshop.findTask(repository, newer, "task-1", signal)).toBe(commit);
  });

  it("adopts a push whose response was lost", async () => {
    const commit = await edited();
    server.faults.loseReply({ method: "POST", path: "/git-receive-pack" });

    expect(await push(commit, "agent/lost")).toEqual({ kind: "pushed" });
    expect(branchPushes()).toMatchObject([{ user: "bot", new: commit }]);
  });

  it("is denied with a bad token, and the token is in no message", async () => {
    token = "glpat-revoked-or-wrong";

    const error = await workshop.branchHead(repository, "main", signal).catch((caught) => caught);

    expect(error).toMatchObject({ name: "RemoteError", kind: "denied" });
    expect(error.message).not.toContain(token);
  });

  it("uses a new token at once", async () => {
    token = "glpat-old";
    await expect(workshop.branchHead(repository, "main", signal)).rejects.toMatchObject({ kind: "denied" });

    token = bot.token;

    expect(await workshop.branchHead(repository, "main", signal)).toBe(await headOfMain());
  });

  it("reads the token again when it is rejected, also during its work", async () => {
    const [old, newer] = [server.addToken(bot, "api"), server.addToken(bot, "api")];
    const asked: boolean[] = [];
    await using rotating = await openWorkshop(async ({ refused }) => {
      asked.push(refused);
      return refused ? newer : old;
    });
    const commit = await edited("n\n", rotating);
    server.revokeToken(old);

    expect(await push(commit, "agent/x", undefined, { at: rotating })).toEqual({ kind: "pushed" });
    expect(asked).toContain(true);
    expect(branchPushes()).toHaveLength(1);
  });

  it("reports a missing repository", async () => {
    const nowhere = { projectId: 1, cloneUrl: `${server.url}/no/such.git` };

    await expect(workshop.branchHead(nowhere, "main", signal)).rejects.toMatchObject({ kind: "missing" });
  });

  it("reports a branch that is deleted before the fetch", async () => {
    const sha = "1".repeat(40);

    await expect(workshop.fetchCommit(repository, sha, "refs/heads/gone", signal)).rejects.toMatchObject({
      kind: "missing",
    });
  });

  it("is unavailable while GitLab is", async () => {
    server.faults.failNext({ status: 502, path: /info\/refs/, times: 5 });

    await expect(workshop.branchHead(repository, "main", signal)).rejects.toMatchObject({ kind: "unavailable" });
  });

  it.each([
    ["denied", "may only read", () => useToken(server.addToken(bot, "read_repository"))],
    ["refused", "is rejected by a hook", () => Object.assign(server.settings, { pushRefusal: "no such thing" })],
    ["unavailable", "meets no server", () => server.faults.failNext({ method: "POST", status: 502, times: 9 })],
  ])("reports %s if it %s during a push", async (kind, _why, happens) => {
    const commit = await edited();
    happens();

    await expect(push(commit, "agent/x")).rejects.toMatchObject({ kind });
    expect(branchPushes()).toEqual([]);
  });

  describe.each([true, false])("with fence refs accepted: %s", (acceptsCustomRefs) => {
    const late = acceptsCustomRefs ? { kind: "stale" } : { kind: "moved" };

    beforeEach(() => {
      Object.assign(server.settings, { acceptsCustomRefs });
    });

    it("pushes, and logs once if fence refs are refused", async () => {
      const first = await edited("1\n");
      expect(await push(first, "agent/x")).toEqual({ kind: "pushed" });
      expect(await push(await edited("2\n"), "agent/x", first)).toEqual({ kind: "pushed" });

      const warnings = log.events.filter(({ event }) => event === "fence ref refused");
      expect(warnings.map(({ fields }) => fields["projectId"])).toEqual(acceptsCustomRefs ? [] : [project.id]);
      expect(branchPushes()).toHaveLength(2);
    });

    it("refuses the late push of a paused holder after another has pushed", async () => {
      await using other = await openWorkshop();
      const [mine, theirs] = [await edited("mine\n"), await edited("theirs\n", other)];
      // Right before ours reaches the server.
      server.faults.before({ method: "POST", path: "/git-receive-pack" }, async () => {
        await push(theirs, "agent/x", undefined, { fence: 2n, at: other });
      });

      expect(await push(mine, "agent/x")).toMatchObject(late);
      expect(await workshop.branchHead(repository, "agent/x", signal)).toBe(theirs);
    });

    it("has the commit of a late push before the next holder pushes, which finds it by its task", async () => {
      await using other = await openWorkshop();
      const [mine, theirs] = [await edited("mine\n"), await edited("theirs\n", other)];
      server.faults.before({ method: "POST", path: "/git-receive-pack" }, async () => {
        await push(mine, "agent/x");
      });

      const outcome = await push(theirs, "agent/x", undefined, { fence: 2n, at: other });

      expect(outcome).toEqual({ kind: "moved", sha: mine });
      expect(await other.findTask(repository, mine, "task-1", signal)).toBe(mine);
    });
  });

  it("fetches the commit in the next attempt after a pack was cut off", async () => {
    const head = await headOfMain();
    const fetching = () => workshop.fetchCommit(repository, head, "refs/heads/main", signal);
    server.faults.cutReply({ path: "/git-upload-pack", afterBytes: 60 });

    await expect(fetching()).rejects.toMatchObject({ kind: "unavailable" });
    await fetching();
    await using tree = await workshop.checkout(repository, head, signal);
    expect(tree.sha).toBe(head);
  });

  it("follows no redirect", async () => {
    server.faults.failNext({ status: 302, path: /info\/refs/, times: 5 });

    await expect(workshop.branchHead(repository, "main", signal)).rejects.toMatchObject({ name: "RemoteError" });
    expect(server.requests.latest.at(-1)).toMatchObject({ status: 302 });
  });

  it("may not push to a protected branch, and reports GitLab's message", async () => {
    const commit = await edited();

    await expect(push(commit, "main", await headOfMain())).rejects.toMatchObject({
      kind: "denied",
      message: /protected/,
    });
  });
});

function openWorkshop(current: AccessToken = async () => token) {
  return gitWorkshop({
    ...{ directory: root, timeLimitMs: 60_000, env: process.env, clock: systemClock(), random: systemRandom() },
    log,
    server: { origin: new URL(server.url).origin, token: current },
  });
}

async function headOfMain(): Promise<string> {
  const head = project.branches.get("main");
  if (!head) throw new Error("no main");
  return head;
}

function useToken(other: string): void {
  token = other;
}

function branchPushes() {
  const { pushes } = server.whatHappened();
  return pushes.filter((push) => push.project === project.path && push.ref.startsWith("refs/heads/"));
}

/** A commit with one more file, on top of main. */
async function edited(text = "n\n", at: Workshop = workshop): Promise<string> {
  const head = await headOfMain();
  await at.fetchCommit(repository, head, "refs/heads/main", signal);
  await using tree = await at.checkout(repository, head, signal);
  await writeFile(join(tree.directory, "n.txt"), text);
  return await committed(await at.createPatch(tree, limits, signal), head, at);
}

async function committed(reading: PatchReading, parent: string, at: Workshop = workshop): Promise<string> {
  if (reading.kind !== "patch") throw new Error(`no patch: ${JSON.stringify(reading)}`);
  const draft = {
    ...{ parent, patch: reading.patch, message: "do it\n\nInterlock-Task: task-1\n" },
    ...{ author: { name: "Bot", email: "bot@example.com" }, atSeconds: 1_800_000_000 },
  };
  const outcome = await at.commit(repository, draft, signal);
  if (outcome.kind !== "committed") throw new Error("a conflict");
  return outcome.sha;
}

type PatchReading = Awaited<ReturnType<Workshop["createPatch"]>>;

function push(commit: string, branch: string, expectedSha?: string, { fence = 1n, at = workshop as Workshop } = {}) {
  const lease = { fence, holder: `holder of ${fence}`, signal, assertHeld: () => {} };
  return at.push(repository, { branch, expectedSha, commit, lease }, signal);
}
