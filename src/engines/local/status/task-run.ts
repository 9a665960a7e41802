import { iso, nameHash } from "../../../kube/index.ts";
import type { RunCondition } from "../../pods.ts";
import { type PipelineRun, type StepState, type TaskRun, taskRuns, tektonLabels } from "../../tekton/pipeline-run.ts";
import { type ParamValue, type PipelineTask, stepName } from "../pipeline/spec.ts";
import { type AttemptOutcome, attemptOutcome } from "../schedule/attempt-outcome.ts";
import type { TaskView } from "../schedule/decide.ts";
import type { Attempt, StepRecord, StopReason } from "../schedule/run-snapshot.ts";
import type { Params } from "../schedule/values.ts";

export interface TaskRunFacts {
  readonly run: PipelineRun;
  readonly task: PipelineTask;
  readonly isFinally: boolean;
  /** At least one. */
  readonly attempts: readonly Attempt[];
  readonly view: TaskView;
  readonly params: Params;
}

/** Returns the TaskRun of a task that has begun, in the form of Tekton. */
export function toTaskRun(facts: TaskRunFacts): TaskRun {
  const { run, task, attempts, view, params } = facts;
  const name = taskRunName(run, task.name);
  const own = (task.params ?? []).map((given) => ({ name: given.name, value: params[given.name] as ParamValue }));
  const last = attempts.at(-1) as Attempt;
  const isOver = view.kind === "failed" || view.kind === "succeeded";
  const sent = isOver ? last.stop && stopMessages[last.stop.why] : undefined;
  const status = {
    ...attemptStatus(name, task, last, isOver),
    ...(attempts.length > 1 && {
      retriesStatus: attempts.slice(0, -1).map((attempt) => attemptStatus(name, task, attempt, true)),
    }),
  };
  return {
    apiVersion: taskRuns.apiVersion,
    kind: taskRuns.kind,
    metadata: toMetadata(facts, name),
    spec: {
      ...(own.length > 0 && { params: own }),
      ...(task.retries && { retries: task.retries }),
      ...(task.timeout && { timeout: task.timeout }),
      ...(sent && { status: "TaskRunCancelled", statusMessage: sent }),
      taskSpec: task.taskSpec,
    },
    status,
  } as TaskRun;
}

/** Returns `run-task`, shortened to the length of a label. */
export function taskRunName({ metadata: { name = "" } }: PipelineRun, task: string): string {
  const full = `${name}-${task}`;
  return full.length <= 63 ? full : `${full.slice(0, 46).replace(/[^a-z0-9]+$/, "")}-${nameHash(full).slice(0, 16)}`;
}

