import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { bundle, interlockEntry } from "../../services/bundle.ts";

let up: Up;
beforeAll(async () => {
  up = await Up.start();
});
afterAll(() => up.stop());

describe("interlock run", { timeout: 60_000 }, () => {
  it("waits for the end: exit status 0 when the workflow completed", async () => {
    const { status, out } = await up.interlock("run", "greet", "--target", "node/a", "--param", "who=Ada");

    expect(status).toBe(0);
    expect(out).toMatch(/^execution greet-[a-z0-9]+ was created\n/);
    expect(out).toMatch(/completed in \d\S*\n$/);
  });

  it("exits with 1 when it failed, and says what failed, where, and what to do", async () => {
    const { status, out } = await up.interlock("run", "break", "--target", "node/b");

    expect(status).toBe(1);
    expect(out).toContain("failed: ");
    expect(out).toContain("node/b");
    expect(out).toMatch(/exit code 3|code 3/);
  });

  it("exits with 3 when it was skipped, and says why and until when", async () => {
    await up.interlock("run", "greet", "--target", "node/c", "--param", "who=Ada");

    const { status, out } = await up.interlock("run", "greet", "--target", "nodes/c", "--param", "who=Bob");

    expect(status).toBe(3);
    expect(out).toContain("skipped, RecentlyRemediated: ");
    expect(out).toContain("Next: ");
  });

  it("does not wait when told so", async () => {
    const { status, out } = await up.interlock("run", "greet", "--target", "node/d", "--param", "who=Ada", "--no-wait");

    expect(status).toBe(0);
    expect(out).toMatch(/^execution greet-[a-z0-9]+ was created\n$/);
  });

  it.each([
    ["an unknown workflow", ["nope", "--target", "node/e"], "there is no workflow nope; the catalog has break, greet"],
    ["a parameter that is missing", ["greet", "--target", "node/e"], "who"],
    ["a parameter that is wrong", ["greet", "--target", "node/e", "--param", "who=1;2"], "who"],
    ["a parameter that is not known", ["greet", "--target", "node/e", "--param", "what=x"], "what"],
    ["a parameter without a value", ["greet", "--target", "node/e", "--param", "who"], "--param wants NAME=VALUE"],
    ["no target", ["greet"], "interlock run WORKFLOW --target TARGET"],
    ["a target that is none", ["greet", "--target", "Node worker", "--param", "who=Ada"], "Node worker"],
    ["a target that does not fit", ["greet", "--target", "a/deployment/b", "--param", "who=Ada"], "deployment"],
  ])("refuses %s, and creates nothing", async (_what, args, message) => {
    const { status, out, err } = await up.interlock("run", ...args);

    expect(status).toBe(1);
    expect(err).toContain(`interlock: `);
    expect(err).toContain(message);
    expect(out).toBe("");
  });
});

describe("interlock logs", { timeout: 60_000 }, () => {
  it("prints what the steps have written", async () => {
    const { out } = await up.interlock("run", "greet", "--target", "node/f", "--param", "who=Ada");

    const logs = await up.interlock("logs", nameIn(out), "--local", up.localDir);

    expect(logs).toMatchObject({ status: 0, out: "── act, step 1\nhello Ada, this is node/f\n\n" });
  });

  it("says that there is no such execution, or that it never ran", async () => {
    await up.interlock("run", "greet", "--target", "node/g", "--param", "who=Ada");
    const skipped = await up.interlock("run", "greet", "--target", "node/g", "--param", "who=Ada");

    const unknown = await up.interlock("logs", "nobody");
    const unrun = await up.interlock("logs", nameIn(skipped.out));

    expect(unknown).toMatchObject({ status: 1, err: expect.stringContaining("there is no execution nobody") });
    expect(unrun).toMatchObject({ status: 1, err: expect.stringContaining("is Skipped: it has no run") });
  });
});

