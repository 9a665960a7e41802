import { setMaxListeners } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { openClient } from "../../src/app/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { type Deed, deeds, StepWitness } from "../executor/processes/step-witness.ts";
import { type Receiver, startReceiver } from "../notify/receiver.ts";
import { type ApiServer, startApiServer } from "../services/api-server.ts";
import { freePort } from "../services/free-port.ts";
import { interlockProgram } from "../services/program.ts";
import { StageProcess } from "./stage-process.ts";

export interface StormStageOptions {
  readonly gateways: number;
  readonly orchestrators: number;
  readonly executors: number;
  readonly notifiers: number;
  /** The program of the version before: every second replica starts with it. */
  readonly before?: string;
  /** Environment of every stage: another lock backend, another ledger. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Gateway extends StageProcess {
  readonly url: string;
}

export const token = "storm-token-of-many-characters";

/** Which workflow a signal leads to. `Unheard` has no rule. */
export const workflowOf: Readonly<Record<string, Deed | undefined>> = {
  DiskFull: "succeed",
  DiskSlow: "succeed",
  DiskHot: "succeed",
  MemoryHigh: "succeed",
  Corrupt: "fail",
  Unheard: undefined,
};

/** All stages on one `interlock api`, each replica a process of its own, and a witness that steps write to. */
export class StormStage implements AsyncDisposable {
  readonly directory: string;
  readonly api: ApiServer;
  readonly client: KubeClient;
  readonly witness: StepWitness;
  readonly gateways: readonly StageProcess[];
  readonly urls: readonly string[];
  readonly stages: readonly StageProcess[];
  /** The program of this version. */
  readonly program: string;
  /** Where notices are delivered. */
  readonly receiver: Receiver;
  /** Where the ledger's rows end up: PostgreSQL, or a file. */
  readonly ledgerUrl: string | undefined;

  private constructor(
    parts: Pick<
      StormStage,
      "directory" | "api" | "client" | "witness" | "gateways" | "urls" | "stages" | "program" | "receiver" | "ledgerUrl"
    >,
  ) {
    this.directory = parts.directory;
    this.api = parts.api;
    this.client = parts.client;
    this.witness = parts.witness;
    this.gateways = parts.gateways;
    this.urls = parts.urls;
    this.stages = parts.stages;
    this.program = parts.program;
    this.receiver = parts.receiver;
    this.ledgerUrl = parts.ledgerUrl;
  }

  static async open(options: StormStageOptions): Promise<StormStage> {
    const { gateways: wanted, orchestrators, executors, notifiers, before, env = {} } = options;
    // Each process listens for our end.
    setMaxListeners(0, process);
    const directory = mkdtempSync(join(tmpdir(), "interlock-storm-"));
    const program = await interlockProgram();
    const witness = new StepWitness(join(directory, "witness"));
    writeWorkflows(join(directory, "workflows"), witness);
    writeRules(join(directory, "rules"));
    const receiver = await startReceiver();
    writeFileSync(join(directory, "config.yaml"), stringify(configOf(directory, receiver.port)));
    const api = await startApiServer();
    const client = await openClient(api.kubeconfigFile, {
      env: process.env,
      clock: systemClock(),
      random: systemRandom(),
    });

    const place = (stage: string, more: Readonly<Record<string, string>> = {}) => {
      const [, name = "", replica] = /^(\w+)-(\d+)$/.exec(stage) ?? [];
      const first = Number(replica) % 2 === 1 ? (before ?? program) : program;
      const args = [first, name, "--kubeconfig", api.kubeconfigFile];
      const own = ["--config", join(directory, "config.yaml"), "--data", join(directory, stage)];
      const logFile = join(directory, `${stage}.log`);
      return new StageProcess(stage, { args: [...args, ...own], env: { ...env, ...more }, logFile });
    };
    const ports = await Promise.all(Array.from({ length: wanted }, () => freePort()));
    const gateways = ports.map((port, i) => place(`gateway-${i}`, { GATEWAY_LISTEN: `127.0.0.1:${port}` }));
    const stages = [
      ...gateways,
      ...Array.from({ length: orchestrators }, (_, i) => place(`orchestrator-${i}`)),
      ...Array.from({ length: executors }, (_, i) => place(`executor-${i}`)),
      ...Array.from({ length: notifiers }, (_, i) => place(`notify-${i}`)),
    ];
    const urls = ports.map((port) => `http://127.0.0.1:${port}/api/v1/signals/alertmanager`);
    const ledgerUrl = env["LEDGER_URL"];
    return new StormStage({ directory, api, client, witness, gateways, urls, stages, program, receiver, ledgerUrl });
  }

  /** What stages have logged, for a failure. */
  logs(): string {
    const files = readdirSync(this.directory).filter((name) => name.endsWith(".log"));
    return files
      .map((name) => `── ${name}\n${readFileSync(join(this.directory, name), "utf8").slice(-1_500)}`)
      .join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stage of this.stages) {
      stage.resume();
      await stage.kill();
    }
    await this.receiver[Symbol.asyncDispose]();
    await this.api.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Everything that has to be waited for is short, so that much happens. */
function configOf(directory: string, receiverPort: number) {
  return {
    execution: {
      engines: "local",
      engine: "local",
      workflowsDir: join(directory, "workflows"),
      localDir: join(directory, "local"),
    },
    resource_locking: { cooldown_period: "300ms" },
    // As short as is sensible: a killed holder makes others wait this long.
    locks: { ttl: "10s" },
    notify: {
      console: false,
      webhookUrl: `http://127.0.0.1:${receiverPort}/notices`,
      allowedNetworks: "127.0.0.0/8",
      backoff: { base: "50ms", max: "1s" },
      digestWindow: "1s",
    },
    rules: { dir: join(directory, "rules") },
    verification: { grace: "100ms", window: "400ms" },
    ledger: { dir: join(directory, "ledger") },
    gateway: { scope: "all", tokens: `storm ${token}`, flushInterval: "100ms" },
  };
}

function writeRules(folder: string): void {
  const rules = Object.entries(workflowOf).flatMap(([signalName, workflow]) =>
    workflow ? [{ name: signalName, match: { signalName }, workflow }] : [],
  );
  mkdirSync(folder);
  writeFileSync(join(folder, "storm.yaml"), stringify({ rules }));
}

function writeWorkflows(root: string, witness: StepWitness): void {
  for (const workflowId of Object.keys(deeds) as Deed[]) {
    const steps = [{ name: "run", script: witness.script(workflowId) }];
    const pipeline = { apiVersion: "tekton.dev/v1", kind: "Pipeline", metadata: { name: "workflow" } };
    const spec = { tasks: [{ name: "act", taskSpec: { steps } }] };
    mkdirSync(join(root, workflowId), { recursive: true });
    writeFileSync(join(root, workflowId, "pipeline.yaml"), stringify({ ...pipeline, spec }));
    const entry = {
      workflowId,
      version: "1.0.0",
      description: "For the storm.",
      engine: "local",
      targetKinds: ["node"],
    };
    writeFileSync(join(root, workflowId, "workflow.yaml"), stringify(entry));
  }
}
