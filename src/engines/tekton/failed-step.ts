import { type StepState, succeededCondition, type TaskAttempt, type TaskRun } from "./pipeline-run.ts";

/**
 * The step because of which a task failed. Steps run one after the other, so it is the first that did not end well; if
 * an image was missing, the first without one.
 */
export function failedStep({ status }: TaskRun): StepState | undefined {
  const steps = status?.steps ?? [];
  const noImage = succeededCondition(status)?.reason === "TaskRunImagePullFailed";
  return steps.find((step) => (noImage ? !step.imageID : !endedWell(step)));
}

function endedWell({ terminated, terminationReason }: StepState): boolean {
  // `Continued`: its failure was to be ignored. `Skipped`: it never ran, because of another.
  return terminated?.exitCode === 0 || terminationReason === "Continued" || terminationReason === "Skipped";
}

/** The code with which a step ended by itself. To a step that it stops Tekton gives the task's reason, and code 1. */
export function ownExitCode({ terminated }: StepState, task: TaskRun): number | undefined {
  if (!terminated || terminated.reason === succeededCondition(task.status)?.reason) return undefined;
  return terminated.exitCode;
}

/** Whether any step of an attempt had a container. Tekton claims an end, and a start, even for steps that had none. */
export function beganIn({ steps = [] }: TaskAttempt): boolean {
  return steps.some(({ running, terminated, imageID }) => running || terminated?.containerID || imageID);
}
