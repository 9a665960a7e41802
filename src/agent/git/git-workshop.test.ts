import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { silentLogger } from "../../telemetry/index.ts";
import { systemClock, systemRandom } from "../../time/index.ts";
import { diskUse } from "../coder/disk-use.ts";
import { type GitWorkshopOptions, gitWorkshop } from "./git-workshop.ts";
import { checkPatch } from "./parse-patch.ts";
import type { CommitDraft, Patch, PatchLimits, PatchReading, Repository, Workshop, WorkTree } from "./workshop.ts";

const run = promisify(execFile);
const { signal } = new AbortController();

let root: string;
let remote: string;
let repository: Repository;
let workshop: Workshop & AsyncDisposable;
let base: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "interlock-workshop-"));
});

afterAll(() => rm(root, { recursive: true, force: true }));

beforeEach(async () => {
  remote = await mkdtemp(join(root, "remote-"));
  repository = { projectId: 7, cloneUrl: `file://${remote}` };
  await git("init", "--quiet", "--initial-branch=main");
  await git("config", "uploadpack.allowAnySHA1InWant", "true");
  base = await commitFiles({ "a.txt": "one\ntwo\nthree\n", "dir/b.txt": "b\n", "run.sh": "#!/bin/sh\n" });
  workshop = await open();
});

afterEach(async () => {
  await workshop[Symbol.asyncDispose]();
  await rm(remote, { recursive: true, force: true });
});

describe("a branch", () => {
  it("has the head of the server", async () => {
    expect(await workshop.branchHead(repository, "main", signal)).toBe(base);
  });

  it("is undefined if there is none, also if the name of another ends the same", async () => {
    await git("update-ref", "refs/heads/x/refs/heads/topic", base);

    expect(await workshop.branchHead(repository, "topic", signal)).toBeUndefined();
  });

  it("of a missing repository is an error `missing`", async () => {
    const nowhere = { projectId: 8, cloneUrl: `file://${root}/nowhere` };

    await expect(workshop.branchHead(nowhere, "main", signal)).rejects.toMatchObject({ kind: "missing" });
  });

  it("is not read from another server, or with other credentials", async () => {
    await using other = await open({
      server: { origin: "https://gitlab.example.com", token: async () => "glpat-secret" },
    });

    for (const cloneUrl of [
      "https://evil.example.com/a.git",
      "http://gitlab.example.com/a.git",
      "https://gitlab.example.com:8443/a.git",
      "https://x:y@gitlab.example.com/a.git",
      repository.cloneUrl,
      "--upload-pack=touch /tmp/x",
    ]) {
      await expect(other.branchHead({ projectId: 7, cloneUrl }, "main", signal)).rejects.toMatchObject({
        kind: "refused",
      });
    }
  });
});

