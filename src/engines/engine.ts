import type { KubeObject, Patch, ResourceType } from "../kube/index.ts";
import type { Engine as EngineName, FailureReason, ParameterValue, Workload } from "../resources/index.ts";

/**
 * Port: an engine that runs workflows. A run is an object in the API server: every replica can read it, there is one per name, and
 * uid and resourceVersion make each write conditional. It is created suspended, and no step runs before the patch of `start` was
 * applied. All functions but `prepare`, `readDigests` and `readFailure` are pure; the caller performs the writes. A run is deleted
 * in the foreground, because Tekton adopts a remaining TaskRun as the result of the next run with that name.
 */
export interface Engine {
  readonly name: EngineName;
  /** The kind of the engine's runs. */
  readonly runs: ResourceType<KubeObject>;
  /** Returns the run to create: suspended, and marked with its owner. */
  prepare(order: RunOrder, signal?: AbortSignal): Promise<PreparedRun>;
  /** Returns the state of the run, by its own status. */
  stateOf(run: KubeObject): RunState;
  /** Returns the workload that the spec of the run names. */
  workloadOf(run: KubeObject): Workload;
  /**
   * Returns the digests of the images that were pulled for the run, by the objects below it; empty if these have none, are gone or
   * are forbidden. Throws only if the API server is unavailable.
   */
  readDigests(run: KubeObject, signal?: AbortSignal): Promise<readonly string[]>;
  /** Starts exactly this suspended run: if it was replaced, changed or started meanwhile, the patch is a conflict. */
  start(run: KubeObject): Patch;
  /**
   * Requests the run to stop, a suspended one too. Safe to repeat; if the run changed meanwhile, the patch is a conflict, and the
   * caller reads it again. The run has stopped when `stateOf` is `succeeded`, or `failed` with nothing `unfinished`.
   */
  cancel(run: KubeObject): Patch;
  /**
   * Returns why a run in state `failed` failed, by the objects below it; by the run itself if these are gone or forbidden. Throws
   * if the API server is unavailable, or reading pods is forbidden: then it is unknown whether the run has stopped.
   */
  readFailure(run: KubeObject, signal?: AbortSignal): Promise<RunFailure>;
}

/** Everything that an engine needs to build a run. */
export interface RunOrder {
  readonly name: string;
  readonly namespace: string;
  readonly execution: { readonly uid: string; readonly name: string; readonly namespace: string };
  /** In canonical form. */
  readonly target: string;
  readonly targetHash: string;
  readonly workflow: {
    readonly id: string;
    /** OCI bundle (tekton), image (job) or folder (local). */
    readonly containerImage: string;
    /** Arguments of the image (job). */
    readonly args?: readonly string[];
    /** Name of the pipeline in the bundle. */
    readonly pipeline: string;
    readonly serviceAccountName?: string;
  };
  /** Complete and checked: defaults are filled in. */
  readonly parameters: Readonly<Record<string, ParameterValue>>;
  /** The names of parameters whose values are redacted in output, besides those whose names show a secret. */
  readonly secretParameters: readonly string[];
  readonly timeoutMs: number;
  /** For an engine that deletes finished runs by itself: the minimum time that it keeps them. */
  readonly keepMs: number;
  /** The resourceVersion with which the target record admitted the execution. */
  readonly fence: string;
}

export type PreparedRun =
  | { readonly kind: "prepared"; readonly run: KubeObject }
  /** The run cannot be built, and a retry would not help. */
  | { readonly kind: "refused"; readonly reason: FailureReason; readonly message: string };

export type RunState =
  | { readonly kind: "suspended" }
  | { readonly kind: "running"; readonly progress: RunProgress }
  | { readonly kind: "succeeded"; readonly progress: RunProgress; readonly completedAt: string }
  | { readonly kind: "failed"; readonly progress: RunProgress; readonly completedAt: string };

/** The progress of a run, for display. Reason and message come from the engine. */
export interface RunProgress {
  readonly startedAt?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly completedTasks?: number;
  readonly totalTasks?: number;
}

export interface RunFailure {
  readonly reason: FailureReason;
  readonly message: string;
  /** Whether any step had begun and may have changed something. True if that is unknown. */
  readonly anythingStarted: boolean;
  readonly failedTaskName?: string;
  readonly failedStepName?: string;
  readonly exitCode?: number;
  /**
   * Names of the pods of the run that have not ended: a run that was cancelled or timed out ends before its pods. No other run may
   * act on the target until this is absent.
   */
  readonly unfinished?: readonly string[];
}
