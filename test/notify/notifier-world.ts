import { inspect } from "node:util";
import { expect } from "vitest";
import { openNotify } from "../../src/app/index.ts";
import { type ConfigSources, loadConfig } from "../../src/config/index.ts";
import { iso, type KubeClient, nameHash } from "../../src/kube/index.ts";
import { memoryLedger } from "../../src/ledger/index.ts";
import {
  installCrds,
  type NotificationRequest,
  notificationRequests,
  type RemediationRequest,
  type RemediationRequestStatus,
  remediationRequests,
} from "../../src/resources/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { recordingLogger } from "../doubles/recording-logger.ts";
import { testCluster } from "../doubles/test-cluster.ts";

const namespace = "kubernaut-system";
const clock = systemClock();
const random = systemRandom();

/** A cluster with incidents and notices, and notifiers that deliver them. */
export class NotifierWorld implements AsyncDisposable {
  readonly client: KubeClient;
  readonly #ledger = memoryLedger();
  readonly #log = recordingLogger();
  readonly #printed: string[] = [];
  #running: { close(): Promise<void> }[] = [];
  #count = 0;

  constructor(client: KubeClient) {
    this.client = client;
  }

  static async start(): Promise<NotifierWorld> {
    const client = testCluster({ clock, random, namespaces: [namespace] }).client();
    await installCrds(client);
    return new NotifierWorld(client);
  }

  /** Starts a notifier for this machine, with short waits. `wrap` may add faults to its client. */
  async startNotifier(env: Record<string, string>, wrap?: (client: KubeClient) => KubeClient): Promise<void> {
    const quiet = { NOTIFY_CONSOLE: "false", NOTIFY_BACKOFF_BASE: "10ms", NOTIFY_ALLOWED_NETWORKS: "127.0.0.0/8" };
    await this.startConfigured({ env: { ...quiet, ...env } }, wrap);
  }

  /** Starts a notifier that has only the rights of the shipped roles. */
  async startConfigured(sources: ConfigSources, wrap = (client: KubeClient) => client): Promise<void> {
    const loaded = loadConfig(sources);
    if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
    const stage = await openNotify({
      loaded,
      client: wrap(permittedClient(this.client, "notify")),
      ledger: this.#ledger,
      clock,
      random,
      log: this.#log,
      metrics: promMetrics(),
      print: (line) => void this.#printed.push(line),
    });
    this.#running.push(stage);
  }

  async stopNotifiers(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((stage) => stage.close()));
  }

  async openIncident(): Promise<RemediationRequest> {
    const { apiVersion, kind } = remediationRequests;
    const name = `rr-${++this.#count}`;
    const outcome = await this.client.create(remediationRequests, {
      apiVersion,
      kind,
      metadata: { name, namespace },
      spec: {
        signalFingerprint: nameHash(name).padEnd(64, "0"),
        signalName: "DiskFull",
        severity: "critical",
        targetResource: { kind: "Node", name: "one" },
        firingTime: iso(Date.now()),
        receivedTime: iso(Date.now()),
      },
    });
    if (outcome.kind !== "created") throw new Error("the incident exists");
    return outcome.object;
  }

  async closeIncident({ metadata }: RemediationRequest, more: Partial<RemediationRequestStatus> = {}): Promise<void> {
    const incident = await this.client.get(remediationRequests, { name: metadata.name ?? "", namespace });
    if (!incident) throw new Error("the incident is gone");
    const at = iso(Date.now());
    const recorded = { type: "Recorded", status: "True", reason: "Completed", message: "m", lastTransitionTime: at };
    const status = { phase: "Completed", outcome: "Remediated", completedAt: at, conditions: [recorded], ...more };
    const closed = { ...incident, status } as RemediationRequest;
    await this.client.update(remediationRequests, closed, { subresource: "status" });
  }

  async notify(incident?: RemediationRequest, spec: Partial<NotificationRequest["spec"]> = {}): Promise<void> {
    const { apiVersion, kind } = notificationRequests;
    const { name = "", uid = "" } = incident?.metadata ?? {};
    await this.client.create(notificationRequests, {
      apiVersion,
      kind,
      metadata: { name: `notice-${++this.#count}`, namespace },
      spec: {
        eventType: "WorkflowFailed",
        severity: "warning",
        message: "It failed",
        ...(incident ? { remediationRequestRef: { name, namespace, uid } } : {}),
        ...spec,
      },
    });
  }

  async notices(): Promise<readonly NotificationRequest[]> {
    return (await this.client.list(notificationRequests)).items;
  }

  /** Waits until there are as many notices as expected, and all are settled. */
  async settled(count: number): Promise<readonly NotificationRequest[]> {
    const unsettled = async () => {
      const notices = await this.notices();
      const open = notices.filter(({ status }) => !status || !("completionTime" in status));
      return { count: notices.length, open: open.map(({ metadata, status }) => ({ name: metadata.name, status })) };
    };
    await expect.poll(unsettled, { interval: 20, timeout: 15_000 }).toEqual({ count, open: [] });
    return await this.notices();
  }

  /** Everything that a person or program could read. */
  async everything(): Promise<string> {
    return inspect([await this.notices(), this.#ledger.events(), this.#log.events, this.#printed], { depth: 9 });
  }

  async [Symbol.asyncDispose]() {
    await this.stopNotifiers();
  }
}
