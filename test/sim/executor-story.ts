import type { Change } from "../../src/apiserver/object-store.ts";
import { runOwner } from "../../src/engines/index.ts";
import { jobs } from "../../src/engines/job/job.ts";
import { pipelineRuns } from "../../src/engines/tekton/pipeline-run.ts";
import type { KubeClient, KubeObject, ResourceType } from "../../src/kube/index.ts";
import {
  annotationKeys,
  automationPauses,
  cancelAnnotations,
  executionNamespace,
  labelKeys,
  remediationApprovalRequests,
  remediationTargets,
  remediationWorkflows,
  type WorkflowExecution,
  workflowExecutions,
} from "../../src/resources/index.ts";
import type { ExecutorHistory } from "./executor-history.ts";
import { runResources, runStage } from "./run-actors.ts";
import type { SimServer } from "./sim-server.ts";
import type { World } from "./world.ts";

const allTargets = ["node/worker-1", "payment/deployment/api", "payment/configmap/settings", "node/worker-2"] as const;
/** Other ways to write the same targets. */
const spellings: Readonly<Record<string, string>> = {
  "node/worker-1": "nodes/worker-1",
  "payment/deployment/api": "payment/deploy/api",
};
const workflows = ["restart", "cleanup", "resize"] as const;
const versions = ["1", "2"] as const;
const catalogEngines = { "1": "tekton", "2": "job" } as const;
/** What executions try that the catalog does not say. */
const differences = [
  { engine: "local" },
  { containerImage: "attacker.example/evil:1" },
  { serviceAccountName: "cluster-admin-sa" },
  { version: "3" },
  { workflowId: "unheard-of" },
] as const;
const allResources = ["workflowexecutions.kubernaut.ai", "remediationtargets.kubernaut.ai", ...runResources];

interface Stage {
  readonly world: World;
  readonly server: SimServer;
  readonly history: ExecutorHistory;
  readonly troubleMs: number;
}

interface Wish {
  readonly target?: string | undefined;
  readonly workflowId?: string | undefined;
  readonly version?: (typeof versions)[number];
}

/** What people, pipelines and janitors do: they create executions and meddle with everything, at random times. */
export class ExecutorStory {
  readonly #stage: Stage;
  readonly #client: KubeClient;
  readonly #targets: readonly string[];
  readonly #pace: number;
  /** How often a change is followed by meddling at once. */
  readonly #rushed: number;
  #names = 0;
  readonly #approvals: { readonly name: string; readonly covers: string }[] = [];
  #ended = false;

