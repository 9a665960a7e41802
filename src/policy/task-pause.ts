import { begunAt, type CodingTask, coderStep, isBuiltIn } from "../resources/index.ts";
import { type Pausable, type Pause, type Paused, pausedBy } from "./pauses.ts";

/**
 * Why a coding task has to wait at `nowMs`; undefined if no pause concerns it. A pause prevents new work:
 * started work runs to its end, and a task that only answers starts none.
 */
export function taskPause(task: CodingTask, pauses: readonly Pause[], nowMs: number): Paused | undefined {
  return isBuiltIn(task) || goesOn(task) ? undefined : pauseOver(task, pauses, nowMs);
}

/** The pauses that cover the place of the task, whether or not they stop it. */
export function pauseOver(task: CodingTask, pauses: readonly Pause[], nowMs: number): Paused | undefined {
  return pausedBy(pausableTask(task), pauses, nowMs);
}

/** The fields of a task that a pause may match. */
export function pausableTask({ metadata, spec }: CodingTask): Pausable {
  const { targetResource: target, project } = spec;
  const { namespace } = metadata;
  // The host as it is written in targets, and the number of the project where it was asked for.
  const repository = `${target.slice(0, target.indexOf("/"))}/${project.id}`;
  return { target, repository, ...(namespace === undefined ? {} : { namespace }) };
}

/**
 * Whether the task has started and has to end. A retry runs the coder again, which counts as a start, unless its result is
 * recorded: then a commit may be pushed without a note, or half of the findings posted.
 */
function goesOn(task: CodingTask): boolean {
  const { status } = task;
  if (begunAt(task) === undefined) return false;
  const hasFailed = status?.phase === "Waiting" && status.nextAttemptTime !== undefined;
  return !hasFailed || (status.steps ?? []).some(({ name }) => name === coderStep || name === "failed");
}
