import { tektonEngine } from "../../src/engines/index.ts";
import { type Executor, type ExecutorOptions, startExecutor } from "../../src/executor/index.ts";
import type { KubeClient, KubeObject, ResourceType } from "../../src/kube/index.ts";
import { type MemoryLedger, memoryLedger } from "../../src/ledger/index.ts";
import { usualManifests } from "../../src/manifests/index.ts";
import { defaultPolicy } from "../../src/policy/index.ts";
import {
  builtInKinds,
  executionNamespace,
  fixedKinds,
  incidentName,
  installCrds,
  parseRecordedTarget,
  type RemediationTarget,
  type RemediationWorkflowSpec,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  remediationWorkflows,
  runName,
  targetHash,
  type WorkflowExecution,
  type WorkflowExecutionStatus,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { ManualClock, settle } from "../doubles/manual-clock.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { type RecordingLogger, recordingLogger } from "../doubles/recording-logger.ts";
import { type TestCluster, testCluster } from "../doubles/test-cluster.ts";
import { whyAgrees } from "../doubles/why-agrees.ts";

const retention = { retentionMs: 168 * 3_600_000, targetRetentionMs: 720 * 3_600_000 };

/** An API server in memory, with what an executor needs in it, and a manual clock. */
export class ExecutorWorld {
  readonly clock = new ManualClock();
  readonly cluster: TestCluster;
  readonly client: KubeClient;
  readonly ledger: MemoryLedger = memoryLedger();
  readonly log: RecordingLogger = recordingLogger();
  /** Of the latest replica: each declares its own. */
  metrics = promMetrics();
  readonly #executors: Executor[] = [];

  private constructor() {
    const namespaces = ["default", "kubernaut-system", executionNamespace];
    this.cluster = testCluster({ clock: this.clock, random: systemRandom(), namespaces });
    this.client = this.cluster.client();
  }

  static async open(): Promise<ExecutorWorld> {
    const world = new ExecutorWorld();
    await installCrds(world.client);
    for (const workflowId of ["cleanup", "restart", "node-disk-cleanup"]) await world.workflow({ workflowId });
    await world.workflow({ workflowId: "reboot", approval: { required: true } });
    return world;
  }

  /** One more replica. */
  async executor(options: Partial<ExecutorOptions> = {}): Promise<Executor> {
    this.metrics = promMetrics();
    const client = permittedClient(this.client, "executor", { ...usualManifests.places, incidents: "default" });
    const executor = startExecutor({
      client,
      engines: [tektonEngine(client)],
      ledger: this.ledger,
      kinds: fixedKinds(builtInKinds),
      namespace: executionNamespace,
      catalogNamespace,
      defaults: {
        engine: "tekton",
        serviceAccountName: undefined,
        timeoutMs: 30 * 60_000,
        cooldownMs: 5 * 60_000,
        allowOutsideCatalog: false,
      },
      settings: { ...defaultPolicy, runTtlMs: 3_600_000, ...retention, incidentsNamespace: "default" },
      clock: this.clock,
      random: systemRandom(),
      log: this.log,
      metrics: this.metrics,
      ...options,
    });
    this.#executors.push(executor);
    await this.settle();
    return executor;
  }

  /** Adds an entry to the catalog, or to what pretends to be one. */
  async workflow(spec: Partial<RemediationWorkflowSpec> = {}, namespace = catalogNamespace): Promise<void> {
    const { workflowId = "cleanup", version = "1" } = spec;
    const image = workflowId === "restart" ? "registry.invalid/restart:1" : "registry.invalid/cleanup:1";
    const { apiVersion, kind } = remediationWorkflows;
    const metadata = { name: `${workflowId}-${version}`, namespace };
    const usual = {
      workflowId,
      version,
      description: "Removes old files.",
      containerImage: image,
      pipeline: "workflow",
    };
    await this.client.create(remediationWorkflows, { apiVersion, kind, metadata, spec: { ...usual, ...spec } });
    await this.settle();
  }

  /** A person's approval of one run, of `reboot` on the usual target by default. */
  async approve(name: string, { workflowId = "reboot", ...other }: Partial<ApprovalDraft> = {}): Promise<void> {
    const { namespace = "default", target = "node/worker-1", version = "1", parameters, decision = "Approved" } = other;
    const { apiVersion, kind } = remediationApprovalRequests;
    const nowMs = this.clock.wallMs();
    await this.client.create(remediationApprovalRequests, {
      ...{ apiVersion, kind, metadata: { name, namespace } },
      spec: {
        targetResource: target,
        recommendedWorkflow: { workflowId, version, ...(parameters ? { parameters } : {}) },
        whyApprovalRequired: "the workflow requires it",
        requiredBy: new Date(nowMs + 3_600_000).toISOString(),
      },
    });
    if (decision === "none") return;
    const at = new Date(nowMs + (other.decidedLateMs ?? 0)).toISOString();
    const status = { decision, decidedBy: "kim", decidedAt: at, decisionMessage: "looked at it" };
    const ref = { name, namespace };
    await this.client.patch(remediationApprovalRequests, ref, { merge: { status } }, { subresource: "status" });
  }

  /** Replaces version 1 of a workflow by another one. */
  async replaceWorkflow(spec: Partial<RemediationWorkflowSpec>): Promise<void> {
    await this.removeWorkflow(spec.workflowId);
    await this.workflow(spec);
  }

  async removeWorkflow(workflowId = "cleanup"): Promise<void> {
    await this.client.delete(remediationWorkflows, { namespace: catalogNamespace, name: `${workflowId}-1` });
    await this.settle();
  }

  async execution(
    name: string,
    spec: Partial<WorkflowExecution["spec"]> = {},
    metadata: Partial<WorkflowExecution["metadata"]> = {},
  ): Promise<void> {
    await this.client.create(workflowExecutions, {
      apiVersion: workflowExecutions.apiVersion,
      kind: workflowExecutions.kind,
      metadata: { name, namespace: "default", ...metadata },
      spec: {
        workflowRef: { workflowId: "cleanup", containerImage: "registry.invalid/cleanup:1" },
        targetResource: "node/worker-1",
        ...spec,
      },
    });
    await this.settle();
  }

  /** An execution that the orchestrator made for an incident. */
  async forIncident(name: string, spec: Partial<WorkflowExecution["spec"]> = {}): Promise<void> {
    const owner = await this.#incident();
    const remediationRequestRef = { name: owner.name, namespace: "default", uid: owner.uid };
    await this.execution(name, { remediationRequestRef, ...spec }, { ownerReferences: [owner] });
  }

  async #incident() {
    const { apiVersion, kind } = remediationRequests;
    const name = incidentName("v1:test", 1);
    const at = new Date(this.clock.wallMs()).toISOString();
    await this.client.create(remediationRequests, {
      ...{ apiVersion, kind, metadata: { name, namespace: "default" } },
      spec: {
        ...{ signalFingerprint: "v1:test", signalName: "DiskFull", severity: "critical" },
        ...{ targetResource: { kind: "Node", name: "worker-1" }, firingTime: at, receivedTime: at },
      },
    });
    const { metadata } = await this.#need(remediationRequests, { namespace: "default", name });
    return { apiVersion: apiVersion, kind, name, uid: metadata.uid ?? "", controller: true };
  }

  async seen(name: string): Promise<WorkflowExecution> {
    return this.#need(workflowExecutions, { namespace: "default", name });
  }

  async status(name: string): Promise<Status> {
    return ((await this.seen(name)).status ?? {}) as Status;
  }

  /** Annotates the execution as a person would. */
  async annotate(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
    await this.client.patch(
      workflowExecutions,
      { namespace: "default", name },
      { merge: { metadata: { annotations } } },
    );
    await this.settle();
  }

  async delete(name: string): Promise<void> {
    await this.client.delete(workflowExecutions, { namespace: "default", name });
    await this.settle();
  }

  async exists(name: string): Promise<boolean> {
    return (await this.client.get(workflowExecutions, { namespace: "default", name })) !== undefined;
  }

  async passTime(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  eventTypes(name: string): readonly string[] {
    return this.ledger
      .events()
      .filter(({ facts }) => facts["execution"] === `default/${name}`)
      .map(({ type }) => type);
  }

  async record(target = "node/worker-1"): Promise<RemediationTarget> {
    return this.#need(remediationTargets, { namespace: executionNamespace, name: targetHash(targetOf(target)) });
  }

  async run(target = "node/worker-1"): Promise<PipelineRun | undefined> {
    return (await this.client.get(runs, { namespace: executionNamespace, name: runName(targetOf(target)) })) as
      | PipelineRun
      | undefined;
  }

  /** Writes what Tekton would when a run has begun, or has ended. `clockErrorMs`: how far its clock is ahead. */
  async report(
    status: "True" | "False" | "Unknown",
    { target = "node/worker-1", message = "", clockErrorMs = 0 } = {},
  ): Promise<void> {
    const run = await this.run(target);
    if (!run) throw new Error(`there is no run on ${target}`);
    const at = new Date(this.clock.wallMs() + clockErrorMs).toISOString();
    const reason = { True: "Succeeded", False: "Failed", Unknown: "Running" }[status];
    const condition = { type: "Succeeded", status, reason, message, lastTransitionTime: at };
    const ended = status === "Unknown" ? {} : { completionTime: at };
    const next = { ...run, status: { startTime: at, ...run.status, ...ended, conditions: [condition] } };
    await this.client.update(runs, next, { subresource: "status" });
    await this.settle();
  }

  async deleteRun(target = "node/worker-1"): Promise<void> {
    await this.client.delete(runs, { namespace: executionNamespace, name: runName(targetOf(target)) });
    await this.settle();
  }

  /** Until nothing happens any more without time passing. */
  async settle(): Promise<void> {
    for (let i = 0; i < 20; i++) {
      await settle();
      await this.clock.advance(0);
    }
  }

  /** Does not wait for replicas that are dead: they never stop. */
  async close(): Promise<void> {
    await whyAgrees({ client: this.client, events: () => this.ledger.events() });
    for (const executor of this.#executors) void executor.stop({ deadlineMs: 0 });
    await this.clock.advance(2_000);
  }

  async #need<T extends KubeObject>(type: ResourceType<T>, ref: { namespace: string; name: string }): Promise<T> {
    const object = await this.client.get(type, ref);
    if (!object) throw new Error(`there is no ${type.kind} ${ref.name}`);
    return object;
  }
}

interface ApprovalDraft {
  readonly workflowId: string;
  readonly namespace: string;
  readonly target: string;
  readonly version: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly decision: "Approved" | "Rejected" | "none";
  readonly decidedLateMs: number;
}

/** Where the catalog is. */
const catalogNamespace = "kubernaut-system";

const { runs } = tektonEngine({} as KubeClient);

/** As much of one as the tests look at. */
interface PipelineRun extends KubeObject {
  readonly spec: { readonly status?: string };
  readonly status?: object;
}

/** Every field that a status can have, in whatever phase. */
type Status = {
  readonly [K in KeysOf<WorkflowExecutionStatus>]?: Extract<WorkflowExecutionStatus, Record<K, unknown>>[K];
};
type KeysOf<T> = T extends unknown ? keyof T : never;

function targetOf(text: string) {
  const read = parseRecordedTarget(text);
  if (read.kind === "problem") throw new Error(read.problem);
  return read.target;
}
