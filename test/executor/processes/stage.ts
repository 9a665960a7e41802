import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { jobs } from "../../../src/engines/job/job.ts";
import { pipelineRuns } from "../../../src/engines/tekton/pipeline-run.ts";
import type { KubeClient, KubeObject } from "../../../src/kube/index.ts";
import { type LedgerEvent, readLedger, verifyLedger } from "../../../src/ledger/index.ts";
import {
  annotationKeys,
  type Engine,
  parseTarget,
  type RemediationTarget,
  remediationTargets,
  remediationWorkflows,
  targetHash,
  type WorkflowExecution,
  type WorkflowRef,
  workflowExecutions,
} from "../../../src/resources/index.ts";
import { bundle, interlockEntry, type Mutation } from "../../services/bundle.ts";
import { interlockProgram } from "../../services/program.ts";
import { ExecutorProcess, type Mishap } from "./executor-process.ts";
import { borrowedPlace, ownPlace, type Place } from "./place.ts";
import { type Deed, deeds, StepWitness } from "./step-witness.ts";

export interface StageOptions {
  readonly engines: readonly Engine[];
  /** As in the configuration. Short, so that the next may soon act. */
  readonly cooldown?: string;
  /** The cluster to play in, instead of an `interlock api` and controllers of our own. */
  readonly kubeconfigFile?: string | undefined;
  /** Mistakes to build into the program. */
  readonly mutations?: readonly Mutation[];
}

export interface ExecutionOrder {
  readonly engine: Engine;
  readonly target: string;
  readonly does: Deed;
  /** What to run for it, where it is not one of ours. */
  readonly image?: string | undefined;
  readonly workflowId?: string;
}

/** A real `interlock api`, controllers and executors, each a process of its own, and a witness that steps write to. */
export class Stage implements AsyncDisposable {
  readonly client: KubeClient;
  readonly witness: StepWitness;
  readonly #place: Place;
  readonly #directory: string;
  readonly #program: string;
  readonly #executors: ExecutorProcess[] = [];

  private constructor(parts: { directory: string; program: string; place: Place; witness: StepWitness }) {
    this.#directory = parts.directory;
    this.#program = parts.program;
    this.#place = parts.place;
    this.client = parts.place.client;
    this.witness = parts.witness;
  }

  static async open({ engines, cooldown = "10ms", kubeconfigFile, mutations }: StageOptions): Promise<Stage> {
    const directory = mkdtempSync(join(tmpdir(), "interlock-processes-"));
    const program = mutations
      ? await bundle(interlockEntry, join(directory, "interlock.mjs"), mutations)
      : await interlockProgram();
    const witness = new StepWitness(join(directory, "witness"));
    writeWorkflows(join(directory, "workflows"), witness);
    const needsControllers = engines.some((engine) => engine !== "local");
    const place = kubeconfigFile
      ? await borrowedPlace(kubeconfigFile)
      : await ownPlace(program, needsControllers ? behaviours(witness) : undefined);
    const config = {
      execution: {
        engines: engines.join(","),
        engine: engines[0],
        namespace: place.runsNamespace,
        catalogNamespace: place.namespace,
        workflowsDir: join(directory, "workflows"),
        localDir: join(directory, "local"),
      },
      // In the cluster of another user nothing is left elsewhere than in the namespaces that are removed.
      ...(kubeconfigFile && ownNamespaces(place.namespace)),
      resource_locking: { cooldown_period: cooldown },
      ledger: { dir: join(directory, "ledger") },
    };
    writeFileSync(join(directory, "config.yaml"), stringify(config));
    return new Stage({ directory, program, place, witness });
  }

