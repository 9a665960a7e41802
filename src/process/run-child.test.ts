import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { systemClock } from "../time/index.ts";
import { runChild } from "./run-child.ts";

const maxOutputBytes = 1_000_000;

describe("a child process", () => {
  it("returns its exit code and both outputs", async () => {
    const exit = await run("cat; echo problem >&2; exit 3", { input: "hello" });

    expect(exit).toMatchObject({ code: 3, failure: undefined, stderr: "problem\n", truncated: false });
    expect(exit.stdout.toString()).toBe("hello");
  });

  it("that cannot be started has the error instead of an exit code", async () => {
    const exit = await runChild({ argv: ["/nowhere/program"], maxOutputBytes });

    expect(exit).toMatchObject({ code: undefined, failure: "ENOENT" });
  });

  it("that cannot be started for lack of file descriptors has the error, and this process survives", async () => {
    const script = `
      import { closeSync, openSync } from "node:fs";
      import { runChild } from ${JSON.stringify(new URL("./run-child.ts", import.meta.url).href)};
      const taken = [];
      try { for (;;) taken.push(openSync("/dev/null")); } catch {}
      const { failure } = await runChild({ argv: ["true"], maxOutputBytes: 1, signalsReady: true });
      taken.forEach((file) => closeSync(file));
      console.log(failure, (await runChild({ argv: ["true"], maxOutputBytes: 1 })).code);
    `;
    const node = [process.execPath, "--import", "tsx", "--input-type=module", "-e", script];
    const exit = await runChild({ argv: ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", ...node], maxOutputBytes });

    expect(exit).toMatchObject({ code: 0, stderr: "" });
    expect(exit.stdout.toString()).toBe("EMFILE 0\n");
  });

  it("is killed when its signal aborts, also before it starts", async () => {
    const exit = await run("sleep 600", { signal: AbortSignal.abort() });

    expect(exit).toMatchObject({ code: undefined, failure: "SIGKILL" });
  });

  it.each(["yes", "yes >&2", "yes & yes >&2"])("is killed when it writes too much with %s", async (script) => {
    const exit = await run(script);

    expect(exit.truncated).toBe(true);
    expect(exit.stdout.length + exit.stderr.length).toBeLessThanOrEqual(maxOutputBytes);
  });

  it("keeps the end of a long standard error", async () => {
    const { code, stderr } = await run("head -c 100000 /dev/zero >&2; echo last >&2");

    expect(code).toBe(0);
    expect(stderr).toHaveLength(64 * 1024);
    expect(stderr.endsWith("last\n")).toBe(true);
  });

  it("takes the rest of its group with it when it exits", async () => {
    const { stdout } = await run("sleep 600 & echo $!");

    await vi.waitFor(() => expect(isRunning(Number(stdout))).toBe(false));
  });

  it.each([
    ["echo >&3", true],
    ["true", false],
  ])("with %s is ready: %s", async (script, expected) => {
    expect((await run(script, { signalsReady: true })).isReady).toBe(expected);
  });

  it("has processes that left its group ended before it returns", async () => {
    const folder = mkdtempSync(join(tmpdir(), "interlock-straggler-"));
    const pid = () => Number(readFileSync(join(folder, "pid"), "utf8"));
    const end = async () => void process.kill(pid(), "SIGKILL");
    // It inherits the standard output, which would stay open for as long as it runs.
    const leave = "setsid sh -c 'echo $$ > pid.new; mv pid.new pid; exec sleep 600' &";

    await run(`${leave} until [ -e pid ]; do :; done`, { cwd: folder, stragglers: { end, clock: systemClock() } });

    await vi.waitFor(() => expect(isRunning(pid())).toBe(false));
    rmSync(folder, { recursive: true });
  });
});

function run(script: string, options: Partial<Parameters<typeof runChild>[0]> = {}) {
  return runChild({ argv: ["/bin/sh", "-c", script], maxOutputBytes, ...options });
}

/** A zombie does not run: its parent may take its time to collect it. */
function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !/\) [ZX] /.test(readFileSync(file, "utf8"));
}