describe("interlock ack", { timeout: 60_000 }, () => {
  it("lets a workflow act again that was blocked by its failure", async () => {
    const failed = await up.interlock("run", "break", "--target", "node/h");
    const blocked = await up.interlock("run", "break", "--target", "node/h");
    expect(blocked.status).toBe(3);
    expect(blocked.out).toContain("skipped, PreviousExecutionFailed: ");

    const ack = await up.interlock("ack", nameIn(failed.out), "--reason", "looked at it");

    expect(ack.status).toBe(0);
    expect(ack.out).toContain("is acknowledged by");
    const again = await up.interlock("run", "break", "--target", "node/h");
    expect(again.out).toContain("failed: ");
  });

  it("wants a reason, and something that has ended", async () => {
    const failed = await up.interlock("run", "break", "--target", "node/i");
    const blocked = await up.interlock("run", "break", "--target", "node/i");

    const silent = await up.interlock("ack", nameIn(failed.out));
    const early = await up.interlock("ack", nameIn(blocked.out), "--reason", "why not");

    expect(silent).toMatchObject({ status: 1, err: expect.stringContaining("--reason TEXT") });
    expect(early).toMatchObject({ status: 1, err: expect.stringContaining("there is nothing to acknowledge") });
  });
});

function nameIn(out: string): string {
  return /^execution (\S+) was created/.exec(out)?.[1] ?? "";
}

interface Said {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** `interlock up` as a process of its own, with two workflows, and the command line beside it. */
class Up {
  readonly localDir: string;
  readonly #directory: string;
  readonly #program: string;
  readonly #child: ChildProcess;

  private constructor(directory: string, program: string, child: ChildProcess) {
    this.#directory = directory;
    this.#program = program;
    this.#child = child;
    this.localDir = join(directory, "data", "local");
  }

  static async start(): Promise<Up> {
    const directory = mkdtempSync(join(tmpdir(), "interlock-up-"));
    const program = await bundle(interlockEntry, join(directory, "interlock.mjs"));
    writeWorkflow(join(directory, "workflows", "greet"), 'echo "hello $who, this is $TARGET_RESOURCE"', { who: name });
    writeWorkflow(join(directory, "workflows", "break"), "exit 3");
    const config = join(directory, "config.yaml");
    writeFileSync(config, stringify({ execution: { workflowsDir: join(directory, "workflows") } }));
    const args = ["up", "--data", join(directory, "data"), "--listen", "127.0.0.1:0", "--config", config];
    const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"], env: plainEnv });
    process.once("exit", () => child.kill("SIGKILL"));
    for await (const chunk of child.stdout) if (String(chunk).includes("Interlock is running")) break;
    return new Up(directory, program, child);
  }

  interlock(...words: readonly string[]): Promise<Said> {
    const [command = "", ...args] = words;
    const all = [this.#program, command, "--kubeconfig", join(this.#directory, "data", "kubeconfig"), ...args];
    return new Promise((resolve) => {
      execFile(process.execPath, all, { env: plainEnv }, (error, out, err) => {
        resolve({ status: error ? Number(error.code ?? -1) : 0, out, err });
      });
    });
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    await exited;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Nothing of ours, such as a test runner's hooks, may run in processes of their own. */
const plainEnv = { PATH: process.env["PATH"] ?? "" };
const name = { type: "string", pattern: "^[A-Za-z]+$" };

function writeWorkflow(folder: string, script: string, properties: Readonly<Record<string, object>> = {}): void {
  const workflowId = folder.split("/").at(-1);
  const parameters = { properties, required: Object.keys(properties) };
  const params = Object.keys(properties).map((param) => ({ name: param }));
  const env = params.map(({ name: param }) => ({ name: param, value: `$(params.${param})` }));
  const steps = [{ name: "say", ...(env.length > 0 && { env }), script }];
  const taskParams = params.map(({ name: param }) => ({ name: param, value: `$(params.${param})` }));
  const task = { name: "act", params: taskParams, taskSpec: { params, steps } };
  const pipeline = { apiVersion: "tekton.dev/v1", kind: "Pipeline", metadata: { name: "workflow" } };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "pipeline.yaml"), stringify({ ...pipeline, spec: { params, tasks: [task] } }));
  const entry = { workflowId, version: "1.0.0", description: "For tests.", engine: "local", targetKinds: ["node"] };
  writeFileSync(join(folder, "workflow.yaml"), stringify({ ...entry, parameters }));
}
