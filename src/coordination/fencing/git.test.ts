import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Git, systemGit } from "../../process/index.ts";
import { CoordinationError } from "../errors.ts";
import { type FencedPush, fencedPush, fenceRef } from "./git.ts";

let root: string;
let git: Git;
let template: World;
let world: World;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "interlock-fencing-"));
  const author = { GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@t", GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@t" };
  git = systemGit({ ...process.env, ...author, HOME: root, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" });
  await out(root, "--version").catch((cause) => {
    throw new Error("these tests need git 2.29 or later on the PATH", { cause });
  });
  template = await newTemplate();
});

beforeEach(async () => {
  world = await newWorld();
});

afterEach(() => rm(world.directory, { recursive: true, force: true }));

afterAll(() => rm(root, { recursive: true, force: true }));

describe("a fenced push", () => {
  it("moves the branch and leaves its fence on the remote", async () => {
    const outcome = await fencedPush(push({ fence: 7n }));

    expect(outcome).toEqual({ kind: "pushed" });
    expect(await head()).toBe(world.one);
    expect(await fenceOnRemote()).toContain("fence 7\n");
  });

  it("creates a branch that was not there", async () => {
    const outcome = await fencedPush(push({ branch: "fix/new", expectedSha: undefined }));

    expect(outcome).toEqual({ kind: "pushed" });
    expect(await head("fix/new")).toBe(world.one);
  });

  it("does not create a branch that is there already", async () => {
    const outcome = await fencedPush(push({ expectedSha: undefined }));

    expect(outcome).toEqual({ kind: "moved", sha: world.base });
    expect(await head()).toBe(world.base);
  });

  it("returns the branch's commit when it is not where it was read", async () => {
    await outsider(world.other);

    const outcome = await fencedPush(push({ fence: 7n }));

    expect(outcome).toEqual({ kind: "moved", sha: world.other });
    expect(await fenceOnRemote()).toBeUndefined();
  });

  it("returns moved when the branch was deleted", async () => {
    await out(world.remote, "update-ref", "-d", "refs/heads/main");

    expect(await fencedPush(push())).toEqual({ kind: "moved", sha: undefined });
  });

  it("may go back or sideways, as the branch is known to be where it was read", async () => {
    await fencedPush(push({ commit: world.one }));

    const outcome = await fencedPush(push({ expectedSha: world.one, commit: world.other }));

    expect(outcome).toEqual({ kind: "pushed" });
    expect(await head()).toBe(world.other);
  });

  it("reaches a remote by name as well as by path", async () => {
    expect(await fencedPush(push({ remote: "origin" }))).toEqual({ kind: "pushed" });
  });

  it("keeps a fence per branch", async () => {
    await fencedPush(push({ fence: 9n }));

    const outcome = await fencedPush(push({ branch: "other", expectedSha: undefined, fence: 3n }));

    expect(outcome).toEqual({ kind: "pushed" });
    expect(await fenceOnRemote("main")).toContain("fence 9\n");
    expect(await fenceOnRemote("other")).toContain("fence 3\n");
  });

  it("leaves a fence that survives pushes by others and clean-ups", async () => {
    await fencedPush(push({ fence: 9n }));
    await outsider(world.base);
    await out(world.remote, "gc", "--quiet", "--prune=now");

    expect(await fenceOnRemote()).toContain("fence 9\n");
    expect(await fencedPush(push({ workTree: world.theirs, fence: 8n, holder: "b" }))).toEqual({
      kind: "stale",
      fence: 9n,
    });
  });

  it("goes on under the fence of an earlier holder", async () => {
    await fencedPush(push({ fence: 7n }));

    const outcome = await fencedPush(successor({ fence: 8n, expectedSha: world.one }));

    expect(outcome).toEqual({ kind: "pushed" });
    expect(await fenceOnRemote()).toContain("fence 8\n");
  });

  it("compares fences as numbers", async () => {
    await fencedPush(push({ fence: 9n }));

    expect(await fencedPush(successor({ fence: 10n, expectedSha: world.one }))).toEqual({ kind: "pushed" });
  });

  it("of the same holder may follow another", async () => {
    await fencedPush(push({ fence: 7n }));

    const outcome = await fencedPush(push({ fence: 7n, expectedSha: world.one, commit: world.other }));

    expect(outcome).toEqual({ kind: "pushed" });
  });

  it.each([
    ["a smaller", 6n],
    ["an equal", 7n],
  ])(
    "is rejected where another holder left a fence and it has %s one, even if the branch is where it was read",
    async (_how, fence) => {
      await fencedPush(push({ fence: 7n, commit: world.base }));

      const outcome = await fencedPush(successor({ fence, expectedSha: world.base }));

      expect(outcome).toEqual({ kind: "stale", fence: 7n });
      expect(await head()).toBe(world.base);
    },
  );
});

