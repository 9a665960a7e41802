import type { Engine, RunFailure, RunOrder, RunState } from "../../src/engines/index.ts";
import { runInputs, runMetadata } from "../../src/engines/run-marks.ts";
import type { KubeObject, Patch, ResourceType } from "../../src/kube/index.ts";
import type { FailureReason } from "../../src/resources/index.ts";

/**
 * Runs a workflow as one program of this machine. A run is a ConfigMap: its data are the order and the progress.
 *
 *   suspended ─▶ started ─▶ ended        cancelled: `cancel` is set, and the runner kills the program
 *       └──────▶ cancelled               a suspended run ends at once
 */
export interface ProgramRun extends KubeObject {
  readonly data: {
    readonly phase: "suspended" | "started" | "cancelled" | "ended";
    readonly program: string;
    /** JSON: parameters, target, execution and fence. */
    readonly variables: string;
    readonly timeoutMs: string;
    readonly cancel?: "true";
    /** Written before the program starts: after a crash the run counts as started. */
    readonly startedAt?: string;
    readonly completedAt?: string;
    readonly exitCode?: string;
    readonly reason?: FailureReason;
    readonly message?: string;
  };
}

export const programRuns: ResourceType<ProgramRun> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

/** An own engine has a name of its own in `src/resources/kinds/schemas/fields.ts`. This one stands in for `local`. */
const name = "local";

/** Everything here is pure: the executor writes what these functions return. */
export const programEngine: Engine = {
  name,
  runs: programRuns,
  prepare: async (order) => ({ kind: "prepared", run: toRun(order) }),
  stateOf: (run) => toState(run as ProgramRun),
  workloadOf: (run) => ({ engine: name, image: (run as ProgramRun).data.program }),
  readDigests: async () => [],
  start: (run) => changeAtVersion(run, { phase: "started" }),
  cancel: (run) => changeAtVersion(run, isSuspended(run) ? { phase: "cancelled" } : { cancel: "true" }),
  readFailure: async (run) => toFailure(run as ProgramRun),
};

function toRun(order: RunOrder): ProgramRun {
  return {
    apiVersion: programRuns.apiVersion,
    kind: programRuns.kind,
    metadata: runMetadata(order, name),
    data: {
      phase: "suspended",
      program: order.workflow.containerImage,
      variables: JSON.stringify(runInputs(order)),
      timeoutMs: String(order.timeoutMs),
    },
  };
}

/** A write to a run that was replaced or changed since it was read is a conflict. */
function changeAtVersion({ metadata: { resourceVersion } }: KubeObject, data: Partial<ProgramRun["data"]>): Patch {
  return { merge: { metadata: { resourceVersion }, data } };
}

function isSuspended(run: KubeObject): boolean {
  return (run as ProgramRun).data.phase === "suspended";
}

function toState({ data, metadata }: ProgramRun): RunState {
  const { phase, startedAt, completedAt = metadata.creationTimestamp ?? "", reason } = data;
  const progress = {
    ...(startedAt && { startedAt }),
    ...(reason && { reason }),
    completedTasks: phase === "ended" ? 1 : 0,
    totalTasks: 1,
  };
  switch (phase) {
    case "suspended":
      return { kind: "suspended" };
    case "started":
      return { kind: "running", progress };
    case "cancelled":
      return { kind: "failed", progress, completedAt };
    case "ended":
      return { kind: reason ? "failed" : "succeeded", progress, completedAt };
  }
}

function toFailure({ data }: ProgramRun): RunFailure {
  const { phase, reason = "Unknown", message = "", startedAt, exitCode } = data;
  if (phase === "cancelled")
    return { reason: "Cancelled", message: "cancelled before it began", anythingStarted: false };
  return {
    reason,
    message,
    anythingStarted: startedAt !== undefined,
    failedStepName: "program",
    ...(exitCode && { exitCode: Number(exitCode) }),
  };
}