describe("a commit on the server", () => {
  it("is fetched by its hash, without its history", async () => {
    await commitFiles({ "a.txt": "newer\n" });
    const head = await commitFiles({ "a.txt": "newest\n" });

    await workshop.fetchCommit(repository, head, "refs/heads/main", signal);

    await using tree = await workshop.checkout(repository, head, signal);
    expect(await contentOf(tree, "a.txt")).toBe("newest\n");
    expect((await run("git", ["rev-list", "--count", "HEAD"], { cwd: tree.directory })).stdout).toBe("1\n");
  });

  it("is fetched without the files that it has in common with the last one", async () => {
    const first = await commitFiles({ "large.txt": randomBytes(500_000).toString("hex") });
    await workshop.fetchCommit(repository, first, "refs/heads/main", signal);
    const { bytes } = await diskUse([join(root, "work")]);

    const second = await commitFiles({ "a.txt": "newer\n" });
    await workshop.fetchCommit(repository, second, "refs/heads/main", signal);

    expect((await diskUse([join(root, "work")])).bytes - bytes).toBeLessThan(100_000);
    await using tree = await workshop.checkout(repository, second, signal);
    expect(await contentOf(tree, "large.txt")).toHaveLength(1_000_000);
    expect(await contentOf(tree, "a.txt")).toBe("newer\n");
  });

  it("is missing if the named ref does not contain it", async () => {
    const fetching = workshop.fetchCommit(repository, "1".repeat(40), "refs/heads/main", signal);

    await expect(fetching).rejects.toMatchObject({ kind: "missing" });
  });

  it("is missing if neither it nor the ref exists", async () => {
    const fetching = workshop.fetchCommit(repository, "1".repeat(40), "refs/merge-requests/9/head", signal);

    await expect(fetching).rejects.toMatchObject({ kind: "missing" });
  });

  it("is fetched by its ref if the server allows no fetch by hash, at any depth", async () => {
    const shim = `#!/bin/sh
for last; do :; done
case "$1 $last" in "fetch +${base}:"*) echo "fatal: remote error: upload-pack: not our ref ${base}" >&2; exit 128;; esac
exec ${(await run("which", ["git"])).stdout.trim()} "$@"
`;
    const bin = await mkdtemp(join(root, "bin-"));
    await writeFile(join(bin, "git"), shim, { mode: 0o755 });
    await commitFiles({ "a.txt": "newer\n" });
    await using other = await open({ env: { PATH: `${bin}:${process.env["PATH"]}` } });

    await other.fetchCommit(repository, base, "refs/heads/main", signal);

    await using tree = await other.checkout(repository, base, signal);
    expect(await contentOf(tree, "a.txt")).toBe("one\ntwo\nthree\n");
  });

  it("is fetched after an earlier fetch was killed, and the remains of that one are removed", async () => {
    // git creates these files before the first byte of a pack arrives, and cannot remove them when it is killed.
    const shim = `#!/bin/sh
case "$1" in fetch) [ -e ${root}/killed ] || { mkdir -p refs/interlock; touch shallow.lock refs/interlock/last-fetched.lock objects/pack/tmp_pack_1 ${root}/killed; exec sleep 600; };; esac
exec ${(await run("which", ["git"])).stdout.trim()} "$@"
`;
    const bin = await mkdtemp(join(root, "bin-"));
    await writeFile(join(bin, "git"), shim, { mode: 0o755 });
    await using other = await open({ env: { PATH: `${bin}:${process.env["PATH"]}` } });
    const cancelled = new AbortController();
    const first = other.fetchCommit(repository, base, "refs/heads/main", cancelled.signal);
    const rejected = expect(first).rejects.toThrow("cancelled");
    await expect.poll(() => readdir(root)).toContain("killed");
    cancelled.abort(new Error("cancelled"));
    await rejected;

    await other.fetchCommit(repository, base, "refs/heads/main", signal);

    await using tree = await other.checkout(repository, base, signal);
    expect(await contentOf(tree, "a.txt")).toBe("one\ntwo\nthree\n");
    const left = await run("find", [join(root, "work"), "-name", "tmp_pack_*"]);
    expect(left.stdout).toBe("");
  });

  it("can be fetched concurrently", async () => {
    const heads = [base, await commitFiles({ "a.txt": "2\n" }), await commitFiles({ "a.txt": "3\n" })];

    await Promise.all(heads.map((sha) => workshop.fetchCommit(repository, sha, "refs/heads/main", signal)));

    for (const sha of heads) {
      await using tree = await workshop.checkout(repository, sha, signal);
      expect(tree.sha).toBe(sha);
    }
  });

  it.each(["--all", "main", "1234", `${"1".repeat(40)}\n`])("is refused as %j", async (sha) => {
    await expect(workshop.fetchCommit(repository, sha, "refs/heads/main", signal)).rejects.toThrow(TypeError);
  });

  it.each(["main", "+refs/heads/a:refs/heads/b", "refs/heads/*"])("is refused on %j", async (ref) => {
    await expect(workshop.fetchCommit(repository, base, ref, signal)).rejects.toThrow(TypeError);
  });
});