describe("a fenced push whose reply was lost", () => {
  it("finds out that it happened", async () => {
    const outcome = await fencedPush(push({ git: losingReplies() }));

    expect(outcome).toEqual({ kind: "pushed" });
    expect(await head()).toBe(world.one);
  });

  it("can be repeated", async () => {
    await fencedPush(push({ fence: 7n }));
    const before = await fenceOnRemote();

    const again = await fencedPush(push({ fence: 7n }));

    expect(again).toEqual({ kind: "pushed" });
    expect(await fenceOnRemote()).toBe(before);
  });

  it("is not taken for done when a successor has pushed since", async () => {
    await fencedPush(push({ fence: 7n }));
    await fencedPush(successor({ fence: 8n, expectedSha: world.one }));

    expect(await fencedPush(push({ fence: 7n }))).toEqual({ kind: "stale", fence: 8n });
  });

  it("is not taken for done when others have moved the branch since", async () => {
    await fencedPush(push({ fence: 7n }));
    await outsider(world.other);

    expect(await fencedPush(push({ fence: 7n }))).toEqual({ kind: "moved", sha: world.other });
  });
});

describe("two holders", () => {
  it("that race cannot both push", async () => {
    for (let round = 1; round <= 5; round++) {
      const expectedSha = await head();
      await out(world.theirs, "fetch", "--quiet");
      await out(world.mine, "fetch", "--quiet");
      const a = await commitIn(world.mine, expectedSha, `a${round}`);
      const b = await commitIn(world.theirs, expectedSha, `b${round}`);

      const [first, second] = await Promise.all([
        fencedPush(push({ expectedSha, commit: a, fence: BigInt(10 * round) })),
        fencedPush(successor({ expectedSha, commit: b, fence: BigInt(10 * round + 1) })),
      ]);

      expect([first, second].filter(({ kind }) => kind === "pushed")).toHaveLength(1);
      expect(await head()).toBe(first.kind === "pushed" ? a : b);
    }
  });

  // The successor leaves the branch in place: only the fence distinguishes the late push from a timely one.
  it("cannot both push when the first is paused, wherever that happens, and the second leaves the branch in place", async () => {
    for (let pause = 0, paused = true; paused; pause++) {
      await rm(world.directory, { recursive: true });
      world = await newWorld();
      paused = false;
      const late = meddling(pause, async () => {
        paused = true;
        expect(await fencedPush(successor({ fence: 8n, commit: world.base }))).toEqual({ kind: "pushed" });
      });

      const outcome = await fencedPush(push({ git: late, fence: 7n }));

      expect(outcome).toEqual(paused ? { kind: "stale", fence: 8n } : { kind: "pushed" });
      expect(await head()).toBe(paused ? world.base : world.one);
      expect(pause).toBeLessThan(20);
    }
  });

  // Git has compared the remote's refs with what we expect when it calls this hook, and has sent nothing yet.
  it.each<[string, "base" | "one", "one" | "other", () => Promise<unknown>]>([
    ["its first push", "base", "one", async () => {}],
    ["a further push under the same lease", "one", "other", () => fencedPush(push())],
    ["repeating what others undid", "base", "one", () => fencedPush(push()).then(() => outsider(world.base))],
  ])("cannot both push when the first is paused in the middle of %s", async (_which, from, to, prepare) => {
    await prepare();
    const expectedSha = world[from];
    const hook = await pausingHook();

    const late = fencedPush(push({ fence: 7n, expectedSha, commit: world[to] }));
    await hook.reached();
    const timely = await fencedPush(successor({ fence: 8n, expectedSha, commit: expectedSha }));
    await hook.release();

    expect(timely).toEqual({ kind: "pushed" });
    expect(await late).toEqual({ kind: "stale", fence: 8n });
    expect(await head()).toBe(expectedSha);
  });
});

