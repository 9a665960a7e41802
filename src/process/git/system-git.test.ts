import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemGit } from "./system-git.ts";

let cwd: string;
const git = systemGit(process.env);

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "interlock-git-"));
  await git(["init", "--quiet"], { cwd });
});

afterAll(() => rm(cwd, { recursive: true, force: true }));

describe("a run of git", () => {
  it("passes bytes unchanged", async () => {
    const bytes = Buffer.from([0, 255, 128, 10]);

    const { code, stdout } = await git(["-c", "alias.echo=!cat", "echo"], { cwd, input: bytes });

    expect(code).toBe(0);
    expect(stdout).toEqual(bytes);
  });

  it("has its own variables in addition to the common ones", async () => {
    const { stdout } = await git(["-c", "alias.tell=!printenv GIT_INDEX_FILE", "tell"], {
      cwd,
      env: { GIT_INDEX_FILE: "/x" },
    });

    expect(stdout.toString()).toBe("/x\n");
  });

  it("is killed when it exceeds its output limit", async () => {
    const { truncated, stdout } = await git(["-c", "alias.yes=!yes", "yes"], { cwd, maxBytes: 1_000_000 });

    expect(truncated).toBe(true);
    expect(stdout.length).toBeLessThanOrEqual(1_000_000);
  });

  it("ends together with its helpers", async () => {
    const stop = new AbortController();
    const script = "sleep 600 & echo $! >helper; echo ready; wait";
    const running = git(["-c", `alias.assist=!cd ${cwd}; ${script}`, "assist"], { cwd, signal: stop.signal });
    const helper = await eventually(() => readFile(join(cwd, "helper"), "utf8"));

    stop.abort(new Error("stop"));
    await expect(running).rejects.toThrow("stop");

    await eventually(async () => expect(() => process.kill(Number(helper), 0)).toThrow());
  });
});

describe("git on this machine", () => {
  it("returns its output", async () => {
    const result = await git(["--version"], { cwd });

    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout.toString()).toContain("git version");
  });

  it("returns its exit code when it fails", async () => {
    const result = await git(["rev-parse", "--verify", "nothing"], { cwd });

    expect(result).toMatchObject({ code: 128, stderr: expect.stringContaining("fatal") });
  });

  it("reads its input", async () => {
    const result = await git(["hash-object", "--stdin"], { cwd, input: "hello\n" });

    expect(result.stdout.toString()).toBe("ce013625030ba8dba906f756967f9e9ca394464a\n");
  });

  it("runs a command that ends without reading its input", async () => {
    const result = await git(["--version"], { cwd, input: "x".repeat(1_000_000) });

    expect(result.code).toBe(0);
  });

  it.each([
    ["https://user:secret@host/repo.git", "https://***@host/repo.git"],
    ["https://secret@host:8443/repo.git", "https://***@host:8443/repo.git"],
    ["http://user:se@cret@host/", "http://***@host/"],
    ["https://host/path@v1", "https://host/path@v1"],
  ])("prints %s to its standard error as %s", async (url, shown) => {
    const result = await git(["-c", "alias.say=!echo >&2", "say", `fatal: '${url}' failed`], { cwd });

    expect(result.stderr).toBe(`fatal: '${shown}' failed\n`);
  });

  it("works in the directory it is given, not in one from the environment", async () => {
    const git = systemGit({
      ...process.env,
      GIT_DIR: "/nowhere",
      GIT_WORK_TREE: "/nowhere",
      GIT_INDEX_FILE: "/nowhere",
    });

    const result = await git(["rev-parse", "--git-dir"], { cwd });

    expect(result.stdout.toString()).toBe(".git\n");
  });

  it("never prompts at the terminal", async () => {
    const git = systemGit({ ...process.env, GIT_TERMINAL_PROMPT: "1" });

    const result = await git(["-c", "alias.env=!printenv GIT_TERMINAL_PROMPT", "env"], { cwd });

    expect(result.stdout.toString()).toBe("0\n");
  });

  it("takes arguments as they are, without a shell", async () => {
    const result = await git(["rev-parse", "--sq-quote", "$(id); `id` * '"], { cwd });

    expect(result.stdout.toString()).toContain("$(id); `id` * ");
  });

  it("rejects with the signal's reason when it aborts, before or while git runs", async () => {
    const stop = new AbortController();
    const reason = new Error("stop");

    const running = git(["-c", "alias.wait=!cat", "wait"], { cwd, signal: stop.signal });
    stop.abort(reason);

    await expect(running).rejects.toBe(reason);
    await expect(git(["--version"], { cwd, signal: stop.signal })).rejects.toBe(reason);
  });

  it("rejects when git cannot be started, without its arguments", async () => {
    const git = systemGit({ PATH: "/nowhere" });

    await expect(git(["push", "secret"], { cwd })).rejects.toMatchObject({
      name: "ProcessError",
      message: "git push did not finish: ENOENT",
    });
  });
});

/** Returns the first value that `look` finds. */
async function eventually<T>(look: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      const found = await look();
      if (found !== "") return found;
    } catch (error) {
      if (tries > 1_000) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