  constructor(stage: Stage) {
    this.#stage = stage;
    const { world, server } = stage;
    const { chance } = world;
    this.#client = server.cluster.client("people");
    this.#targets = allTargets.slice(0, chance.whole(2, 4));
    this.#pace = chance.between(800, 8_000);
    void this.#addToCatalog();
    this.#planExecutions(chance.whole(6, 15));
    this.#planMeddling();
    this.#rushed = chance.happens(0.7) ? chance.between(0, 0.1) : 0;
    for (const resource of allResources) server.cluster.witness(resource, () => this.#perhapsAtOnce());
    for (const resource of runResources) server.cluster.witness(resource, (change) => this.#runChanged(change));
  }

  /** From now on there is no interference and no pause. */
  end(): void {
    this.#ended = true;
  }

  /** Some at any time, some at the same moment as others. */
  #planExecutions(count: number) {
    const { world, troubleMs } = this.#stage;
    const { chance } = world;
    let at = 0;
    for (let i = 0; i < count; i++) {
      if (i === 0 || chance.happens(0.7)) at = chance.between(0, troubleMs);
      world.in(at + chance.between(0, 20), () => void this.#create());
    }
  }

  /** The worst moment to meddle is right after something was written, before every replica has observed it. */
  #perhapsAtOnce() {
    const { world } = this.#stage;
    if (this.#ended || !world.chance.happens(this.#rushed)) return;
    world.in(world.chance.between(0, 40), () => {
      if (!this.#ended) void this.#meddle();
    });
  }

  /** Janitors like to prune what is over, and people to try the same again. */
  #runChanged({ do: what, entry, previous }: Change) {
    const { world } = this.#stage;
    const run = entry.object;
    const hasJustEnded = what === "put" && isOver(run) && previous !== undefined && !isOver(previous.object);
    if (this.#ended || !hasJustEnded) return;
    if (world.chance.happens(0.2)) world.in(world.chance.between(0, 1_000), () => void this.#prune(run));
    if (!world.chance.happens(0.2)) return;
    const workflowId = run.metadata.labels?.[labelKeys.workflowId];
    const target = runOwner(run).target;
    const version = run.kind === jobs.kind ? "2" : "1";
    world.in(world.chance.between(0, 12_000), () => void this.#create({ target, workflowId, version }));
  }

  async #prune(run: KubeObject) {
    const { name = "", uid = "" } = run.metadata;
    const type = (run.kind === jobs.kind ? jobs : pipelineRuns) as ResourceType<KubeObject>;
    const options = { preconditions: { uid } };
    const outcome = await this.#client.delete(type, { namespace: executionNamespace, name }, options);
    if (outcome.kind === "deleted") this.#struck("finished run pruned by a third party");
  }

  #planMeddling() {
    const { world } = this.#stage;
    world.in(this.#pace * world.chance.between(0.2, 2), () => {
      if (this.#ended) return;
      void this.#meddle();
      this.#planMeddling();
    });
  }

  async #changeCatalog() {
    const { chance } = this.#stage.world;
    this.#struck("catalog changed");
    const [workflowId, version] = [chance.pick(workflows), chance.pick(versions)];
    const name = `${workflowId}-${version}`;
    const outcome = await this.#client.delete(remediationWorkflows, { namespace: "default", name });
    // It is corrected at once, or the next time.
    if (outcome.kind === "not-found" || chance.happens(0.5)) await this.#addEntry(workflowId, version);
  }

  async #addToCatalog() {
    for (const workflowId of workflows) for (const version of versions) await this.#addEntry(workflowId, version);
  }

  /** Every workflow wants a size. The second version of each is run by the other engine, and that of `resize` is approved. */
  async #addEntry(workflowId: string, version: (typeof versions)[number]) {
    const { apiVersion, kind } = remediationWorkflows;
    await this.#client.create(remediationWorkflows, {
      ...{ apiVersion, kind, metadata: { name: `${workflowId}-${version}`, namespace: "default" } },
      spec: {
        ...{ workflowId, version, description: "does it", containerImage: catalogImage(workflowId) },
        engine: catalogEngines[version],
        parameters: { properties: { size: { type: "integer" } }, required: ["size"] },
        ...(needsApproval(workflowId, version) ? { approval: { required: true } } : {}),
      },
    } as never);
  }

  /** An approval of just that, an earlier one, an unanswered one, or none. */
  async #approval(workflowId: string, version: string, target: string): Promise<string | undefined> {
    const { chance } = this.#stage.world;
    const { apiVersion, kind } = remediationApprovalRequests;
    if (chance.happens(0.1)) return undefined;
    const covers = `${workflowId} ${version} ${target}`;
    const same = this.#approvals.filter((approval) => approval.covers === covers);
    if (same.length > 0 && chance.happens(0.6)) return chance.pick(same).name;
    if (this.#approvals.length > 0 && chance.happens(0.1)) return chance.pick(this.#approvals).name;
    const name = `a${this.#approvals.length + 1}`;
    this.#approvals.push({ name, covers });
    const nowMs = this.#stage.server.clock.wallMs();
    const requiredBy = new Date(nowMs + 60_000).toISOString();
    await this.#client.create(remediationApprovalRequests, {
      ...{ apiVersion, kind, metadata: { name, namespace: "default" } },
      spec: {
        ...{ targetResource: target, recommendedWorkflow: { workflowId, version, parameters: { size: 3 } } },
        ...{ whyApprovalRequired: "the workflow requires it", requiredBy },
      },
    });
    if (chance.happens(0.1)) return name;
    const decision = chance.happens(0.9) ? "Approved" : "Rejected";
    const status = { decision, decidedBy: "kim", decidedAt: new Date(nowMs).toISOString(), decisionMessage: "looked" };
    const ref = { name, namespace: "default" };
    await this.#client.patch(remediationApprovalRequests, ref, { merge: { status } }, { subresource: "status" });
    return name;
  }

  async #create(wish: Wish = {}) {
    const { chance } = this.#stage.world;
    const { apiVersion, kind } = workflowExecutions;
    const { target = chance.pick(this.#targets), workflowId = chance.pick(workflows) } = wish;
    if (this.#ended) return;
    const isReused = this.#names > 0 && chance.happens(0.1);
    const name = `e${isReused ? chance.whole(1, this.#names) : ++this.#names}`;
    const isInvalid = chance.happens(0.15);
    if (isInvalid) this.#struck("invalid execution");
    const { version = chance.pick(versions) } = wish;
    const engine = chance.happens(0.5) ? { engine: catalogEngines[version] } : {};
    // An attacker's execution is right in all other respects.
    const difference = isInvalid && chance.happens(0.5) ? chance.pick(differences) : undefined;
    const approval = needsApproval(workflowId, version) ? await this.#approval(workflowId, version, target) : undefined;
    await this.#client.create(workflowExecutions, {
      ...{ apiVersion, kind },
      metadata: {
        ...{ name, namespace: "default" },
        ...(approval === undefined ? {} : { annotations: { [annotationKeys.approval]: approval } }),
      },
      spec: {
        workflowRef: {
          ...{ workflowId, version, containerImage: catalogImage(workflowId) },
          ...engine,
          ...difference,
        },
        targetResource: isInvalid && !difference && chance.happens(0.3) ? "no-kind-of/thing" : this.#spelled(target),
        ...(isInvalid && !difference ? {} : { parameters: { size: 3 } }),
      },
    });
  }

  #spelled(target: string): string {
    return this.#stage.world.chance.happens(0.3) ? (spellings[target] ?? target) : target;
  }

  async #meddle() {
    const { chance } = this.#stage.world;
    switch (chance.whole(0, 10)) {
      case 0:
      case 1:
        return this.#deleteExecution();
      case 2:
      case 3:
        return this.#acknowledge();
      case 4:
        return this.#pause();
      case 5:
        return this.#deleteOne(remediationTargets, "record deleted by a third party");
      case 6:
        return this.#deleteOne(this.#kindOfRun(), "finished run pruned by a third party", isOver);
      case 7:
        return this.#deleteOne(this.#kindOfRun(), "active run deleted by a third party", (run) => !isOver(run));
      case 8:
        return this.#changeCatalog();
      case 9:
        return this.#cancel();
      default:
        return this.#removeByForce();
    }
  }

  async #deleteExecution() {
    const execution = await this.#pickExecution(() => true);
    if (!execution) return;
    this.#struck("execution deleted");
    await this.#client.delete(workflowExecutions, refOf(execution));
  }

  async #acknowledge() {
    const execution = await this.#pickExecution(({ status }) => status?.phase === "Failed");
    if (!execution) return;
    this.#struck("failure acknowledged");
    const annotations = { [annotationKeys.acknowledge]: "looked at it", [annotationKeys.acknowledgedBy]: "kim" };
    await this.#client.patch(workflowExecutions, refOf(execution), { merge: { metadata: { annotations } } });
  }

  async #cancel() {
    const execution = await this.#pickExecution(({ status }) => !status || !("completionTime" in status));
    if (!execution) return;
    this.#struck("execution cancelled");
    const blocks = this.#stage.world.chance.happens(0.3);
    const annotations = cancelAnnotations({ by: "kim", reason: "not needed", blocks });
    await this.#client.patch(workflowExecutions, refOf(execution), { merge: { metadata: { annotations } } });
  }

  async #pause() {
    const { world, server } = this.#stage;
    const { chance } = world;
    const { apiVersion, kind } = automationPauses;
    const until = new Date(server.clock.wallMs() + chance.between(100, 10_000)).toISOString();
    this.#struck("automation paused");
    await this.#client.create(automationPauses, {
      ...{ apiVersion, kind, metadata: { name: `pause-${chance.id()}`, namespace: "default" } },
      spec: {
        ...{ scope: "Target", targetResource: chance.pick(this.#targets) },
        ...{ reason: "release", requestedBy: "kim", until },
      },
    });
  }

  /** Takes the finalizer away and deletes, as people do with what does not want to go. */
  async #removeByForce() {
    const execution = await this.#pickExecution(({ metadata }) => (metadata.finalizers ?? []).length > 0);
    if (!execution || this.#stage.world.chance.happens(0.5)) return;
    this.#struck("execution removed by force");
    this.#stage.history.forced(execution.metadata.uid ?? "");
    await this.#client.patch(workflowExecutions, refOf(execution), { merge: { metadata: { finalizers: null } } });
    await this.#client.delete(workflowExecutions, refOf(execution));
  }

  #kindOfRun(): ResourceType<KubeObject> {
    return this.#stage.world.chance.pick([pipelineRuns, jobs] as readonly ResourceType<KubeObject>[]);
  }

  async #deleteOne<T extends KubeObject>(
    type: ResourceType<T>,
    fault: string,
    fits: (object: T) => boolean = () => true,
  ) {
    const { items } = await this.#client.list(type, { namespace: executionNamespace });
    const fitting = items.filter(fits);
    if (fitting.length === 0) return;
    this.#struck(fault);
    const chosen = this.#stage.world.chance.pick(fitting);
    const { name = "" } = chosen.metadata;
    this.#stage.history.meddledWith(chosen);
    const propagation = this.#stage.world.chance.pick(["Foreground", "Background"] as const);
    await this.#client.delete(type, { namespace: executionNamespace, name }, { propagation });
  }

  async #pickExecution(fits: (execution: WorkflowExecution) => boolean): Promise<WorkflowExecution | undefined> {
    const { items } = await this.#client.list(workflowExecutions, { namespace: "default" });
    const fitting = items.filter(fits);
    return fitting.length === 0 ? undefined : this.#stage.world.chance.pick(fitting);
  }

  #struck(fault: string) {
    this.#stage.world.struck(fault);
  }
}

function catalogImage(workflowId: string): string {
  return `example/${workflowId}:1`;
}

export function needsApproval(workflowId: string, version: string | undefined): boolean {
  return workflowId === "resize" && version === "2";
}

function isOver(run: KubeObject): boolean {
  return runStage(run) === "ended";
}

function refOf({ metadata: { name = "", namespace = "" } }: KubeObject) {
  return { name, namespace };
}
