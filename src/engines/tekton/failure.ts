import type { FailureReason } from "../../resources/index.ts";
import type { RunFailure } from "../engine.ts";
import { type Pod, unfinishedPods, wasEvicted } from "../pods.ts";
import {
  type PipelineRun,
  type StepState,
  succeededCondition,
  type TaskAttempt,
  type TaskRun,
  tektonLabels,
} from "./pipeline-run.ts";
import { runReasons, taskReasons } from "./reasons.ts";

/** The objects that show why a run failed, besides the run itself. */
export interface RunEvidence {
  /** Every TaskRun of the run that still exists; undefined if reading them is forbidden. */
  readonly taskRuns?: readonly TaskRun[] | undefined;
  /** Every pod of the run that still exists; undefined if reading them is forbidden. */
  readonly pods?: readonly Pod[] | undefined;
  readonly missingServiceAccounts?: ReadonlySet<string> | undefined;
}

/** Returns why a PipelineRun failed, by reasons and states alone: messages differ between versions of Tekton. */
export function pipelineRunFailure(run: PipelineRun, evidence: RunEvidence): RunFailure {
  const { reason = "", message = "" } = succeededCondition(run.status) ?? {};
  const known = runReasons.get(reason);
  const task = failedTask(run, evidence.taskRuns ?? []);
  const step = task && failedStep(task);
  const exitCode = task && step && ownExitCode(step, task);
  return {
    reason: known ?? (task ? taskReason(task, evidence) : reason === "Failed" ? "TaskRunFailed" : "Unknown"),
    message: (!known && task && taskMessage(task)) || message || `the run failed: ${reason || "no reason given"}`,
    anythingStarted: anythingStarted(run, evidence),
    ...(task && { failedTaskName: pipelineTaskName(run, task) }),
    ...(step && { failedStepName: step.name }),
    ...(exitCode !== undefined && { exitCode }),
    ...unfinishedPods(evidence.pods),
  };
}

/** Returns the first task that failed by itself; if there is none, the first that was stopped. */
function failedTask(run: PipelineRun, tasks: readonly TaskRun[]): TaskRun | undefined {
  const places = new Map(run.status?.childReferences?.map(({ name }, place) => [name, place]));
  const rank = (task: TaskRun) =>
    [
      reasonIn(task) === "TaskRunCancelled" ? "1" : "0",
      task.status?.completionTime ?? succeededCondition(task.status)?.lastTransitionTime ?? "",
      String(places.get(task.metadata.name ?? "") ?? places.size).padStart(6, "0"),
    ].join(" ");
  return tasks
    .filter((task) => succeededCondition(task.status)?.status === "False" && reasonIn(task) !== "FailureIgnored")
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
}

function taskReason(task: TaskRun, { pods = [], missingServiceAccounts }: RunEvidence): FailureReason {
  const reason = reasonIn(task);
  if (reason === "PodCreationFailed" && missingServiceAccounts?.has(task.spec.serviceAccountName ?? "default")) {
    return "ServiceAccountMissing";
  }
  if (reason === "TaskRunCancelled" && ranOutOfTime(task)) return "Timeout";
  const known = taskReasons.get(reason);
  if (known) return known;

  const steps = task.status?.steps ?? [];
  const isOomKilled = ({ terminated, terminationReason }: StepState) =>
    terminated?.reason === "OOMKilled" || terminationReason === "OOMKilled";
  if (steps.some(isOomKilled)) return "OOMKilled";
  if (steps.some(({ terminationReason }) => terminationReason === "TimeoutExceeded")) return "Timeout";
  const pod = pods.find(({ metadata }) => metadata.name === task.status?.podName);
  return pod && wasEvicted(pod) ? "Evicted" : "TaskRunFailed";
}

/** Tekton cancels the tasks of a run that timed out with exactly this message. */
function ranOutOfTime({ spec }: TaskRun): boolean {
  return spec.statusMessage === "TaskRun cancelled as the PipelineRun it belongs to has timed out.";
}

function taskMessage(task: TaskRun): string {
  const { message = "" } = succeededCondition(task.status) ?? {};
  const waiting = task.status?.steps?.find((step) => step.waiting?.message)?.waiting?.message;
  return waiting ? `${message}: ${waiting}` : message;
}

function anythingStarted(run: PipelineRun, { taskRuns }: RunEvidence): boolean {
  const children = run.status?.childReferences ?? [];
  const reason = succeededCondition(run.status)?.reason ?? "";
  // A run that was cancelled or timed out may have created a TaskRun that its status does not list yet.
  if (!taskRuns) return children.length > 0 || ["Cancelled", "Timeout"].includes(runReasons.get(reason) ?? "");
  if (taskRuns.some(taskBegan)) return true;
  return children.some(({ name }) => !taskRuns.some(({ metadata }) => metadata.name === name));
}

function taskBegan(task: TaskRun): boolean {
  const attempts = task.status ? [task.status, ...(task.status.retriesStatus ?? [])] : [];
  if (attempts.some(beganIn)) return true;
  // It has a pod and was cancelled before its steps were reported: one of them may have begun.
  const { podName, steps = [] } = task.status ?? {};
  return Boolean(podName) && steps.length === 0 && reasonIn(task) === "TaskRunCancelled" && !ranOutOfTime(task);
}

function pipelineTaskName(run: PipelineRun, { metadata: { name = "", labels = {} } }: TaskRun): string {
  const child = run.status?.childReferences?.find((reference) => reference.name === name);
  return child?.pipelineTaskName ?? labels[tektonLabels.pipelineTask] ?? name;
}

function reasonIn({ status }: TaskRun): string {
  return succeededCondition(status)?.reason ?? "";
}

/**
 * Returns the step that made a task fail. Steps run one after the other, so it is the first that failed; if an image was missing,
 * the first without one.
 */
function failedStep({ status }: TaskRun): StepState | undefined {
  const steps = status?.steps ?? [];
  const noImage = succeededCondition(status)?.reason === "TaskRunImagePullFailed";
  return steps.find((step) => (noImage ? !step.imageID : !endedWell(step)));
}

function endedWell({ terminated, terminationReason }: StepState): boolean {
  // `Continued`: the failure was ignored. `Skipped`: it never ran, because another step failed.
  return terminated?.exitCode === 0 || terminationReason === "Continued" || terminationReason === "Skipped";
}

/** Returns the exit code of a step that ended by itself. Tekton gives a step that it stops the task's reason, and code 1. */
function ownExitCode({ terminated }: StepState, task: TaskRun): number | undefined {
  if (!terminated || terminated.reason === succeededCondition(task.status)?.reason) return undefined;
  return terminated.exitCode;
}

/** Whether any step of an attempt had a container. Tekton reports a start and an end even for steps without one. */
function beganIn({ steps = [] }: TaskAttempt): boolean {
  return steps.some(({ running, terminated, imageID }) => running || terminated?.containerID || imageID);
}
