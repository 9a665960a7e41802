import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../executor/processes/until.ts";
import { dieWithUs } from "../services/child.ts";
import { plainEnv } from "../services/interlock.ts";
import { interlockProgram } from "../services/program.ts";
import { UpProcess } from "../services/up-process.ts";

// Each step prints a line, waits until the test has seen it, and goes on.
const paced = `echo "first $password"; while [ ! -e "$gate" ]; do sleep 0.05; done; printf 'second\\nno end'; exit "$code"`;
const parameters = { gate: { type: "string" }, code: { type: "string" }, password: { type: "string" } };

describe("interlock logs -f of a local run", { timeout: 60_000 }, () => {
  let up: UpProcess;
  beforeAll(async () => {
    up = await UpProcess.start({ paced: { script: paced, parameters } });
  });
  afterAll(() => up.stop());

  it("prints lines while the step runs, without secrets, and ends with the execution", async () => {
    const { name, open } = await startRun("worker-1", "0");
    const logs = await follow(name);

    await until("the line of the running step", () => logs.out().includes("act/say first"));
    expect(logs.out()).toContain("act/say first [redacted]\n");
    open();

    expect(await logs.ended).toBe(0);
    expect(logs.out()).toBe("act/say first [redacted]\nact/say second\nact/say no end\n");
    expect(logs.err()).toMatch(/^completed in /);
  });

  it("has the exit status of interlock run when the execution fails", async () => {
    const { name, open } = await startRun("worker-2", "3");
    const logs = await follow(name);
    await until("the line of the running step", () => logs.out().includes("act/say first"));
    open();

    expect(await logs.ended).toBe(1);
    expect(logs.err()).toContain("failed: ");
  });

  it("prints only the last lines of what is there with --tail, and nothing of steps that ended before --since", async () => {
    const { name, open } = await startRun("worker-3", "0");
    open();
    expect(await (await follow(name)).ended).toBe(0);

    const tail = await follow(name, "--tail", "1");
    const since = await follow(name, "--since", "0s");

    expect([await tail.ended, tail.out()]).toEqual([0, "act/say no end\n"]);
    expect([await since.ended, since.out()]).toEqual([0, ""]);
    expect((await up.interlock("logs", name, "--tail", "2")).out).toBe("act/say second\nact/say no end\n");
  });

  it("prints nothing of other tasks and steps", async () => {
    const { name, open } = await startRun("worker-4", "0");
    open();
    const [task, step] = await Promise.all([follow(name, "--task", "other"), follow(name, "--step", "say")]);

    expect(await task.ended).toBe(0);
    expect(await step.ended).toBe(0);
    expect(task.out()).toBe("");
    expect(step.out()).toContain("act/say second\n");
  });

  it("prints everything of an execution that has ended, and ends", async () => {
    const { name, open } = await startRun("worker-5", "0");
    open();
    expect(await (await follow(name)).ended).toBe(0);

    const again = await follow(name);

    expect(await again.ended).toBe(0);
    expect(again.out()).toBe("act/say first [redacted]\nact/say second\nact/say no end\n");
  });

  it("leaves the execution alone at Ctrl-C", async () => {
    const { name, open } = await startRun("worker-6", "0");
    const logs = await follow(name);
    await until("the line of the running step", () => logs.out().includes("first"));

    logs.child.kill("SIGINT");

    expect(await logs.ended).toBe(130);
    open();
    expect(await (await follow(name)).ended).toBe(0);
  });

  async function startRun(node: string, code: string) {
    const gate = join(up.directory, `gate-${node}`);
    const values = { gate, code, password: "hunter2hunter2" };
    const params = Object.entries(values).flatMap(([name, value]) => ["--param", `${name}=${value}`]);
    const { out, err } = await up.interlock("run", "paced", "--target", `node/${node}`, "--no-wait", ...params);
    const [, name = ""] = /execution (\S+) was created/.exec(out) ?? [];
    expect(name, err).not.toBe("");
    expect(existsSync(gate)).toBe(false);
    return { name, open: () => writeFileSync(gate, "") };
  }

  async function follow(name: string, ...options: readonly string[]): Promise<Followed> {
    const args = ["logs", "--data", up.dataDir, "-f", name, ...options];
    const child = spawn(process.execPath, [await interlockProgram(), ...args], { env: plainEnv });
    dieWithUs(child);
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    return { child, out: () => out, err: () => err, ended: once(child, "close").then(([code]) => code as number) };
  }
});

interface Followed {
  readonly child: ChildProcess;
  out(): string;
  err(): string;
  readonly ended: Promise<number>;
}
