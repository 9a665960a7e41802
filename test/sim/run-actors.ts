import type { Change } from "../../src/apiserver/object-store.ts";
import { type Job, jobs } from "../../src/engines/job/job.ts";
import { type PipelineRun, pipelineRuns } from "../../src/engines/tekton/pipeline-run.ts";
import type { KubeClient, KubeObject, ResourceType } from "../../src/kube/index.ts";
import type { SimServer } from "./sim-server.ts";
import type { World } from "./world.ts";

/** The stage of a run, as its own controller would report it. */
export type RunStage = "suspended" | "to-start" | "to-cancel" | "active" | "ended";

/** A kind of run, and how its controller writes. */
interface RunKind {
  readonly type: ResourceType<KubeObject>;
  stage(run: KubeObject): RunStage;
  begun(at: string): object;
  ended(run: KubeObject, how: "success" | "failure" | "cancelled" | "no-bundle", at: string): object;
}

const tekton: RunKind = {
  type: pipelineRuns as ResourceType<KubeObject>,
  stage(run) {
    const { spec, status } = run as PipelineRun;
    const condition = status?.conditions?.[0];
    if (condition && condition.status !== "Unknown") return "ended";
    if (spec.status === "Cancelled") return "to-cancel";
    if (status?.startTime) return "active";
    return spec.status === "PipelineRunPending" ? "suspended" : "to-start";
  },
  begun: (at) => ({
    startTime: at,
    conditions: [{ type: "Succeeded", status: "Unknown", reason: "Running", lastTransitionTime: at }],
    childReferences: [{ kind: "TaskRun", name: "task", pipelineTaskName: "task" }],
  }),
  ended(run, how, at) {
    const { status } = run as PipelineRun;
    const reason = {
      success: "Succeeded",
      failure: "Failed",
      cancelled: "Cancelled",
      "no-bundle": "CouldntGetPipeline",
    };
    const condition = { type: "Succeeded", status: how === "success" ? "True" : "False", reason: reason[how] };
    return { ...status, completionTime: at, conditions: [{ ...condition, message: how, lastTransitionTime: at }] };
  },
};

const job: RunKind = {
  type: jobs as ResourceType<KubeObject>,
  stage(run) {
    const { spec, status } = run as Job;
    if (status?.conditions?.length) return "ended";
    if (spec.suspend) return "suspended";
    if (spec.activeDeadlineSeconds === 1) return "to-cancel";
    return status?.startTime ? "active" : "to-start";
  },
  begun: (at) => ({ startTime: at, active: 1 }),
  ended(run, how, at) {
    const { status } = run as Job;
    const isSuccess = how === "success";
    const condition = {
      type: isSuccess ? "Complete" : "Failed",
      status: "True",
      reason: how === "cancelled" ? "DeadlineExceeded" : isSuccess ? "Completed" : "BackoffLimitExceeded",
      lastTransitionTime: at,
    };
    const count = isSuccess ? { succeeded: 1, completionTime: at } : { failed: 1 };
    return { ...status, active: 0, ...count, conditions: [condition] };
  },
};

/** The resources that runs are stored as. */
export const runResources = ["pipelineruns.tekton.dev", "jobs.batch"] as const;

export function runStage(run: KubeObject): RunStage {
  return kindOf(run).stage(run);
}

/** Plays the controllers of Tekton and of Jobs: each run that was started begins after a while, goes on, and ends. */
export class RunActors {
  readonly #world: World;
  readonly #server: SimServer;
  readonly #client: KubeClient;
  readonly #clockErrorMs: number;

  /** `clockErrorMs`: how far the clock of the controllers is ahead of the server's. */
  constructor(world: World, server: SimServer, { clockErrorMs = 0 } = {}) {
    this.#world = world;
    this.#server = server;
    this.#clockErrorMs = clockErrorMs;
    this.#client = server.cluster.client("engines");
    for (const resource of runResources) server.cluster.witness(resource, (change) => this.#changed(change));
  }

  #changed({ do: what, entry, previous }: Change): void {
    const run = entry.object;
    const stage = runStage(run);
    if (what === "delete" || (previous && runStage(previous.object) === stage)) return;
    const delayMs = this.#delayBefore(stage);
    if (delayMs !== undefined) this.#world.in(delayMs, () => void this.#act(run, stage));
  }

  #delayBefore(stage: RunStage): number | undefined {
    const { chance } = this.#world;
    switch (stage) {
      case "to-start":
        return chance.between(5, chance.happens(0.1) ? 5_000 : 300);
      case "active":
        // A few go on for longer than they may.
        return chance.happens(0.05) ? chance.between(20_000, 90_000) : chance.between(100, 8_000);
      case "to-cancel":
        return chance.between(5, 3_000);
      case "suspended":
      case "ended":
        return undefined;
    }
  }

  /** Performs the next step of a run, if its stage has not changed. */
  async #act(seen: KubeObject, stage: RunStage): Promise<void> {
    const { chance } = this.#world;
    const kind = kindOf(seen);
    const { name = "", namespace = "", uid } = seen.metadata;
    const run = await this.#client.get(kind.type, { namespace, name });
    if (!run || run.metadata.uid !== uid || kind.stage(run) !== stage) return;
    const at = new Date(this.#server.clock.wallMs() + this.#clockErrorMs).toISOString().replace(/\.\d+Z$/, "Z");
    const status = () => {
      if (stage === "to-cancel") return kind.ended(run, "cancelled", at);
      if (stage === "active") return kind.ended(run, chance.happens(0.7) ? "success" : "failure", at);
      return kind === tekton && chance.happens(0.25) ? kind.ended(run, "no-bundle", at) : kind.begun(at);
    };
    const next: KubeObject & { status: object } = { ...run, status: status() };
    await this.#client.update(kind.type, next, { subresource: "status" });
  }
}

function kindOf(run: KubeObject): RunKind {
  return run.kind === "Job" ? job : tekton;
}