describe("a remote that takes branches alone", () => {
  const rejectOtherRefs = "while read -r old new ref; do case $ref in refs/heads/*) ;; *) exit 1 ;; esac; done";
  let fallbacks: number;
  const withoutFence = () => fallbacks++;

  beforeEach(async () => {
    fallbacks = 0;
    await installHook(world.remote, "pre-receive", rejectOtherRefs);
  });

  it("gets the branch without the fence from callers that allow it, and calls them back", async () => {
    expect(await fencedPush(push({ withoutFence }))).toEqual({ kind: "pushed" });
    expect(await head()).toBe(world.one);
    expect(fallbacks).toBe(1);
  });

  it("gets nothing from others", async () => {
    await expect(fencedPush(push())).rejects.toMatchObject({ code: "unavailable" });
    expect(await head()).toBe(world.base);
  });

  it("keeps its branch where another writer moved it after it was read", async () => {
    const late = meddling(5, () => outsider(world.other));

    expect(await fencedPush(push({ git: late, withoutFence }))).toEqual({ kind: "moved", sha: world.other });
    expect(fallbacks).toBe(0);
  });

  it("has the branch, though its reply was lost", async () => {
    let pushes = 0;
    const losing: Git = async (args, options) => {
      const isSecondPush = args[0] === "push" && ++pushes === 2;
      return isSecondPush ? losingReplies()(args, options) : git(args, options);
    };

    expect(await fencedPush(push({ git: losing, withoutFence }))).toEqual({ kind: "pushed" });
    expect(pushes).toBe(2);
    expect(fallbacks).toBe(1);
  });

  it("and had a larger fence before does not take the branch either", async () => {
    await rm(join(world.remote, "hooks"), { recursive: true });
    await fencedPush(successor({ fence: 8n }));
    await installHook(world.remote, "pre-receive", rejectOtherRefs);

    expect(await fencedPush(push({ withoutFence }))).toEqual({ kind: "stale", fence: 8n });
  });

  it("and not this one has the last word", async () => {
    await rm(join(world.remote, "hooks"), { recursive: true });
    await installHook(world.remote, "pre-receive", "echo branch is protected >&2\nexit 1");

    await expect(fencedPush(push({ withoutFence }))).rejects.toMatchObject({ message: /branch is protected/ });
    expect(fallbacks).toBe(0);
  });

  it("because it hides refs is one, too", async () => {
    await rm(join(world.remote, "hooks"), { recursive: true });
    await out(world.remote, "config", "receive.hideRefs", "refs/interlock");

    expect(await fencedPush(push({ withoutFence }))).toEqual({ kind: "pushed" });
    expect(fallbacks).toBe(1);
  });
});

describe("a fenced push that cannot be made", () => {
  it("pushes nothing once the lease is lost", async () => {
    const lease = {
      ...leaseOf(7n, "a"),
      assertHeld: () => {
        throw new CoordinationError("lost", "the lease ended");
      },
    };

    await expect(fencedPush({ ...push(), lease })).rejects.toMatchObject({ code: "lost" });
    expect(await head()).toBe(world.base);
  });

  it.each(["lease", "caller"] as const)("stops when the signal of its %s aborts", async (whose) => {
    const stop = new AbortController();
    const reason = new CoordinationError("lost", "the lease ended");
    const stopping = meddling(3, async () => stop.abort(reason));
    const base = push({ git: stopping });
    const stoppable =
      whose === "lease" ? { ...base, lease: { ...base.lease, signal: stop.signal } } : { ...base, signal: stop.signal };

    await expect(fencedPush(stoppable)).rejects.toBe(reason);
    expect(await head()).toBe(world.base);
  });

  it("is an outage when the remote is not there", async () => {
    const outcome = fencedPush(push({ remote: join(world.directory, "nowhere.git") }));

    await expect(outcome).rejects.toMatchObject({ name: "CoordinationError", code: "unavailable" });
  });

  it("is an outage when the remote rejects for other reasons, with its message", async () => {
    await installHook(world.remote, "pre-receive", "echo branch is protected >&2\nexit 1");

    await expect(fencedPush(push())).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("branch is protected"),
    });
  });

  it("never shows credentials that a configured remote has in its URL", async () => {
    await out(world.mine, "remote", "set-url", "origin", "http://user:secret@127.0.0.1:1/repo.git");

    const error = await fencedPush(push({ remote: "origin" })).catch((reason: unknown) => reason);

    expect(error).toMatchObject({ code: "unavailable" });
    expect(`${error} ${JSON.stringify(error)}`).not.toMatch(/secret|user/);
  });

  it("does not take something else under the fence's name for no fence", async () => {
    const made = await git(["hash-object", "-w", "--stdin"], { cwd: world.remote, input: "hello" });
    const blob = made.stdout.toString().trim();
    await out(world.remote, "update-ref", fenceRef("main"), blob);

    await expect(fencedPush(push())).rejects.toMatchObject({ code: "collision" });
  });

  it.each(["", "-f", "--mirror", "a..b", "a b", "a:b", "main.lock", "refs^", "a\nb", "@{-1}"])(
    "does not take %j for a branch name",
    async (branch) => {
      const refs = await out(world.remote, "for-each-ref");

      await expect(fencedPush(push({ branch }))).rejects.toThrow(TypeError);
      expect(await out(world.remote, "for-each-ref")).toBe(refs);
    },
  );

  it.each(["HEAD", "main", "--delete", "abc123", ""])("does not take %j for a sha", async (commit) => {
    await expect(fencedPush(push({ commit }))).rejects.toThrow(TypeError);
  });

  it.each(["https://user:secret@host/repo.git", "https://secret@host/repo.git", "--upload-pack=secret"])(
    "does not take %j for a remote, and does not repeat it",
    async (remote) => {
      const error = await fencedPush(push({ remote })).catch((reason: unknown) => reason);

      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).not.toContain("secret");
    },
  );
});

