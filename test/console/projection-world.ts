import { openProjection } from "../../src/console/projection/open-projection.ts";
import type { Projection } from "../../src/console/projection/projection.ts";
import type { Changes, Row, RowKind } from "../../src/console/wire.ts";
import { type KubeClient, type KubeObject, nameHash, type ResourceType } from "../../src/kube/index.ts";
import {
  type AutomationPause,
  automationPauses,
  executionNamespace,
  installCrds,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type RemediationTarget,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  type WorkflowExecution,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { ManualClock, settle } from "../doubles/manual-clock.ts";
import { recordingLogger } from "../doubles/recording-logger.ts";
import { testCluster } from "../doubles/test-cluster.ts";
import { Chance } from "../sim/chance.ts";

export const namespace = "kubernaut-system";
export const minute = 60_000;

/** One event of a stream, as a browser receives it. */
export interface StreamEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: Partial<Changes> & Readonly<Record<string, unknown>>;
}

/** An API server in memory, projections of its objects, and a manual clock. */
export class ProjectionWorld {
  readonly clock = new ManualClock();
  readonly random = new Chance(1);
  readonly log = recordingLogger();
  readonly cluster = testCluster({
    clock: this.clock,
    random: this.random,
    namespaces: ["default", namespace, executionNamespace],
  });
  readonly client: KubeClient = this.cluster.client();

  static async open(): Promise<ProjectionWorld> {
    const world = new ProjectionWorld();
    await installCrds(world.client);
    return world;
  }

  open(client: KubeClient = this.client, idleMs = 5 * minute): Projection {
    const { clock, random, log } = this;
    return openProjection({ client, clock, random, log, idleMs, namespace, maxConsecutiveFailures: 5 });
  }

  /** The events that a viewer receives, in the order in which they come. */
  view(projection: Projection, kinds: readonly RowKind[] = ["incidents"], after?: string) {
    const stop = new AbortController();
    const events: StreamEvent[] = [];
    const done = (async () => {
      const request = { kinds, signal: stop.signal, ...(after === undefined ? {} : { after }) };
      for await (const frame of projection.stream(request)) events.push(parseEvent(Buffer.from(frame).toString()));
    })();
    const leave = async () => {
      stop.abort();
      await done;
    };
    return { events, leave, changes: () => events.filter(({ event }) => event === "changes").map(({ data }) => data) };
  }

  /** Lets watches deliver and changes be sent. */
  async pass(ms = 200): Promise<void> {
    for (let i = 0; i < 20; i++) await settle();
    await this.clock.advance(ms);
  }

  async incident(name: string, status?: object, ageMs = 0): Promise<void> {
    const at = new Date(this.clock.wallMs() - ageMs).toISOString();
    const spec = {
      signalFingerprint: name,
      signalName: "DiskFull",
      severity: "warning",
      targetResource: { kind: "Node", name: "worker-1" },
      firingTime: at,
      receivedTime: at,
      signalLabels: { team: "payment" },
      originalPayload: "x".repeat(2_000),
    };
    await this.put<RemediationRequest>(remediationRequests, { metadata: { name, namespace }, spec }, status);
  }

  async execution(name: string, status?: object, incident?: string): Promise<void> {
    const spec = {
      workflowRef: { workflowId: "cleanup", containerImage: "img" },
      targetResource: "node/worker-1",
      ...(incident === undefined ? {} : { remediationRequestRef: { name: incident, namespace } }),
    };
    await this.put<WorkflowExecution>(workflowExecutions, { metadata: { name, namespace }, spec }, status);
  }

  async record(target: string, status: object): Promise<void> {
    const metadata = { name: nameHash(target), namespace: executionNamespace };
    await this.put<RemediationTarget>(remediationTargets, { metadata, spec: { targetResource: target } }, status);
  }

  async approval(name: string, incident: string | undefined, status?: object): Promise<void> {
    const spec = {
      ...(incident !== undefined && { remediationRequestRef: { name: incident } }),
      targetResource: "node/worker-1",
      recommendedWorkflow: { workflowId: "cleanup" },
      whyApprovalRequired: "it drains the node",
      requiredBy: new Date(this.clock.wallMs() + 60 * minute).toISOString(),
    };
    const approval = { metadata: { name, namespace }, spec };
    await this.put<RemediationApprovalRequest>(remediationApprovalRequests, approval, status);
  }

  async pause(name: string, scope: AutomationPause["spec"]): Promise<void> {
    await this.put<AutomationPause>(automationPauses, { metadata: { name, namespace }, spec: scope });
  }

  async deleteIncident(name: string): Promise<void> {
    await this.client.delete(remediationRequests, { name, namespace });
  }

  /** Creates an object unless it is there, then writes its status. */
  async put<T extends KubeObject>(type: ResourceType<T>, object: object, status?: object): Promise<void> {
    await this.client.create(type, object as T);
    if (!status) return;
    const { name = "", namespace: place = "" } = (object as T).metadata;
    const outcome = await this.client.patch(
      type,
      { name, namespace: place },
      { merge: { status } },
      { subresource: "status" },
    );
    if (outcome.kind !== "updated") throw new Error(`the status of ${name} was not written: ${outcome.kind}`);
  }
}

function parseEvent(text: string): StreamEvent {
  const fields = Object.fromEntries(
    text
      .trimEnd()
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]),
  ) as Readonly<Record<string, string>>;
  const { id, event = "", data = "" } = fields;
  return { ...(id === undefined ? {} : { id }), event, data: JSON.parse(data) };
}

/** A status of an incident on the node worker-1. */
export function blocked(reason: string, more: object = {}): object {
  return {
    phase: "Blocked",
    block: { reason, message: `because of ${reason}`, ...more },
    diagnosis: { target: "node/worker-1", workflowId: "cleanup", rule: "disk" },
  };
}

export function keys(rows: readonly Pick<Row, "key">[] | undefined): readonly string[] {
  return (rows ?? []).map(({ key }) => key.slice(key.indexOf("/") + 1));
}