function toMetadata({ run, task, isFinally }: TaskRunFacts, name: string) {
  const { namespace, labels, annotations, uid = "", name: runName = "" } = run.metadata;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    labels: {
      ...labels,
      "tekton.dev/memberOf": isFinally ? "finally" : "tasks",
      "tekton.dev/pipeline": runName,
      "tekton.dev/pipelineRun": runName,
      [tektonLabels.pipelineRunUid]: uid,
      [tektonLabels.pipelineTask]: task.name,
    },
    ...(annotations && { annotations }),
    ownerReferences: [
      {
        apiVersion: taskRuns.apiVersion,
        kind: "PipelineRun",
        name: runName,
        uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
}

function attemptStatus(name: string, task: PipelineTask, attempt: Attempt, isOver: boolean) {
  const { taskSpec } = task;
  const outcome = attemptOutcome(task, attempt);
  const isDone = isOver && (outcome.kind === "failed" || outcome.kind === "succeeded");
  const condition = isDone ? endedCondition(name, task, attempt, outcome) : running;
  const at = iso(isDone ? outcome.at : attempt.startedAt);
  const results = Object.entries(attempt.results).map(([key, value]) => ({ name: key, type: "string", value }));
  return {
    conditions: [{ type: "Succeeded", ...condition, lastTransitionTime: at }],
    startTime: iso(attempt.startedAt),
    ...(isDone && { completionTime: at }),
    ...(results.length > 0 && { results }),
    ...(attempt.steps.some(hasBegun) && { steps: toStepStates(task, attempt, isDone ? condition.reason : undefined) }),
    taskSpec,
  };
}

type ConditionText = Pick<RunCondition, "status" | "message"> & { readonly reason: string };

const running: ConditionText = {
  status: "Unknown",
  reason: "Running",
  message: "Not all Steps in the Task have finished executing",
};

const stopMessages: Partial<Record<StopReason, string>> = {
  cancelled: "TaskRun cancelled as the PipelineRun it belongs to has been cancelled.",
  "run-timeout": "TaskRun cancelled as the PipelineRun it belongs to has timed out.",
};

function endedCondition(name: string, task: PipelineTask, attempt: Attempt, outcome: AttemptOutcome): ConditionText {
  if (outcome.kind === "succeeded") {
    return { status: "True", reason: "Succeeded", message: "All Steps have completed executing" };
  }
  if (attempt.stop?.why === "timeout") {
    return failedCondition("TaskRunTimeout", `TaskRun "${name}" failed to finish within "${task.timeout}"`);
  }
  if (attempt.stop) {
    return failedCondition("TaskRunCancelled", `TaskRun "${name}" was cancelled. ${stopMessages[attempt.stop.why]}`);
  }
  return failedStepCondition(task, attempt, (outcome.kind === "failed" && outcome.step) || 0);
}

function failedStepCondition({ taskSpec }: PipelineTask, attempt: Attempt, index: number): ConditionText {
  const end = attempt.steps[index]?.end;
  const step = `"step-${stepName(taskSpec.steps[index] ?? {}, index)}"`;
  if (end?.how === "not-started") {
    return failedCondition("CreateContainerConfigError", `${step} could not be started: ${end.message}`);
  }
  if (end?.how === "exited") return failedCondition("Failed", `${step} exited with code ${end.exitCode}`);
  return failedCondition("Failed", `${step} ${end?.message ?? "ended without an exit code"}`);
}

/** Returns the condition of a TaskRun or PipelineRun that has failed. */
export function failedCondition(reason: string, message: string): ConditionText {
  return { status: "False", reason, message };
}

function hasBegun({ end, startedAt }: StepRecord): boolean {
  return startedAt !== undefined && end?.how !== "not-started";
}

function toStepStates({ taskSpec }: PipelineTask, attempt: Attempt, reason: string | undefined) {
  const stopReason = reason === "TaskRunCancelled" || reason === "TaskRunTimeout" ? reason : undefined;
  return taskSpec.steps.flatMap((step, index): readonly StepState[] => {
    const name = stepName(step, index);
    const record = attempt.steps[index];
    const begun = record && hasBegun(record) ? toStepState(record, step.onError, stopReason) : undefined;
    if (!begun && reason === undefined) return [];
    return [{ container: `step-${name}`, name, ...(begun ?? skippedState(attempt, stopReason)) }];
  });
}

function toStepState(
  { startedAt = 0, end, pid }: StepRecord,
  onError: string | undefined,
  stopReason: string | undefined,
) {
  if (!end) return { running: { startedAt: iso(startedAt) } };
  const { exitCode, finishedAt, message } = end;
  const hasSucceeded = end.how === "exited" && exitCode === 0;
  const lost = end.how === "lost" ? "ContainerStatusUnknown" : undefined;
  const reason = hasSucceeded ? "Completed" : (lost ?? stopReason ?? "Error");
  return {
    terminated: {
      containerID: `process://${pid ?? "unknown"}`,
      exitCode,
      finishedAt: iso(finishedAt),
      ...(message && { message }),
      reason,
      startedAt: iso(startedAt),
    },
    terminationReason: !hasSucceeded && onError === "continue" && !stopReason ? "Continued" : reason,
  };
}

/** Returns the end of a step that never ran, which has no containerID in Tekton. */
function skippedState(attempt: Attempt, stopReason: string | undefined) {
  const at = iso(attempt.steps.at(-1)?.end?.finishedAt ?? attempt.startedAt);
  const reason = stopReason ?? "Error";
  return {
    terminated: { exitCode: 1, finishedAt: at, reason, startedAt: at },
    terminationReason: stopReason ?? "Skipped",
  };
}
