import type { KubeClient, KubeObject, ResourceType } from "../../src/kube/index.ts";
import type { Analyzer } from "../../src/orchestrator/index.ts";
import { diagnose, type Rule } from "../../src/policy/index.ts";
import {
  annotationKeys,
  automationPauses,
  builtInKinds,
  cancelAnnotations,
  incidentName,
  isClosedIncident,
  isUnfinished,
  type RemediationRequest,
  remediationRequests,
  remediationWorkflows,
  workflowExecutions,
} from "../../src/resources/index.ts";
import type { SimServer } from "./sim-server.ts";
import type { World } from "./world.ts";

const nodes = ["worker-1", "worker-2"] as const;
/** The first two call for the same, and share it. */
const signals = ["DiskFull", "DiskInodes", "DiskSlow"] as const;
const namespace = "default";
const target = "node/{{ labels.node }}";
const rules: readonly Rule[] = [
  { name: "slow", match: { signalName: "DiskSlow" }, target, workflow: "defrag" },
  { name: "disk", match: { signalName: "/Disk.*/" }, target, workflow: "cleanup" },
];

export const simAnalyzer: Analyzer = {
  analyze: async (incident) => diagnose(incident, rules, builtInKinds),
  subscribe: () => () => {},
};

interface Problem {
  readonly fingerprint: string;
  readonly signalName: string;
  readonly node: string;
  /** Number of its newest incident. */
  n: number;
}

/** What the gateway would write for problems that come and go, and people who pause, acknowledge, cancel and delete. */
export class OrchestratorStory {
  readonly #world: World;
  readonly #server: SimServer;
  readonly #client: KubeClient;
  readonly #problems: readonly Problem[];
  readonly #pace: number;
  #stage: "trouble" | "peace" | "silence" = "trouble";

  constructor(world: World, server: SimServer) {
    this.#world = world;
    this.#server = server;
    this.#client = server.cluster.client("people");
    const { chance } = world;
    this.#problems = nodes
      .slice(0, chance.whole(1, 2))
      .flatMap((node) =>
        signals.map((signalName) => ({ fingerprint: `${signalName} ${node}`, signalName, node, n: 0 })),
      );
    this.#pace = chance.between(400, 3_000);
    this.#plan();
  }