  /** One more process, with a data directory of its own. All share the ledger and the local engine's directory. */
  executor(...mishaps: readonly Mishap[]): ExecutorProcess {
    const number = this.#executors.length;
    const started = new ExecutorProcess({
      program: this.#program,
      kubeconfigFile: this.#place.kubeconfigFile,
      configFile: join(this.#directory, "config.yaml"),
      dataDir: join(this.#directory, `executor-${number}`),
      logFile: join(this.#directory, `executor-${number}.log`),
      mishaps,
    });
    this.#executors.push(started);
    return started;
  }

  async create(name: string, { engine, target, does, ...order }: ExecutionOrder): Promise<WorkflowExecution> {
    const workflow = {
      workflowId: order.workflowId ?? does,
      // The same workflow is another version for each engine.
      version: engine,
      containerImage: order.image ?? does,
      engine,
    };
    await this.#addToCatalog(workflow);
    const outcome = await this.client.create(workflowExecutions, {
      apiVersion: workflowExecutions.apiVersion,
      kind: workflowExecutions.kind,
      metadata: { name, namespace: this.#place.namespace },
      spec: { workflowRef: workflow, targetResource: target },
    });
    if (outcome.kind !== "created") throw new Error(`there is an execution ${name} already`);
    return outcome.object;
  }

  async #addToCatalog(workflow: WorkflowRef & { readonly version: string }): Promise<void> {
    const { apiVersion, kind } = remediationWorkflows;
    const { namespace } = this.#place;
    const name = `${workflow.workflowId}-${workflow.version}`;
    if (await this.client.get(remediationWorkflows, { namespace, name })) return;
    const spec = { ...workflow, description: "Writes to the witness.", pipeline: "workflow" };
    await this.client.create(remediationWorkflows, { apiVersion, kind, metadata: { name, namespace }, spec });
  }

  execution(name: string): Promise<WorkflowExecution | undefined> {
    return this.client.get(workflowExecutions, { namespace: this.#place.namespace, name });
  }

  async delete(name: string): Promise<void> {
    await this.client.delete(workflowExecutions, { namespace: this.#place.namespace, name });
  }

  async record(target: string): Promise<RemediationTarget | undefined> {
    const read = parseTarget(target);
    if (read.kind === "problem") throw new TypeError(read.problem);
    return this.client.get(remediationTargets, { namespace: this.#place.runsNamespace, name: targetHash(read.target) });
  }

  /** The runs, of any kind, that an execution made. */
  async runsOf(executionUid: string): Promise<readonly KubeObject[]> {
    return (await this.runs()).filter(
      ({ metadata }) => metadata.annotations?.[annotationKeys.executionUid] === executionUid,
    );
  }

  async runs(): Promise<readonly KubeObject[]> {
    const all = [];
    for (const type of [pipelineRuns, jobs] as const) {
      all.push(await this.client.list<KubeObject>(type, { namespace: this.#place.runsNamespace }));
    }
    return all.flatMap(({ items }) => items);
  }

  /** The events of the ledger, by uid of their execution. */
  async ledger(): Promise<ReadonlyMap<string, readonly LedgerEvent[]>> {
    const trails = new Map<string, LedgerEvent[]>();
    for await (const event of readLedger(join(this.#directory, "ledger"))) {
      const uid = String(event.facts["execution_id"] ?? "");
      trails.set(uid, [...(trails.get(uid) ?? []), event]);
    }
    return trails;
  }

  /** What is wrong with the ledger itself. */
  async ledgerProblems(): Promise<readonly unknown[]> {
    return (await verifyLedger(join(this.#directory, "ledger"))).problems;
  }

  /** What the executors have logged, the newest last. */
  logs(): string {
    const files = readdirSync(this.#directory).filter((name) => name.endsWith(".log"));
    return files.map((name) => `── ${name}\n${readFileSync(join(this.#directory, name), "utf8")}`).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#place.clear();
    for (const executor of this.#executors) await executor.kill();
    await this.#place.leave();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function ownNamespaces(namespace: string) {
  return { locks: { namespace }, gateway: { namespace }, agent: { namespace }, watermarks: { namespace } };
}

/** The same names for all engines: a bundle, an image, a folder. */
function behaviours(witness: StepWitness) {
  const names = Object.keys(deeds) as Deed[];
  const does = (name: Deed) => ({ do: "command", argv: ["/bin/sh", "-c", witness.script(name)] }) as const;
  const pipeline = (name: Deed) => ({ tasks: [{ name: "act", steps: [{ name: "run", does: does(name) }] }] });
  return {
    bundles: Object.fromEntries(names.map((name) => [name, pipeline(name)])),
    images: Object.fromEntries(names.map((name) => [name, does(name)])),
  };
}

function writeWorkflows(root: string, witness: StepWitness): void {
  for (const name of Object.keys(deeds) as Deed[]) {
    const steps = [{ name: "run", script: witness.script(name) }];
    const spec = { tasks: [{ name: "act", taskSpec: { steps } }] };
    const pipeline = { apiVersion: "tekton.dev/v1", kind: "Pipeline", metadata: { name: "workflow" }, spec };
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, "pipeline.yaml"), stringify(pipeline));
  }
}
