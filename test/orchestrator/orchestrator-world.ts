import { type Locks, memoryLocks } from "../../src/coordination/index.ts";
import { tektonEngine } from "../../src/engines/index.ts";
import { type Executor, startExecutor } from "../../src/executor/index.ts";
import { type KubeClient, type KubeObject, nameHash, type ResourceType } from "../../src/kube/index.ts";
import { type MemoryLedger, memoryLedger } from "../../src/ledger/index.ts";
import {
  type Analyzer,
  type Orchestrator,
  type OrchestratorOptions,
  type OrchestratorSettings,
  startOrchestrator,
} from "../../src/orchestrator/index.ts";
import { defaultPolicy, diagnose, type Rule } from "../../src/policy/index.ts";
import {
  type AutomationPause,
  automationPauses,
  builtInKinds,
  executionNamespace,
  fixedKinds,
  incidentName,
  installCrds,
  type NotificationRequest,
  notificationRequests,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type RemediationRequestStatus,
  type RemediationTarget,
  type RemediationWorkflowSpec,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  remediationWorkflows,
  runName,
  type WorkflowExecution,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { type Clock, type Random, systemRandom } from "../../src/time/index.ts";
import { ManualClock, settle } from "../doubles/manual-clock.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { type RecordingLogger, recordingLogger } from "../doubles/recording-logger.ts";
import { type TestCluster, testCluster } from "../doubles/test-cluster.ts";
import { whyAgrees } from "../doubles/why-agrees.ts";

const retention = { retentionMs: 168 * 3_600_000, targetRetentionMs: 720 * 3_600_000 };

export const minute = 60_000;
const namespace = "kubernaut-system";

export const defaultSettings: OrchestratorSettings = {
  ...defaultPolicy,
  staleAfterMs: 24 * 60 * minute,
  staleAfterBySource: new Map([["alertmanager", 48 * 60 * minute]]),
  executionTimeoutMs: 60 * minute,
  approvalExpiresAfterMs: 60 * minute,
  verification: { graceMs: 2 * minute, windowMs: 15 * minute },
  notifyClosed: false,
  retentionMs: 24 * 60 * minute,
  engine: "tekton",
};

/** What a disk alert leads to: the node's clean-up. */
export const diskRule: Rule = {
  name: "disk",
  match: { signalName: "/Disk.*/" },
  target: "node/{{ labels.node }}",
  workflow: "cleanup",
};

/** Rules that can be changed while orchestrators run. */
class TestRules implements Analyzer {
  #rules: readonly Rule[] = [diskRule];
  readonly #listeners = new Set<() => void>();
  /** How often the rules were asked. */
  evaluations = 0;

  set(...rules: readonly Rule[]): void {
    this.#rules = rules;
    for (const changed of this.#listeners) changed();
  }

  async analyze(incident: RemediationRequest["spec"]) {
    this.evaluations++;
    return diagnose(incident, this.#rules, builtInKinds);
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }
}

interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
}

/** An API server in memory, an executor, orchestrators, and a manual clock. */
export class OrchestratorWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly cluster: TestCluster;
  readonly client: KubeClient;
  readonly ledger: MemoryLedger = memoryLedger();
  readonly log: RecordingLogger = recordingLogger();
  readonly rules = new TestRules();
  readonly locks: Locks;
  /** Of the latest orchestrator: each declares its own. */
  metrics = promMetrics();
  readonly #stages: (Executor | Orchestrator)[] = [];

  readonly #cleanUps: (() => Promise<unknown>)[] = [];

  private constructor(clock: Clock, random: Random) {
    this.clock = clock;
    this.random = random;
    const namespaces = ["default", namespace, executionNamespace];
    this.cluster = testCluster({ clock: this.clock, random, namespaces });
    this.client = this.cluster.client();
    this.locks = memoryLocks({ clock: this.clock, random, who: "test" });
  }

  static async open({
    clock = new ManualClock(),
    random = systemRandom(),
  }: Partial<Surroundings> = {}): Promise<OrchestratorWorld> {
    const world = new OrchestratorWorld(clock, random);
    await installCrds(world.client);
    await world.workflow();
    return world;
  }

  /** One more executor. */
  async executor(): Promise<Executor> {
    const client = permittedClient(this.client, "executor");
    const executor = startExecutor({
      client,
      engines: [tektonEngine(client)],
      ledger: this.ledger,
      kinds: fixedKinds(builtInKinds),
      namespace: executionNamespace,
      catalogNamespace: namespace,
      defaults: {
        engine: "tekton",
        serviceAccountName: undefined,
        timeoutMs: 180 * minute,
        cooldownMs: 5 * minute,
        allowOutsideCatalog: false,
      },
      settings: { ...defaultPolicy, runTtlMs: 60 * minute, ...retention, incidentsNamespace: namespace },
      clock: this.clock,
      random: this.random,
      log: this.log,
      metrics: promMetrics(),
    });
    this.#stages.push(executor);
    await this.settle();
    return executor;
  }

  /** One more replica. */
  async orchestrator(options: Partial<OrchestratorOptions> = {}): Promise<Orchestrator> {
    this.metrics = promMetrics();
    const orchestrator = startOrchestrator({
      client: permittedClient(this.client, "orchestrator"),
      analyzer: this.rules,
      locks: this.locks,
      ledger: this.ledger,
      kinds: fixedKinds(builtInKinds),
      namespace: executionNamespace,
      catalogNamespace: namespace,
      settings: defaultSettings,
      clock: this.clock,
      random: this.random,
      log: this.log,
      metrics: this.metrics,
      ...options,
    });
    this.#stages.push(orchestrator);
    await this.settle();
    return orchestrator;
  }

  /** An entry of the catalog. */
  async workflow(spec: Partial<RemediationWorkflowSpec> = {}): Promise<void> {
    const { workflowId = "cleanup", version = "1" } = spec;
    await this.client.create(remediationWorkflows, {
      apiVersion: remediationWorkflows.apiVersion,
      kind: remediationWorkflows.kind,
      metadata: { name: `${workflowId}-${version}`, namespace },
      spec: {
        workflowId,
        version,
        description: "Removes old files.",
        engine: "tekton",
        containerImage: "registry.invalid/cleanup:1",
        pipeline: "workflow",
        ...spec,
      },
    });
    await this.settle();
  }

  /** The incident that the gateway would open for a signal, as the `n`-th of `fingerprint`. */
  async incident(fingerprint: string, spec: Partial<RemediationRequest["spec"]> = {}, n = 1): Promise<string> {
    const name = incidentName(fingerprint, n);
    await this.client.create(remediationRequests, this.draft(fingerprint, spec, n));
    await this.settle();
    return name;
  }

  draft(fingerprint: string, spec: Partial<RemediationRequest["spec"]> = {}, n = 1): RemediationRequest {
    const at = this.nowAt();
    return {
      apiVersion: remediationRequests.apiVersion,
      kind: remediationRequests.kind,
      metadata: { name: incidentName(fingerprint, n), namespace },
      spec: {
        signalFingerprint: fingerprint,
        signalName: "DiskFull",
        severity: "critical",
        targetResource: { kind: "Node", name: "worker-1" },
        firingTime: at,
        receivedTime: at,
        signalLabels: { node: "worker-1" },
        ...spec,
      },
    };
  }

  /** The gateway counts one more signal. */
  async report(name: string): Promise<void> {
    const { deduplication } = await this.status(name);
    const at = this.nowAt();
    const first = deduplication?.firstSeenAt ?? at;
    const occurrenceCount = (deduplication?.occurrenceCount ?? 0) + 1;
    await this.#gateway(name, {
      deduplication: { firstSeenAt: first, lastSeenAt: at, occurrenceCount },
      resolvedAt: null,
    });
  }

  /** The gateway writes which series fire, as it stores them. */
  async reportSeries(name: string, series: Readonly<Record<string, object | null>>, severity: string): Promise<void> {
    const at = this.nowAt();
    const seen = { firstSeenAt: at, lastSeenAt: at, occurrenceCount: 1 };
    await this.#gateway(name, { deduplication: { ...seen, series, severity } });
  }

  /** The gateway receives the signal that it is over. */
  async resolve(name: string): Promise<void> {
    await this.#gateway(name, { resolvedAt: this.nowAt() });
  }

  async seen(name: string): Promise<RemediationRequest> {
    return this.#need(remediationRequests, { namespace, name });
  }

  async status(name: string): Promise<Status> {
    return ((await this.seen(name)).status ?? {}) as Status;
  }

  async exists(name: string): Promise<boolean> {
    return (await this.client.get(remediationRequests, { namespace, name })) !== undefined;
  }

  async annotate(name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
    await this.client.patch(remediationRequests, { namespace, name }, { merge: { metadata: { annotations } } });
    await this.settle();
  }

  async deleteIncident(name: string): Promise<void> {
    await this.client.delete(remediationRequests, { namespace, name });
    await this.settle();
  }

  /** Oldest first. */
  async executions(): Promise<readonly WorkflowExecution[]> {
    const { items } = await this.client.list(workflowExecutions);
    return [...items].sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  }

  async deleteExecution(name: string): Promise<void> {
    await this.client.delete(workflowExecutions, { namespace, name });
    await this.settle();
  }

  async approvals(): Promise<readonly RemediationApprovalRequest[]> {
    return (await this.client.list(remediationApprovalRequests)).items;
  }

  async answer(approval: RemediationApprovalRequest, decision: "Approved" | "Rejected"): Promise<void> {
    const status = { decision, decidedBy: "kim", decidedAt: this.nowAt(), decisionMessage: "looked at it" };
    const current = await this.#need(remediationApprovalRequests, { namespace, name: approval.metadata.name ?? "" });
    await this.client.update(remediationApprovalRequests, { ...current, status }, { subresource: "status" });
    await this.settle();
  }

  async deleteApproval(name: string): Promise<void> {
    await this.client.delete(remediationApprovalRequests, { namespace, name });
    await this.settle();
  }

  async pause(name: string, spec: Partial<AutomationPause["spec"]> = {}): Promise<void> {
    await this.client.create(automationPauses, {
      apiVersion: automationPauses.apiVersion,
      kind: automationPauses.kind,
      metadata: { name, namespace },
      spec: { scope: "All", reason: "maintenance", requestedBy: "kim", ...spec } as AutomationPause["spec"],
    });
    await this.settle();
  }

  async endPause(name: string): Promise<void> {
    await this.client.delete(automationPauses, { namespace, name });
    await this.settle();
  }

  async record(target = "node/worker-1"): Promise<RemediationTarget> {
    return this.#need(remediationTargets, { namespace: executionNamespace, name: nameHash(target) });
  }

  async deleteRecord(target = "node/worker-1"): Promise<void> {
    await this.client.delete(remediationTargets, { namespace: executionNamespace, name: nameHash(target) });
    await this.settle();
  }

  async notices(): Promise<readonly NotificationRequest[]> {
    return (await this.client.list(notificationRequests)).items;
  }

  async run(target = "node/worker-1"): Promise<KubeObject | undefined> {
    return this.client.get(runs, { namespace: executionNamespace, name: runName({ text: target } as never) });
  }

  /** Writes what Tekton would when a run has begun, or has ended. */
  async reportRun(status: "True" | "False" | "Unknown", target = "node/worker-1"): Promise<void> {
    const run = (await this.run(target)) as (KubeObject & { status?: object }) | undefined;
    if (!run) throw new Error(`there is no run on ${target}`);
    const at = this.nowAt();
    const reason = { True: "Succeeded", False: "Failed", Unknown: "Running" }[status];
    const condition = { type: "Succeeded", status, reason, message: "", lastTransitionTime: at };
    const ended = status === "Unknown" ? {} : { completionTime: at };
    const next = { ...run, status: { startTime: at, ...run.status, ...ended, conditions: [condition] } };
    await this.client.update(runs, next, { subresource: "status" });
    await this.settle();
  }

  /** The run goes away after it had begun: a failure while acting. */
  async loseRun(target = "node/worker-1"): Promise<void> {
    await this.reportRun("Unknown", target);
    await this.client.delete(runs, { namespace: executionNamespace, name: runName({ text: target } as never) });
    await this.settle();
  }

  eventTypes(name: string): readonly string[] {
    return this.ledger
      .events()
      .filter(({ facts }) => facts["remediation_id"] === name)
      .map(({ type }) => type);
  }

  nowAt(): string {
    return new Date(this.clock.wallMs()).toISOString();
  }

  async passTime(ms: number): Promise<void> {
    if (!(this.clock instanceof ManualClock)) throw new TypeError("time passes by itself here");
    await this.clock.advance(ms);
    await this.settle();
  }

  /** Done when the world is closed, the latest first. */
  cleanUp = (step: () => Promise<unknown>): void => {
    this.#cleanUps.push(step);
  };

  /** Until nothing happens any more without time passing. */
  async settle(): Promise<void> {
    for (let i = 0; i < 30; i++) {
      await settle();
      if (this.clock instanceof ManualClock) await this.clock.advance(0);
    }
  }

  async close(): Promise<void> {
    await whyAgrees({ client: this.client, events: () => this.ledger.events() });
    const stopped = this.#stages.map((stage) => stage.stop({ deadlineMs: 0 }));
    if (this.clock instanceof ManualClock) await this.clock.advance(2_000);
    else await Promise.all(stopped);
    await this.locks.close();
    for (const step of this.#cleanUps.reverse()) await step();
  }

  async #gateway(name: string, status: object): Promise<void> {
    const { phase } = await this.status(name);
    const patch = { merge: { status: { ...(phase ? {} : { phase: "Pending" }), ...status } } };
    await this.client.patch(remediationRequests, { namespace, name }, patch, { subresource: "status" });
    await this.settle();
  }

  async #need<T extends KubeObject>(type: ResourceType<T>, ref: { namespace: string; name: string }): Promise<T> {
    const object = await this.client.get(type, ref);
    if (!object) throw new Error(`there is no ${type.kind} ${ref.name}`);
    return object;
  }
}

const { runs } = tektonEngine({} as KubeClient);

/** Every field that a status can have, in whatever phase. */
type Status = {
  readonly [K in KeysOf<RemediationRequestStatus>]?: ValueOf<RemediationRequestStatus, K>;
};
type KeysOf<T> = T extends unknown ? keyof T : never;
type ValueOf<T, K extends PropertyKey> = T extends { readonly [P in K]?: infer V } ? V : never;
