import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { openClient } from "../../src/app/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { disagreements, eventsIn } from "../doubles/why-agrees.ts";
import { until } from "../executor/processes/until.ts";
import { dieWithUs, end, waitForOutput } from "./child.ts";
import { interlock, type Output, plainEnv } from "./interlock.ts";
import { interlockProgram } from "./program.ts";
import { TerminalSession } from "./terminal-session.ts";

/** A workflow with one step. */
export interface SmallWorkflow {
  readonly script: string;
  readonly parameters?: Readonly<Record<string, object>>;
  /** More of `workflow.yaml`. */
  readonly entry?: object;
}

/** `interlock up` as a process of its own, with small workflows, and the command line beside it. */
export class UpProcess {
  readonly directory: string;
  readonly dataDir: string;
  readonly localDir: string;
  /** What it printed when it was ready. */
  screen = "";
  readonly #program: string;
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;

  private constructor(directory: string, program: string, env: Readonly<Record<string, string>>) {
    this.directory = directory;
    this.dataDir = join(directory, "data");
    this.localDir = join(this.dataDir, "local");
    this.#program = program;
    this.#env = env;
  }

  static async start(
    workflows: Readonly<Record<string, SmallWorkflow | string>>,
    given: {
      /** More sections of the configuration. */
      readonly settings?: Readonly<Record<string, object>>;
      readonly rules?: readonly object[];
      readonly env?: Readonly<Record<string, string>>;
      /** Fills the data directory before the first start. */
      readonly seed?: (dataDir: string) => Promise<void>;
    } = {},
  ): Promise<UpProcess> {
    const directory = mkdtempSync(join(tmpdir(), "interlock-up-"));
    const program = await interlockProgram();
    for (const [id, one] of Object.entries(workflows)) {
      writeWorkflow(join(directory, "workflows", id), id, typeof one === "string" ? { script: one } : one);
    }
    const config = join(directory, "config.yaml");
    const rules = join(directory, "rules");
    mkdirSync(rules);
    writeFileSync(join(rules, "rules.yaml"), stringify({ rules: given.rules ?? [] }));
    const { execution, gateway, ...more } = given.settings ?? {};
    writeFileSync(
      config,
      stringify({
        execution: { workflowsDir: join(directory, "workflows"), ...execution },
        gateway: { listen: "127.0.0.1:0", ...gateway },
        rules: { dir: rules },
        ...more,
      }),
    );
    const up = new UpProcess(directory, program, { ...plainEnv, ...given.env });
    await given.seed?.(up.dataDir);
    await up.launch();
    return up;
  }

  /** Starts the process, again after `crash`, in the same directory. Returns when it is ready. */
  async launch(): Promise<void> {
    const config = join(this.directory, "config.yaml");
    const args = ["up", "--data", this.dataDir, "--listen", "127.0.0.1:0", "--config", config];
    const child = spawn(process.execPath, [this.#program, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
      env: this.#env,
    });
    this.#child = child;
    dieWithUs(child);
    const { input } = await waitForOutput(child, /Next, in a second terminal:\n\n.+\n\n/s);
    this.screen = input;
  }

  /** Ends the process with kill -9. */
  async crash(): Promise<void> {
    if (this.#child) await end(this.#child, "SIGKILL");
  }

  /** A command at this `up`. */
  interlock(...words: readonly string[]): Promise<Output> {
    return this.bare(...this.#addressed(words));
  }

  /** A command at this `up`, on a terminal of its own. */
  atTerminal(...words: readonly string[]): TerminalSession {
    return new TerminalSession(this.#program, this.#addressed(words));
  }

  #addressed([command = "", ...args]: readonly string[]): readonly string[] {
    return [command, "--data", this.dataDir, "--config", join(this.directory, "config.yaml"), ...args];
  }

  /** A command with nothing but these words. */
  bare(...words: readonly string[]): Promise<Output> {
    return interlock(words);
  }

  /** Has a signal posted. Returns the short name of its incident. */
  async signal(name: string, target: string, more: object = {}): Promise<string> {
    const { out, err } = await this.receive("generic", { name, target, ...more });
    const [, incident] = /^\S+ (rr-\S+): /.exec(out) ?? [];
    if (!incident) throw new Error(`no incident: ${out}${err}`);
    return incident;
  }

  /** Posts a body as a sender of that source does. */
  receive(source: string, body: object): Promise<Output> {
    const file = join(this.directory, "signal.json");
    writeFileSync(file, JSON.stringify(body));
    return this.interlock("receive", source, "-p", file);
  }

  client(): Promise<KubeClient> {
    return openClient(join(this.dataDir, "kubeconfig"), {
      env: process.env,
      clock: systemClock(),
      random: systemRandom(),
    });
  }

  /** Ended incidents: `why` has to agree with the ledger. Open ones may take a moment. */
  async #whyAgrees(): Promise<void> {
    const client = await this.client();
    let found: readonly string[] = [];
    await until("why agrees with what is recorded", async () => {
      found = await disagreements({ client, events: await eventsIn(join(this.dataDir, "ledger")) });
      return found.length === 0;
    }).catch((error) => {
      throw new Error([error.message, ...found].join("\n\n"));
    });
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async stop(): Promise<void> {
    await this.#whyAgrees();
    await this.discard();
  }

  /** Stops it without a look at what it has recorded. */
  async discard(): Promise<void> {
    if (this.#child) await end(this.#child, "SIGTERM");
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function writeWorkflow(folder: string, workflowId: string, { script, parameters = {}, entry }: SmallWorkflow): void {
  const names = Object.keys(parameters);
  const params = names.map((name) => ({ name }));
  const values = names.map((name) => ({ name, value: `$(params.${name})` }));
  const steps = [{ name: "say", ...(values.length > 0 && { env: values }), script }];
  const task = { name: "act", params: values, taskSpec: { params, steps } };
  const pipeline = { apiVersion: "tekton.dev/v1", kind: "Pipeline", metadata: { name: "workflow" } };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "pipeline.yaml"), stringify({ ...pipeline, spec: { params, tasks: [task] } }));
  const usual = { workflowId, version: "1.0.0", description: "For tests.", engine: "local", targetKinds: ["node"] };
  writeFileSync(
    join(folder, "workflow.yaml"),
    stringify({ ...usual, parameters: { properties: parameters, required: names }, ...entry }),
  );
}
