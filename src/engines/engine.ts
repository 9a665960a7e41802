import type { KubeObject, Patch, ResourceType } from "../kube/index.ts";
import type { Engine as EngineName, FailureReason, ParameterValue, Workload } from "../resources/index.ts";

/**
 * Port: what runs workflows. A run is an object in the API server, so that every replica sees it, one name is one run,
 * and uid and resourceVersion make each write conditional. It is created suspended, and nothing of it runs before
 * `start` has been applied. Everything here but `prepare`, `readDigests` and `readFailure` is pure; the writes are the caller's. A run is
 * deleted in the foreground: to Tekton a TaskRun that is left over is the result of the next run with that name.
 */
export interface Engine {
  readonly name: EngineName;
  /** The kind of its runs. */
  readonly runs: ResourceType<KubeObject>;
  /** The run as it has to be created: suspended, and marked with its owner. */
  prepare(order: RunOrder, signal?: AbortSignal): Promise<PreparedRun>;
  /** The state of the run, from its own status. */
  stateOf(run: KubeObject): RunState;
  /** What the run executes, as it is written in the run itself. */
  workloadOf(run: KubeObject): Workload;
  /**
   * Digests of the images that were pulled for the run, as the objects below it report them; empty if they report none, are gone or
   * must not be read. Throws only if the API server does not answer.
   */
  readDigests(run: KubeObject, signal?: AbortSignal): Promise<readonly string[]>;
  /** Starts this suspended run, and only it: a run that was replaced, changed or started meanwhile is a conflict. */
  start(run: KubeObject): Patch;
  /**
   * Asks the run to stop, a suspended one too. Harmless to repeat; a run that changed meanwhile is a conflict, and has
   * to be looked at again. It has stopped when `stateOf` is `succeeded`, or `failed` with nothing `unfinished`.
   */
  cancel(run: KubeObject): Patch;
  /**
   * Why a run in state `failed` failed, from the objects below it. If those are gone or must not be read, from the run
   * itself. Throws only if the API server does not answer.
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
  readonly timeoutMs: number;
  /** How long the finished run is kept at least, where the engine removes runs by itself. */
  readonly keepMs: number;
  /** The resourceVersion with which the target record admitted the execution. */
  readonly fence: string;
}

export type PreparedRun =
  | { readonly kind: "prepared"; readonly run: KubeObject }
  /** It cannot be built, and trying again will not change that. */
  | { readonly kind: "refused"; readonly reason: FailureReason; readonly message: string };

export type RunState =
  | { readonly kind: "suspended" }
  | { readonly kind: "running"; readonly progress: RunProgress }
  | { readonly kind: "succeeded"; readonly progress: RunProgress; readonly completedAt: string }
  | { readonly kind: "failed"; readonly progress: RunProgress; readonly completedAt: string };

/** The progress of a run, for display; reason and message are the engine's. */
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
  /** Whether any step had begun: then something may have changed. In doubt, true. */
  readonly anythingStarted: boolean;
  readonly failedTaskName?: string;
  readonly failedStepName?: string;
  readonly exitCode?: number;
  /**
   * Names of the objects that are still alive below the run: one that was cancelled, or ran out of time, is over before its pods
   * are. No other run may act on the target until this is absent.
   */
  readonly unfinished?: readonly string[];
}