interface World {
  readonly directory: string;
  readonly remote: string;
  /** Two clones of it. */
  readonly mine: string;
  readonly theirs: string;
  /** Where main is; a child of it; and another child of it. Both clones have all three. */
  readonly base: string;
  readonly one: string;
  readonly other: string;
}

/** A copy of the template: its parts refer to one another by relative paths. */
async function newWorld(): Promise<World> {
  const directory = await mkdtemp(join(root, "world-"));
  await cp(template.directory, directory, { recursive: true });
  return { ...template, ...placesIn(directory) };
}

async function newTemplate(): Promise<World> {
  const places = placesIn(await mkdtemp(join(root, "template-")));
  const { directory, remote, mine, theirs } = places;
  await out(directory, "init", "--quiet", "--bare", "--template=", "--initial-branch=main", remote);
  await out(directory, "clone", "--quiet", "--template=", remote, mine);
  await out(mine, "remote", "set-url", "origin", "../remote.git");
  const base = await commitIn(mine, undefined, "base");
  const one = await commitIn(mine, base, "one");
  const other = await commitIn(mine, base, "other");
  await out(mine, "push", "--quiet", "origin", `${base}:refs/heads/main`);
  await cp(mine, theirs, { recursive: true });
  return { ...places, base, one, other };
}

function placesIn(directory: string) {
  return {
    directory,
    remote: join(directory, "remote.git"),
    mine: join(directory, "mine"),
    theirs: join(directory, "theirs"),
  };
}

interface PushOptions extends Partial<FencedPush> {
  readonly fence?: bigint;
  readonly holder?: string;
}

/** A push of `one` over `base`, by holder a in its own clone. */
function push({ fence = 7n, holder = "a", ...options }: PushOptions = {}): FencedPush {
  return {
    git,
    workTree: world.mine,
    remote: world.remote,
    branch: "main",
    expectedSha: world.base,
    commit: world.one,
    lease: leaseOf(fence, holder),
    ...options,
  };
}

/** A push of `other` by holder b, who has another clone. */
function successor(options: PushOptions): FencedPush {
  return push({ workTree: world.theirs, holder: "b", commit: world.other, ...options });
}

function leaseOf(fence: bigint, holder: string): FencedPush["lease"] {
  return { fence, holder, signal: new AbortController().signal, assertHeld: () => {} };
}

/** Git, but `meddle` happens before its command number `at`. */
function meddling(at: number, meddle: () => Promise<unknown>): Git {
  let commands = 0;
  return async (args, options) => {
    if (commands++ === at) await meddle();
    return git(args, options);
  };
}

/** Git on a line that breaks after every push. */
function losingReplies(): Git {
  return async (args, options) => {
    const result = await git(args, options);
    return args[0] === "push" ? { ...result, code: 128, stderr: "fatal: the remote end hung up" } : result;
  };
}

/** Stops a push out of `mine` between reading the remote's refs and sending anything, until released. */
async function pausingHook() {
  const [reached, released] = ["reached", "released"].map((name) => join(world.directory, name)) as [string, string];
  await promisify(execFile)("mkfifo", [reached, released]);
  await installHook(join(world.mine, ".git"), "pre-push", `echo > '${reached}'\ncat '${released}' > /dev/null`);
  return { reached: () => readFile(reached), release: () => writeFile(released, "") };
}

async function installHook(gitDirectory: string, name: string, script: string) {
  await mkdir(join(gitDirectory, "hooks"));
  await writeFile(join(gitDirectory, "hooks", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** Moves main without a fence, like a user who does not take part in the lock. */
async function outsider(sha: string) {
  await out(world.mine, "push", "--quiet", "--force", "origin", `${sha}:refs/heads/main`);
}

async function commitIn(workTree: string, parent: string | undefined, message: string): Promise<string> {
  const tree = await out(workTree, "mktree");
  return out(workTree, "commit-tree", tree, "-m", message, ...(parent ? ["-p", parent] : []));
}

function head(branch = "main"): Promise<string> {
  return out(world.remote, "rev-parse", `refs/heads/${branch}`);
}

async function fenceOnRemote(branch = "main"): Promise<string | undefined> {
  const { code, stdout } = await git(["cat-file", "blob", fenceRef(branch)], { cwd: world.remote });
  return code === 0 ? stdout.toString() : undefined;
}

async function out(cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await git(args, { cwd });
  if (code !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.toString().trim();
}
