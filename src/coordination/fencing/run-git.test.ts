import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runGit } from "./run-git.ts";

let cwd: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "interlock-git-"));
  await runGit(process.env)(["init", "--quiet"], { cwd });
});

afterAll(() => rm(cwd, { recursive: true, force: true }));

describe("git on this machine", () => {
  it("answers with what it printed", async () => {
    const result = await runGit(process.env)(["--version"], { cwd });

    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("git version"), stderr: "" });
  });

  it("answers with its exit code when it fails", async () => {
    const result = await runGit(process.env)(["rev-parse", "--verify", "nothing"], { cwd });

    expect(result).toMatchObject({ code: 128, stderr: expect.stringContaining("fatal") });
  });

  it("reads its input", async () => {
    const result = await runGit(process.env)(["hash-object", "--stdin"], { cwd, input: "hello\n" });

    expect(result.stdout).toBe("ce013625030ba8dba906f756967f9e9ca394464a\n");
  });

  it("does not mind a command that ends without reading its input", async () => {
    const result = await runGit(process.env)(["--version"], { cwd, input: "x".repeat(1_000_000) });

    expect(result.code).toBe(0);
  });

  it.each([
    ["https://user:secret@host/repo.git", "https://***@host/repo.git"],
    ["https://secret@host:8443/repo.git", "https://***@host:8443/repo.git"],
    ["http://user:se@cret@host/", "http://***@host/"],
    ["https://host/path@v1", "https://host/path@v1"],
  ])("prints %s to its standard error as %s", async (url, shown) => {
    const result = await runGit(process.env)(["-c", "alias.say=!echo >&2", "say", `fatal: '${url}' failed`], { cwd });

    expect(result.stderr).toBe(`fatal: '${shown}' failed\n`);
  });

  it("works in the directory it is given, not in one from the environment", async () => {
    const git = runGit({ ...process.env, GIT_DIR: "/nowhere", GIT_WORK_TREE: "/nowhere", GIT_INDEX_FILE: "/nowhere" });

    const result = await git(["rev-parse", "--git-dir"], { cwd });

    expect(result.stdout).toBe(".git\n");
  });

  it("never asks at the terminal", async () => {
    const git = runGit({ ...process.env, GIT_TERMINAL_PROMPT: "1" });

    const result = await git(["-c", "alias.env=!printenv GIT_TERMINAL_PROMPT", "env"], { cwd });

    expect(result.stdout).toBe("0\n");
  });

  it("takes arguments as they are, without a shell", async () => {
    const result = await runGit(process.env)(["rev-parse", "--sq-quote", "$(id); `id` * '"], { cwd });

    expect(result.stdout).toContain("$(id); `id` * ");
  });

  it("rejects with the signal's reason when it aborts, before or while git runs", async () => {
    const stop = new AbortController();
    const reason = new Error("stop");

    const running = runGit(process.env)(["-c", "alias.wait=!cat", "wait"], { cwd, signal: stop.signal });
    stop.abort(reason);

    await expect(running).rejects.toBe(reason);
    await expect(runGit(process.env)(["--version"], { cwd, signal: stop.signal })).rejects.toBe(reason);
  });

  it("is an outage when git cannot be started", async () => {
    const git = runGit({ PATH: "/nowhere" });

    await expect(git(["push", "secret"], { cwd })).rejects.toMatchObject({
      code: "unavailable",
      message: "git push did not finish: ENOENT",
    });
  });
});
