import { begunAt, type CodingTask, coderStep, isBuiltIn } from "../resources/index.ts";
import { type Pausable, type Pause, type Paused, pausedBy } from "./pauses.ts";

/**
 * Returns why a coding task has to wait at `nowMs`; undefined if no pause applies. A pause prevents new work: a task that has
 * started continues, and a built-in command starts no work.
 */
export function taskPause(task: CodingTask, pauses: readonly Pause[], nowMs: number): Paused | undefined {
  return isBuiltIn(task) || mustContinue(task) ? undefined : pauseOver(task, pauses, nowMs);
}

/** Returns the pauses that cover the task, even if they do not stop it. */
export function pauseOver(task: CodingTask, pauses: readonly Pause[], nowMs: number): Paused | undefined {
  return pausedBy(pausableTask(task), pauses, nowMs);
}

/** Returns the fields of a task by which a pause can cover it. */
export function pausableTask({ metadata, spec }: CodingTask): Pausable {
  const { targetResource: target, project } = spec;
  const { namespace } = metadata;
  // The host is that of the target; the project is that of the request, which a fork's branch is not in.
  const repository = `${target.slice(0, target.indexOf("/"))}/${project.id}`;
  return { target, repository, ...(namespace === undefined ? {} : { namespace }) };
}

/**
 * Whether the task has started and must not be interrupted. A retry runs the coder again, which counts as a start, unless the
 * coder's result is recorded: then the task may have pushed a commit without its note, or posted half of its findings.
 */
function mustContinue(task: CodingTask): boolean {
  const { status } = task;
  if (begunAt(task) === undefined) return false;
  const hasFailed = status?.phase === "Waiting" && status.nextAttemptTime !== undefined;
  return !hasFailed || (status.steps ?? []).some(({ name }) => name === coderStep || name === "failed");
}