  async addWorkflows(): Promise<void> {
    const { apiVersion, kind } = remediationWorkflows;
    for (const [workflowId, engine] of [
      ["cleanup", "tekton"],
      ["defrag", "job"],
    ] as const) {
      await this.#client.create(remediationWorkflows, {
        ...{ apiVersion, kind, metadata: { name: `${workflowId}-1`, namespace } },
        spec: { workflowId, engine, version: "1", description: workflowId, containerImage: `example/${workflowId}:1` },
      } as never);
    }
  }

  /** No interference any more; problems still come and go. */
  calmDown(): void {
    this.#stage = "peace";
  }

  /** Nothing happens any more. */
  fallSilent(): void {
    this.#stage = "silence";
  }

  #plan() {
    this.#world.in(this.#pace * this.#world.chance.between(0.1, 2), () => {
      if (this.#stage === "silence") return;
      void this.#next();
      this.#plan();
    });
  }

  #next(): Promise<void> {
    const { chance } = this.#world;
    const problem = chance.pick(this.#problems);
    const kind = chance.whole(0, 10);
    if (kind <= 5) return this.#report(problem);
    if (kind === 6) return this.#resolve(problem);
    if (kind === 7) return this.#acknowledge();
    if (kind === 10) return chance.happens(0.5) ? this.#cancelExecution() : this.#cancelIncident(problem);
    if (this.#stage === "peace") return this.#report(problem);
    return kind === 8 ? this.#pause() : this.#deleteExecution();
  }

  async #report(problem: Problem) {
    const known = await this.#newest(problem);
    const at = this.#nowAt();
    if (known && !isClosedIncident(known)) {
      const { deduplication } = known.status ?? {};
      return this.#write(known, {
        deduplication: {
          firstSeenAt: deduplication?.firstSeenAt ?? at,
          lastSeenAt: at,
          occurrenceCount: (deduplication?.occurrenceCount ?? 0) + 1,
        },
        resolvedAt: null,
      });
    }
    const { apiVersion, kind } = remediationRequests;
    const { fingerprint, signalName, node } = problem;
    await this.#client.create(remediationRequests, {
      ...{ apiVersion, kind, metadata: { name: incidentName(fingerprint, ++problem.n), namespace } },
      spec: {
        ...{ signalFingerprint: fingerprint, signalName, severity: "critical", firingTime: at, receivedTime: at },
        ...{ targetResource: { kind: "Node", name: node }, signalLabels: { node } },
      },
    });
  }

  async #resolve(problem: Problem) {
    const known = await this.#newest(problem);
    if (!known || isClosedIncident(known)) return;
    this.#world.struck("signal resolved");
    await this.#write(known, { resolvedAt: this.#nowAt() });
  }

  async #pause() {
    const { chance } = this.#world;
    const { apiVersion, kind } = automationPauses;
    const until = new Date(this.#server.clock.wallMs() + chance.between(100, 10_000)).toISOString();
    this.#world.struck("automation paused");
    await this.#client.create(automationPauses, {
      ...{ apiVersion, kind, metadata: { name: `pause-${chance.id()}`, namespace } },
      spec: { scope: "All", reason: "release", requestedBy: "kim", until },
    });
  }

  async #acknowledge() {
    const { items } = await this.#client.list(workflowExecutions, { namespace });
    const failed = items.filter(({ status }) => status?.phase === "Failed");
    if (failed.length === 0) return;
    this.#world.struck("failure acknowledged");
    const annotations = { [annotationKeys.acknowledge]: "looked at it", [annotationKeys.acknowledgedBy]: "kim" };
    await this.#annotate(workflowExecutions, this.#world.chance.pick(failed), annotations);
  }

  async #cancelExecution() {
    const { items } = await this.#client.list(workflowExecutions, { namespace });
    const open = items.filter(isUnfinished);
    if (open.length === 0) return;
    this.#world.struck("execution cancelled");
    await this.#annotate(workflowExecutions, this.#world.chance.pick(open), this.#cancelRequest());
  }

  async #cancelIncident(problem: Problem) {
    const known = await this.#newest(problem);
    if (!known || isClosedIncident(known)) return;
    this.#world.struck("incident cancelled");
    await this.#annotate(remediationRequests, known, this.#cancelRequest());
  }

  #cancelRequest() {
    return cancelAnnotations({ by: "kim", reason: "wrong node", blocks: this.#world.chance.happens(0.3) });
  }

  async #annotate<T extends KubeObject>(type: ResourceType<T>, { metadata }: T, annotations: object) {
    const { name = "" } = metadata;
    await this.#client.patch(type, { namespace, name }, { merge: { metadata: { annotations } } });
  }

  async #deleteExecution() {
    const { items } = await this.#client.list(workflowExecutions, { namespace });
    if (items.length === 0 || this.#world.chance.happens(0.5)) return;
    this.#world.struck("execution deleted");
    const { name = "" } = this.#world.chance.pick(items).metadata;
    await this.#client.delete(workflowExecutions, { namespace, name });
  }

  async #newest({ fingerprint, n }: Problem): Promise<RemediationRequest | undefined> {
    return n === 0
      ? undefined
      : this.#client.get(remediationRequests, { namespace, name: incidentName(fingerprint, n) });
  }

  async #write({ metadata, status }: RemediationRequest, change: object) {
    const { name = "", resourceVersion } = metadata;
    const merge = {
      metadata: { resourceVersion },
      status: { ...(status?.phase ? {} : { phase: "Pending" }), ...change },
    };
    await this.#client.patch(remediationRequests, { namespace, name }, { merge }, { subresource: "status" });
  }

  #nowAt(): string {
    return new Date(this.#server.clock.wallMs()).toISOString();
  }
}
