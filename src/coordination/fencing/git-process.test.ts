import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gitProcess } from "./git-process.ts";

let cwd: string;
const git = gitProcess(process.env);

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "interlock-git-process-"));
});

afterAll(() => rm(cwd, { recursive: true, force: true }));

describe("a run of git", () => {
  it("gives and takes bytes as they are", async () => {
    const bytes = Buffer.from([0, 255, 128, 10]);

    const { code, stdout } = await git(["-c", "alias.echo=!cat", "echo"], { cwd, input: bytes });

    expect(code).toBe(0);
    expect(stdout).toEqual(bytes);
  });

  it("has an environment of its own on top of the common one", async () => {
    const { stdout } = await git(["-c", "alias.tell=!printenv GIT_INDEX_FILE", "tell"], {
      cwd,
      env: { GIT_INDEX_FILE: "/x" },
    });

    expect(stdout.toString()).toBe("/x\n");
  });

  it("is ended when it prints more than is read", async () => {
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

/** What `look` finds, as soon as it finds it. */
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
