import { memoryLocks } from "../../src/coordination/index.ts";
import {
  type FileOccurrenceLogOptions,
  type Gateway,
  type GatewayOptions,
  openFileOccurrenceLog,
  startGateway,
} from "../../src/gateway/index.ts";
import { type KubeClient, type KubeObject, namespaces, type ResourceType } from "../../src/kube/index.ts";
import { type MemoryLedger, memoryLedger } from "../../src/ledger/index.ts";
import {
  builtInKinds,
  defaultFingerprintFields,
  fixedKinds,
  installCrds,
  type RemediationRequest,
  remediationRequests,
  type Signal,
} from "../../src/resources/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { Dice } from "../chaos/dice.ts";
import { ManualClock, settle } from "../doubles/manual-clock.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { type RecordingLogger, recordingLogger } from "../doubles/recording-logger.ts";
import { type TestCluster, testCluster } from "../doubles/test-cluster.ts";
import { LossyDisk } from "../durability/lossy-disk.ts";

export const namespace = "kubernaut-system";

export const settings: GatewayOptions["settings"] = {
  namespace,
  fingerprintFields: defaultFingerprintFields,
  scope: "all",
  flushMs: 1_000,
  lockWaitMs: 2_000,
  lookupTimeoutMs: 2_000,
  maxOpenIncidents: 1_000_000,
  maxOpenIncidentsPerSender: 1_000_000,
};

/** An API server in memory, gateways on it, and manual time. */
export class GatewayWorld {
  /** Later than all times in the tests' signals: a time in the future counts as now. */
  readonly clock = new ManualClock(Date.parse("2026-11-15T12:00:00Z"));
  readonly cluster: TestCluster;
  readonly client: KubeClient;
  readonly ledger: MemoryLedger = memoryLedger();
  readonly log: RecordingLogger = recordingLogger();
  readonly disk = new LossyDisk(new Dice(1));
  #writers = 0;

  private constructor(more: readonly string[]) {
    this.cluster = testCluster({
      clock: this.clock,
      random: systemRandom(),
      namespaces: [...new Set([namespace, "payment", "batch", "interlock-watermarks", ...more])],
    });
    this.client = this.cluster.client();
  }

  /** With `more` namespaces than it has anyway. */
  static async open(more: readonly string[] = []): Promise<GatewayWorld> {
    const world = new GatewayWorld(more);
    await installCrds(world.client);
    return world;
  }

  /** One more replica, which counts in the status alone unless it is given an occurrence log. */
  async gateway(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
    const { clock, client, ledger, log } = this;
    const random = systemRandom();
    this.#writers++;
    const gateway = startGateway({
      client: permittedClient(client, "gateway"),
      locks: memoryLocks({ clock, random, who: "test" }),
      ledger,
      kinds: fixedKinds(builtInKinds),
      writer: `gw-${this.#writers}`,
      settings,
      clock,
      random,
      log,
      metrics: promMetrics(),
      ...options,
    });
    await this.settle();
    return gateway;
  }

  /** The occurrence log on this world's disk, whose earlier owner has died. */
  async occurrenceLog(options: Partial<FileOccurrenceLogOptions> = {}) {
    this.disk.kill();
    const { disk } = this.disk.open();
    const { clock, log } = this;
    return openFileOccurrenceLog({ directory: "/lossy", clock, log, openDisk: async () => disk, ...options });
  }

  async incidents(): Promise<readonly RemediationRequest[]> {
    return (await this.client.list(remediationRequests, { namespace })).items;
  }

  async only(): Promise<RemediationRequest> {
    const [incident, ...others] = await this.incidents();
    if (!incident || others.length > 0) throw new Error(`there are ${others.length + (incident ? 1 : 0)} incidents`);
    return incident;
  }

  /** As the orchestrator would. */
  async close(incident: RemediationRequest): Promise<void> {
    const { name = "" } = incident.metadata;
    const completedAt = new Date(this.clock.wallMs()).toISOString();
    const status = { phase: "Completed", outcome: "Remediated", completedAt };
    await this.client.patch(remediationRequests, { namespace, name }, { merge: { status } }, { subresource: "status" });
  }

  async object(type: ResourceType, object: KubeObject): Promise<KubeObject> {
    const outcome = await this.client.create(type, { apiVersion: type.apiVersion, kind: type.kind, ...object });
    if (outcome.kind !== "created") throw new Error("it is there already");
    return outcome.object;
  }

  /** A Node with such addresses, by their types. */
  async node(name: string, addresses: Readonly<Record<string, string>>): Promise<void> {
    await this.object(nodes, { metadata: { name } });
    const status = { addresses: Object.entries(addresses).map(([type, address]) => ({ type, address })) };
    await this.client.patch(nodes, { name }, { merge: { status } }, { subresource: "status" });
  }

  async label(type: ResourceType, name: string, labels: Record<string, string>, place?: string): Promise<void> {
    const ref = place === undefined ? { name } : { name, namespace: place };
    await this.client.patch(type, ref, { merge: { metadata: { labels } } });
  }

  async flush(): Promise<void> {
    await this.clock.advance(1_500);
    await this.settle();
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 10; i++) {
      await settle();
      await this.clock.advance(0);
    }
  }
}

export const pods: ResourceType = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };
const nodes: ResourceType = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false };
export const replicaSets: ResourceType = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  namespaced: true,
};
export const deployments: ResourceType = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
};
export const jobs: ResourceType = { apiVersion: "batch/v1", kind: "Job", plural: "jobs", namespaced: true };
export const cronJobs: ResourceType = { apiVersion: "batch/v1", kind: "CronJob", plural: "cronjobs", namespaced: true };
export { namespaces };

export function signal(change: Partial<Signal> = {}): Signal {
  return {
    status: "firing",
    source: "alertmanager",
    name: "DiskFull",
    severity: "critical",
    subject: { kind: "Node", name: "worker-1" },
    series: "a1",
    labels: { node: "worker-1" },
    annotations: { summary: "the disk is full" },
    firingAt: "2026-11-15T06:00:00.000Z",
    payload: { labels: { node: "worker-1" } },
    ...change,
  };
}

export function resolved(change: Partial<Signal> = {}): Signal {
  return signal({ status: "resolved", endedAt: "2026-11-15T06:10:00.000Z", ...change });
}
