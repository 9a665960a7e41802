import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type LocalRunner,
  type LocalRunnerOptions,
  localEngine,
  type RunOrder,
  startLocalRunner,
} from "../../../src/engines/index.ts";
import { systemFiles } from "../../../src/engines/local/runner/files.ts";
import { listRunFolders } from "../../../src/engines/local/runner/run-folder.ts";
import { systemProcesses } from "../../../src/engines/local/steps/system-processes.ts";
import { type PipelineRun, pipelineRuns, type TaskRun, taskRuns } from "../../../src/engines/tekton/pipeline-run.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { promMetrics, silentLogger } from "../../../src/telemetry/index.ts";
import { sleep, systemClock, systemRandom } from "../../../src/time/index.ts";
import { testCluster } from "../../doubles/test-cluster.ts";
import { runOrder } from "../run-order.ts";

export const namespace = "kubernaut-workflows";

/** A machine with an API server, workflow folders and a data directory, on which local runs take place. */
export class LocalStage {
  readonly root = mkdtempSync(join(tmpdir(), "interlock-local-"));
  readonly workflowsRoot = join(this.root, "workflows");
  readonly dataDir = join(this.root, "data");
  readonly witnessFile = join(this.root, "witness");
  readonly client: KubeClient;
  readonly #runners: LocalRunner[] = [];

  constructor(
    client: KubeClient = testCluster({
      clock: systemClock(),
      random: systemRandom(),
      namespaces: [namespace],
    }).client(),
  ) {
    this.client = client;
    mkdirSync(this.workflowsRoot);
    writeFileSync(this.witnessFile, "");
  }

  get engine() {
    return localEngine({ client: this.client, workflowsRoot: this.workflowsRoot, stepsHaveKubeconfig: false });
  }

  runnerOptions(special: Partial<LocalRunnerOptions> = {}): LocalRunnerOptions {
    return {
      client: this.client,
      clock: systemClock(),
      random: systemRandom(),
      log: silentLogger,
      metrics: promMetrics(),
      dataDir: this.dataDir,
      workflowsRoot: this.workflowsRoot,
      namespace,
      env: { WITNESS: this.witnessFile },
      graceMs: 500,
      progressMs: 20,
      ...special,
    };
  }

  async startRunner(special: Partial<LocalRunnerOptions> = {}): Promise<LocalRunner> {
    const runner = await startLocalRunner(this.runnerOptions(special));
    this.#runners.push(runner);
    return runner;
  }

  /** Writes a workflow's pipeline file. */
  workflow(name: string, text: string): void {
    mkdirSync(join(this.workflowsRoot, name), { recursive: true });
    writeFileSync(join(this.workflowsRoot, name, "pipeline.yaml"), text);
  }

  /** Creates the run of an order, suspended. */
  async create(order: RunOrder): Promise<PipelineRun> {
    const prepared = await this.engine.prepare(order);
    if (prepared.kind === "refused") throw new Error(prepared.message);
    const created = await this.client.create(pipelineRuns, prepared.run as PipelineRun);
    if (created.kind !== "created") throw new Error(`${order.name} is already there`);
    return created.object;
  }

  async begin(workflow: string, special: Partial<RunOrder> = {}): Promise<PipelineRun> {
    const order = runOrder({ workflow: { id: workflow, containerImage: workflow, pipeline: "workflow" }, ...special });
    const run = await this.create(order);
    const started = await this.client.patch(pipelineRuns, refOf(run), this.engine.start(run));
    if (started.kind !== "updated") throw new Error(`not started: ${started.kind}`);
    return started.object as PipelineRun;
  }

  /** The run as soon as `isSo`. */
  async until(run: PipelineRun, isSo: (run: PipelineRun) => boolean): Promise<PipelineRun> {
    const enough = new AbortController();
    try {
      const { items, resourceVersion } = await this.client.list(pipelineRuns, { namespace });
      const now = items.find(({ metadata }) => metadata.uid === run.metadata.uid);
      if (now && isSo(now)) return now;
      const events = this.client.watch(pipelineRuns, { namespace, resourceVersion }, { signal: enough.signal });
      for await (const event of events) {
        if (event.type === "BOOKMARK" || event.object.metadata.uid !== run.metadata.uid) continue;
        if (event.type === "DELETED") throw new Error("the run was deleted");
        if (isSo(event.object)) return event.object;
      }
      throw new Error("the watch ended");
    } finally {
      enough.abort();
    }
  }

  /** The run when it has ended, and nothing of it is left to do. */
  end(run: PipelineRun): Promise<PipelineRun> {
    return this.until(
      run,
      (now) => ["succeeded", "failed"].includes(this.engine.stateOf(now).kind) && !now.metadata.finalizers,
    );
  }

  async run(workflow: string, special: Partial<RunOrder> = {}): Promise<PipelineRun> {
    return await this.end(await this.begin(workflow, special));
  }

  async taskRuns(run: PipelineRun): Promise<readonly TaskRun[]> {
    const { items } = await this.client.list(taskRuns, {
      namespace,
      labelSelector: `tekton.dev/pipelineRunUID=${run.metadata.uid}`,
    });
    return items;
  }

  /** Waits until steps have appended so many lines: only the file knows. */
  async untilWitnessed(count = 1): Promise<void> {
    while (this.witnessed().length < count) await sleep(systemClock(), 10);
  }

  /** Lines that steps appended to the witness file. */
  witnessed(): string[] {
    return readFileSync(this.witnessFile, "utf8").split("\n").filter(Boolean);
  }

  /** Ends whatever a failed test left running. Returns the folders of the steps that were alive. */
  async killSteps(): Promise<readonly string[]> {
    const alive: string[] = [];
    for (const run of await listRunFolders(this.dataDir, systemFiles())) {
      for (const folder of await run.stepFolders()) {
        if (!(await systemProcesses().isAlive(folder))) continue;
        alive.push(folder);
        await systemProcesses().signal(folder, "SIGKILL");
      }
    }
    return alive;
  }

  async [Symbol.asyncDispose]() {
    for (const runner of this.#runners) await runner.stop();
    await this.killSteps();
    rmSync(this.root, { recursive: true, force: true });
  }
}

export function refOf({ metadata: { name = "" } }: PipelineRun) {
  return { namespace, name };
}

/** A pipeline file with tasks written as YAML, indented by four spaces. */
export function pipeline(spec: string): string {
  return `apiVersion: tekton.dev/v1\nkind: Pipeline\nmetadata: {name: workflow}\nspec:\n${spec}`;
}

/** A pipeline of one task with one script. */
export function script(text: string, more = ""): string {
  const lines = text
    .split("\n")
    .map((line) => `            ${line}`)
    .join("\n");
  return pipeline(
    `${more}  tasks:\n    - name: only\n      taskSpec:\n        steps:\n        - name: run\n          script: |\n${lines}\n`,
  );
}

/** Whether a process runs. One that has ended stays in the table until its parent reaps it; it does not run. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !["Z", "X"].includes(stat.charAt(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