describe("a run of git", () => {
  it("that waits for another ends with its signal, and the next one runs", async () => {
    const fetch = (by: AbortSignal) => workshop.fetchCommit(repository, base, "refs/heads/main", by);
    const stop = new AbortController();

    const all = [fetch(signal), fetch(stop.signal), fetch(signal)];
    stop.abort(new Error("stop"));
    const outcomes = await Promise.allSettled(all);

    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("ends with its signal", async () => {
    const reason = new Error("stop");

    await expect(workshop.branchHead(repository, "main", AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it("is killed at its time limit, and counts as an outage", async () => {
    const clock = new ManualClock();
    await writeFile(join(root, "git"), "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
    const env = { PATH: `${root}:${process.env["PATH"]}` };
    await using slow = await open({ clock, env });

    const asking = slow.branchHead(repository, "main", signal);
    const refusal = expect(asking).rejects.toMatchObject({ kind: "unavailable", message: /within 60 s/ });
    await clock.advance(60_000);

    await refusal;
  });

  it("has its token in no process list, file or message", async () => {
    const script = `#!/bin/sh\n(echo "$@"; cat /proc/$$/cmdline) >>${root}/seen\nprintenv | grep GIT_CONFIG_VALUE >&2\nexit 128\n`;
    await mkdir(join(root, "bin"));
    await writeFile(join(root, "bin", "git"), script, { mode: 0o755 });
    const server = { origin: "https://gitlab.example.com", token: async () => "glpat-secret" };
    await using spied = await open({ server, env: { PATH: `${join(root, "bin")}:${process.env["PATH"]}` } });

    const asking = spied.branchHead({ projectId: 7, cloneUrl: `${server.origin}/a.git` }, "main", signal);
    const error = await asking.catch((caught: Error) => caught.message);

    const basic = Buffer.from("oauth2:glpat-secret").toString("base64");
    for (const text of [error, await readFile(join(root, "seen"), "utf8")]) {
      expect(text).not.toContain("glpat-secret");
      expect(text).not.toContain(basic);
    }
    expect(error).toContain("Authorization: Basic [redacted]");
  });

  it("ignores the settings of the user", async () => {
    const home = await mkdtemp(join(root, "home-"));
    await writeFile(join(home, ".gitconfig"), `[url "file:///nowhere"]\n\tinsteadOf = file://${remote}\n`);
    await using other = await open({
      env: { ...process.env, HOME: home, GIT_CONFIG_GLOBAL: join(home, ".gitconfig") },
    });

    expect(await other.branchHead(repository, "main", signal)).toBe(base);
  });
});

describe("the folder of a workshop", () => {
  it("is removed on disposal", async () => {
    const directory = await mkdtemp(join(root, "shared-"));
    const one = await open({ directory });
    expect(await readdir(directory)).toHaveLength(1);

    await one[Symbol.asyncDispose]();

    expect(await readdir(directory)).toEqual([]);
  });

  it("is removed by the next process after its own has died, and kept while it lives", async () => {
    const directory = await mkdtemp(join(root, "shared-"));
    await mkdir(join(directory, "workshop-dead", "trees"), { recursive: true });
    await mkdir(join(directory, "something-else"));
    await using _one = await open({ directory });

    await using _two = await open({ directory });

    const names = await readdir(directory);
    expect(names).toHaveLength(3);
    expect(names).toContain("something-else");
    expect(names).not.toContain("workshop-dead");
  });
});

describe("a checkout", () => {
  it("has the files of the commit, and a .git without remotes or tokens", async () => {
    await using tree = await checkout();

    expect(await contentOf(tree, "dir/b.txt")).toBe("b\n");
    expect((await run("git", ["status", "--porcelain"], { cwd: tree.directory })).stdout).toBe("");
    expect((await run("git", ["remote"], { cwd: tree.directory })).stdout).toBe("");
    expect((await run("git", ["rev-parse", "HEAD"], { cwd: tree.directory })).stdout.trim()).toBe(base);
    expect(await readFile(join(tree.directory, ".git", "config"), "utf8")).not.toContain(remote);
  });

  it("is removed on disposal", async () => {
    const tree = await checkout();

    await tree[Symbol.asyncDispose]();

    await expect(stat(tree.directory)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(workshop.createPatch(tree, limits(), signal)).rejects.toThrow(TypeError);
  });

  it("has every file as it was committed, whatever its attributes", async () => {
    await commitFiles({ "c.txt": "c\n", "d.id": "$Id$\n", "e.u": "e\n" });
    await writeFile(
      join(remote, ".gitattributes"),
      "*.txt text eol=crlf\n*.id ident\n*.u working-tree-encoding=UTF-16\n",
    );
    await git("add", ".gitattributes");
    base = await commitFiles({}, { stage: false });

    await using tree = await checkout();

    expect(await contentOf(tree, "c.txt")).toBe("c\n");
    expect(await contentOf(tree, "d.id")).toBe("$Id$\n");
    expect(await contentOf(tree, "e.u")).toBe("e\n");
    expect(await createPatch(tree)).toEqual({ kind: "nothing" });
  });

  it("has links within it, but none that lead out of it", async () => {
    await symlink("a.txt", join(remote, "inside"));
    await symlink("/etc/passwd", join(remote, "absolute"));
    await symlink("../../../etc/passwd", join(remote, "dir", "up"));
    await symlink(".", join(remote, "here"));
    await symlink("here/../../etc", join(remote, "through"));
    await symlink("/nowhere/at/all", join(remote, "dangling"));
    base = await commitFiles({});

    await using tree = await checkout();

    expect((await readdir(tree.directory)).toSorted()).toEqual([".git", "a.txt", "dir", "here", "inside", "run.sh"]);
    expect(await readdir(join(tree.directory, "dir"))).toEqual(["b.txt"]);
    expect(await createPatch(tree)).toEqual({ kind: "nothing" });
  });
});

describe("a patch", () => {
  it("is empty if nothing changed", async () => {
    await using tree = await checkout();

    await writeFile(join(tree.directory, "a.txt"), "one\ntwo\nthree\n");

    expect(await createPatch(tree)).toEqual({ kind: "nothing" });
  });

  it("has every change, whatever the coder did with the .git of the folder", async () => {
    await using tree = await checkout();
    await write(tree, {
      "a.txt": "one\n2\nthree\n",
      "new/file name.txt": "new\n",
      "bytes.bin": Buffer.from([0, 255, 10, 0]),
    });
    await chmod(join(tree.directory, "run.sh"), 0o755);
    await rm(join(tree.directory, "dir"), { recursive: true });
    await run("git", ["add", "--all"], { cwd: tree.directory });
    await run("git", ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "mine"], { cwd: tree.directory });

    const reading = await createPatch(tree);

    expect(filesOf(reading)).toEqual(["a.txt", "bytes.bin", "dir/b.txt", "new/file name.txt", "run.sh"]);
    expect(checkPatch(patchIn(reading), limits())).toEqual(reading);
  });

  it("is the same if it is read again, or without a .git in the folder", async () => {
    await using tree = await checkout();
    await write(tree, { "a.txt": "changed\n", "n.txt": "n\n" });
    const first = await createPatch(tree);
    await rm(join(tree.directory, ".git"), { recursive: true });

    expect(await createPatch(tree)).toEqual(first);
    await write(tree, { "a.txt": "one\ntwo\nthree\n" });
    expect(filesOf(await createPatch(tree))).toEqual(["n.txt"]);
  });

  it("omits ignored files", async () => {
    base = await commitFiles({ ".gitignore": "node_modules/\n" });
    await using tree = await checkout();
    await write(tree, {
      "node_modules/x/index.js": "x\n",
      "node_modules/x/.git/HEAD": "ref: refs/heads/x\n",
      "b.txt": "b\n",
    });

    expect(filesOf(await createPatch(tree))).toEqual(["b.txt"]);
  });

  it("may replace a file by a folder, and a folder by a file", async () => {
    await using tree = await checkout();
    await rm(join(tree.directory, "a.txt"));
    await rm(join(tree.directory, "dir"), { recursive: true });
    await write(tree, { "a.txt/inner": "x\n", dir: "file\n" });

    const reading = await createPatch(tree);

    expect(filesOf(reading)).toEqual(["a.txt", "a.txt/inner", "dir", "dir/b.txt"]);
    expect(await workshop.commit(repository, draft(patchIn(reading)), signal)).toMatchObject({ kind: "committed" });
  });

  it("accepts names that git would quote, and folders without permissions", async () => {
    await using tree = await checkout();
    await write(tree, { '"quoted"': "q\n", "-n": "n\n", "a b\u00e9 *?": "x\n", "closed/file": "c\n" });
    await chmod(join(tree.directory, "closed"), 0o500);

    const reading = await createPatch(tree);

    expect(filesOf(reading)).toEqual(['"quoted"', "-n", "a bé *?", "closed/file"]);
    expect(checkPatch(patchIn(reading), limits())).toEqual(reading);
    expect(await workshop.commit(repository, draft(patchIn(reading)), signal)).toMatchObject({ kind: "committed" });
  });

  it("may only remove a link", async () => {
    await symlink("a.txt", join(remote, "link"));
    base = await commitFiles({});
    await using tree = await checkout();
    await rm(join(tree.directory, "link"));

    expect(filesOf(await createPatch(tree))).toEqual(["link"]);

    await writeFile(join(tree.directory, "link"), "a file now\n");
    expect(await createPatch(tree)).toMatchObject({ kind: "refused", reason: "Symlink" });
  });

  it("runs no command that the folder configures", async () => {
    await using tree = await checkout();
    const trap = join(root, "trap");
    const command = `touch ${trap}; cat`;
    for (const [key, value] of [
      ["filter.x.clean", command],
      ["diff.x.textconv", command],
      ["diff.external", command],
      ["core.fsmonitor", command],
      ["core.hooksPath", "hooks"],
    ] as const) {
      await run("git", ["config", key, value], { cwd: tree.directory });
    }
    const hook = { mode: 0o755 };
    await mkdir(join(tree.directory, "hooks"));
    for (const name of ["pre-commit", "post-index-change", "pre-push", "post-checkout"]) {
      await writeFile(join(tree.directory, "hooks", name), `#!/bin/sh\ntouch ${trap}\n`, hook);
    }
    await write(tree, { ".gitattributes": "* filter=x diff=x merge=x\n", "a.txt": "changed\n" });

    const reading = await createPatch(tree);
    await workshop.commit(repository, draft(patchIn(reading)), signal);

    await expect(stat(trap)).rejects.toMatchObject({ code: "ENOENT" });
    expect(filesOf(reading)).toContain("a.txt");
  });

  it("runs nothing in a submodule that the coder turned into a repository", async () => {
    await git("update-index", "--add", "--cacheinfo", `160000,${base},sub`);
    base = await commitFiles({}, { stage: false });
    await using tree = await checkout();
    expect(await createPatch(tree)).toEqual({ kind: "nothing" });
    const sub = join(tree.directory, "sub");
    await run("git", ["init", "-q", sub]);
    await run("git", ["config", "core.fsmonitor", `touch ${root}/trap-sub`], { cwd: sub });

    expect(await createPatch(tree)).toMatchObject({ kind: "refused", reason: "Submodule" });
    await expect(stat(join(root, "trap-sub"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("a change is refused", () => {
  it.each<[string, string, (tree: WorkTree) => Promise<unknown>]>([
    ["Symlink", "for a new link", (tree) => symlink("/etc/passwd", join(tree.directory, "link"))],
    ["Symlink", "for a link in place of a file", (tree) => replaceByLink(tree, "a.txt", "/etc/passwd")],
    ["Symlink", "for a link in place of a folder", (tree) => replaceByLink(tree, "dir", "/etc")],
    [
      "Symlink",
      "for a link in place of .gitignore",
      (tree) => symlink("/etc/passwd", join(tree.directory, ".gitignore")),
    ],
    ["Submodule", "for a repository in it", (tree) => nestedRepository(tree, "nested")],
    ["BadMode", "for a pipe in place of a file", (tree) => pipe(tree, "a.txt")],
    ["BadMode", "for a pipe that git would wait for", (tree) => pipe(tree, "dir/.gitignore")],
    ["BadMode", "for a pipe in place of attributes", (tree) => pipe(tree, ".gitattributes")],
    ["BadPath", "for a control character in a name", (tree) => write(tree, { "a\nb": "x" })],
    ["BadPath", "for .GIT", (tree) => write(tree, { ".GIT/config": "x" })],
    ["BadPath", "for git~1", (tree) => write(tree, { "sub/git~1": "x" })],
    ["BadPath", "for .git with an invisible character", (tree) => write(tree, { "d/.g\u200cit/config": "x" })],
    ["BadPath", "for a backslash", (tree) => write(tree, { "..\\..\\x": "x" })],
    ["ProtectedPath", "for a protected file", (tree) => write(tree, { ".gitlab-ci.yml": "x" })],
    ["ProtectedPath", "for a protected file in capitals", (tree) => write(tree, { ".GitLab-CI.yml": "x" })],
    ["ProtectedPath", "for a file in a protected folder", (tree) => write(tree, { "ci/deep/job.sh": "x" })],
    ["ProtectedPath", "for the removal of a protected file", (tree) => rm(join(tree.directory, "run.sh"))],
    ["TooManyFiles", "for too many files", (tree) => write(tree, { 1: "", 2: "", 3: "", 4: "", 5: "", 6: "" })],
    ["TooLarge", "for a large patch", (tree) => write(tree, { large: "line\n".repeat(30_000) })],
    ["TooLarge", "for a file that is not even read", (tree) => write(tree, { large: Buffer.alloc(3_000_000) })],
  ])("as %s %s", async (reason, _, change) => {
    await using tree = await checkout();
    await change(tree);

    const protectedPaths = [".gitlab-ci.yml", "/ci/", "run.sh"];
    const reading = await createPatch(tree, { maxBytes: 100_000, maxFiles: 5, protectedPaths });

    expect(reading).toMatchObject({ kind: "refused", reason });
  });
});

describe("a commit", () => {
  it("has the patch on its parent, and is the same for the same draft", async () => {
    const patch = await patched({ "a.txt": "one\n2\nthree\n" });

    const first = await workshop.commit(repository, draft(patch), signal);
    const second = await workshop.commit(repository, draft(patch), signal);

    expect(first).toEqual({ kind: "committed", sha: expect.stringMatching(/^[0-9a-f]{40}$/) });
    expect(second).toEqual(first);
  });

  it("is the same from another process", async () => {
    const patch = await patched({ "a.txt": "changed\n" });
    await using other = await open();
    await other.fetchCommit(repository, base, "refs/heads/main", signal);

    expect(await other.commit(repository, draft(patch), signal)).toEqual(
      await workshop.commit(repository, draft(patch), signal),
    );
  });

  it("is applied on top of a later commit without conflicts", async () => {
    const patch = await patched({ "a.txt": "zero\none\ntwo\nthree\n" });
    const parent = await commitFiles({ "dir/b.txt": "theirs\n", "a.txt": "one\ntwo\nthree\nfour\nfive\nsix\n" });
    await workshop.fetchCommit(repository, parent, "refs/heads/main", signal);

    const outcome = await workshop.commit(repository, draft(patch, { parent }), signal);

    const sha = shaOf(outcome);
    await using tree = await workshop.checkout(repository, sha, signal);
    expect(await contentOf(tree, "a.txt")).toBe("zero\none\ntwo\nthree\nfour\nfive\nsix\n");
    expect(await contentOf(tree, "dir/b.txt")).toBe("theirs\n");
  });

  it.each([
    ["changed by both", { "a.txt": "mine\n" }, { "a.txt": "theirs\n" }, ["a.txt"]],
    ["removed on the branch", { "a.txt": "mine\n" }, { "a.txt": undefined }, ["a.txt"]],
    ["created by both", { "n.txt": "mine\n", "a.txt": "x\n" }, { "n.txt": "theirs\n" }, ["n.txt"]],
  ])("is a conflict if a file was %s", async (_, mine, theirs, files) => {
    const patch = await patched(mine);
    const parent = await commitFiles(theirs);
    await workshop.fetchCommit(repository, parent, "refs/heads/main", signal);

    expect(await workshop.commit(repository, draft(patch, { parent }), signal)).toEqual({ kind: "conflict", files });
  });

  it("is refused if the patch has more changes than were checked", async () => {
    const patch = await patched({ "a.txt": "x\n", "n.txt": "n\n" });

    const committing = workshop.commit(repository, draft({ ...patch, files: ["a.txt"] }), signal);

    await expect(committing).rejects.toMatchObject({ kind: "refused" });
  });

  it("keeps bytes that are not text", async () => {
    const bytes = Buffer.from("caf\xe9\r\n\0\x01", "latin1");
    const patch = await patched({ "latin1.txt": Buffer.from("caf\xe9\r\n", "latin1"), "x.bin": bytes });

    const sha = shaOf(await workshop.commit(repository, draft(patch), signal));

    await using tree = await workshop.checkout(repository, sha, signal);
    expect(await readFile(join(tree.directory, "x.bin"))).toEqual(bytes);
    expect(await readFile(join(tree.directory, "latin1.txt"), "latin1")).toBe("caf\xe9\r\n");
  });
});

describe("a push", () => {
  it("moves the branch, and its task is found by its trailer", async () => {
    const sha = shaOf(await workshop.commit(repository, draft(await patched({ "a.txt": "x\n" })), signal));

    const outcome = await workshop.push(
      repository,
      { branch: "agent/x", expectedSha: undefined, commit: sha, lease: lease(1n) },
      signal,
    );

    expect(outcome).toEqual({ kind: "pushed" });
    expect(await workshop.branchHead(repository, "agent/x", signal)).toBe(sha);
    await using other = await open();
    expect(await other.findTask(repository, sha, "task-1", signal)).toBe(sha);
    expect(await other.findTask(repository, sha, "task", signal)).toBeUndefined();
  });

  it("is searched without leaving anything on the disk", async () => {
    const head = await commitFiles({ "a.txt": "newer\n" });
    const { files } = await diskUse([join(root, "work")]);

    const found = await workshop.findTask(repository, head, "task-7", signal);

    expect(found).toBeUndefined();
    // The folder for histories.
    expect((await diskUse([join(root, "work")])).files - files).toBeLessThanOrEqual(1);
  });

  it("is found below later commits", async () => {
    const task = await commitFiles({ "a.txt": "x\n" }, { message: "do it\n\nInterlock-Task: task-9\n" });
    await commitFiles({ "a.txt": "y\n" });
    const head = await commitFiles({ "a.txt": "z\n" });
    await workshop.fetchCommit(repository, head, "refs/heads/main", signal);

    expect(await workshop.findTask(repository, head, "task-9", signal)).toBe(task);
  });

  it("does not move a branch that has moved, and is refused with an older lease", async () => {
    const sha = shaOf(await workshop.commit(repository, draft(await patched({ "a.txt": "x\n" })), signal));
    const order = { branch: "topic", expectedSha: undefined, commit: sha, lease: lease(5n) };
    await workshop.push(repository, order, signal);

    expect(await workshop.push(repository, { ...order, lease: lease(4n) }, signal)).toEqual({
      kind: "stale",
      fence: 5n,
    });
    const later = { ...order, expectedSha: base, lease: lease(6n) };
    expect(await workshop.push(repository, later, signal)).toEqual({ kind: "moved", sha });
  });

  it("fails with the refusal of the server", async () => {
    await writeFile(join(remote, ".git", "hooks", "pre-receive"), "#!/bin/sh\necho no >&2\nexit 1\n", { mode: 0o755 });
    const sha = shaOf(await workshop.commit(repository, draft(await patched({ "a.txt": "x\n" })), signal));
    const order = { branch: "topic", expectedSha: undefined, commit: sha, lease: lease(5n) };

    await expect(workshop.push(repository, order, signal)).rejects.toMatchObject({ kind: "refused" });
  });
});

function open(options: Partial<GitWorkshopOptions> = {}) {
  return gitWorkshop({
    directory: join(root, "work"),
    server: { origin: "file://", token: async () => "" },
    timeLimitMs: 60_000,
    env: { PATH: process.env["PATH"] },
    clock: systemClock(),
    random: systemRandom(),
    log: silentLogger,
    ...options,
  });
}

async function git(...args: string[]): Promise<string> {
  const who = { GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@t", GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@t" };
  const env = { ...process.env, ...who, GIT_CONFIG_GLOBAL: "/dev/null" };
  return (await run("git", args, { cwd: remote, env })).stdout.trim();
}

async function commitFiles(
  files: Record<string, string | undefined>,
  { stage = true, message = "a change" } = {},
): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(remote, path, ".."), { recursive: true });
    if (content === undefined) await rm(join(remote, path));
    else await writeFile(join(remote, path), content);
  }
  if (stage) await git("add", "--all");
  await git("commit", "--quiet", "--allow-empty", "-m", message);
  return await git("rev-parse", "HEAD");
}

async function checkout(): Promise<WorkTree> {
  await workshop.fetchCommit(repository, base, "refs/heads/main", signal);
  return await workshop.checkout(repository, base, signal);
}

async function patched(files: Record<string, string | Buffer>): Promise<Patch> {
  await using tree = await checkout();
  await write(tree, files);
  return patchIn(await createPatch(tree));
}

function createPatch(tree: WorkTree, some: Partial<PatchLimits> = {}): Promise<PatchReading> {
  return workshop.createPatch(tree, limits(some), signal);
}

function limits(some: Partial<PatchLimits> = {}): PatchLimits {
  return { maxBytes: 1_000_000, maxFiles: 100, protectedPaths: [], ...some };
}

function patchIn(reading: PatchReading): Patch {
  if (reading.kind !== "patch") throw new Error(`no patch: ${JSON.stringify(reading)}`);
  return reading.patch;
}

function filesOf(reading: PatchReading): readonly string[] {
  return patchIn(reading).files;
}

function shaOf(outcome: Awaited<ReturnType<Workshop["commit"]>>): string {
  if (outcome.kind !== "committed") throw new Error(`not committed: ${JSON.stringify(outcome)}`);
  return outcome.sha;
}

function draft(patch: Patch, some: Partial<CommitDraft> = {}): CommitDraft {
  const message = "change it\n\nInterlock-Task: task-1\n";
  return {
    parent: patch.base,
    patch,
    message,
    author: { name: "Bot", email: "bot@x" },
    atSeconds: 1_800_000_000,
    ...some,
  };
}

function lease(fence: bigint) {
  return { fence, holder: "me", signal, assertHeld: () => {} };
}

async function write(tree: WorkTree, files: Record<string, string | Buffer>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(tree.directory, path, ".."), { recursive: true });
    await writeFile(join(tree.directory, path), content);
  }
}

function contentOf(tree: WorkTree, path: string): Promise<string> {
  return readFile(join(tree.directory, path), "utf8");
}

async function replaceByLink(tree: WorkTree, path: string, target: string): Promise<void> {
  await rename(join(tree.directory, path), join(tree.directory, ".git", "moved"));
  await symlink(target, join(tree.directory, path));
}

async function nestedRepository(tree: WorkTree, path: string): Promise<void> {
  await run("git", ["init", "-q", join(tree.directory, path)]);
  await writeFile(join(tree.directory, path, "file"), "x");
}

async function pipe(tree: WorkTree, path: string): Promise<void> {
  await rm(join(tree.directory, path), { force: true });
  await run("mkfifo", [join(tree.directory, path)]);
}
