import { runOwner } from "../../run-marks.ts";
import type { PipelineRun } from "../../tekton/pipeline-run.ts";
import { allTasks, type PipelineSpec, stepName } from "../pipeline/spec.ts";
import { parseLimit } from "../schedule/decide.ts";
import type { Attempt, RunSnapshot } from "../schedule/run-snapshot.ts";
import type { RunRecord } from "./run-folder.ts";

/** Tekton's default for runs without a timeout. */
const defaultTimeout = "1h";

export function toRunRecord(run: PipelineRun): RunRecord {
  const { uid = "", name = "", namespace = "" } = run.metadata;
  return { uid, name, namespace, target: runOwner(run).target ?? `run ${namespace}/${name}` };
}

/** Lists the names of the steps of each task, for readers of their output after the run was deleted. */
export function listStepNames({ spec }: PipelineRun): Readonly<Record<string, readonly string[]>> {
  const pipeline = spec.pipelineSpec as PipelineSpec;
  return Object.fromEntries(allTasks(pipeline).map(({ name, taskSpec }) => [name, taskSpec.steps.map(stepName)]));
}

/** Returns the snapshot of a run with its attempts on disk. */
export function toRunSnapshot(
  run: PipelineRun,
  attempts: ReadonlyMap<string, readonly Attempt[]>,
  now: number,
): RunSnapshot {
  const { params = [], status: asked, timeouts = {} } = run.spec;
  const { uid, name, namespace } = toRunRecord(run);
  return {
    run: { uid, name, namespace },
    pipeline: run.spec.pipelineSpec as PipelineSpec,
    params: Object.fromEntries(params.map((param) => [param.name, param.value])),
    ...(asked !== "PipelineRunPending" && { asked }),
    startedAt: Date.parse(run.status?.startTime ?? "") || now,
    timeouts: {
      pipelineMs: parseLimit(timeouts.pipeline ?? defaultTimeout),
      ...(timeouts.tasks !== undefined && { tasksMs: parseLimit(timeouts.tasks) }),
      ...(timeouts.finally !== undefined && { finallyMs: parseLimit(timeouts.finally) }),
    },
    attempts,
    now,
  };
}
