import { begunAt, type CodingTask, isBuiltIn } from "../resources/index.ts";
import { type Pausable, type Pause, type Paused, pausedBy } from "./pauses.ts";

/**
 * Why a coding task has to wait at `nowMs`; undefined if no pause concerns it. A pause keeps work from being begun:
 * what was begun goes on to its end, and what only answers asks nobody to work.
 */
export function taskPause(task: CodingTask, pauses: readonly Pause[], nowMs: number): Paused | undefined {
  return isBuiltIn(task) || goesOn(task) ? undefined : pauseOver(task, pauses, nowMs);
}

/** The pauses that cover what is asked for where the task is, whether or not it is for them to stop it. */
export function pauseOver(task: CodingTask, pauses: readonly Pause[], nowMs: number): Paused | undefined {
  return pausedBy(pausableTask(task), pauses, nowMs);
}

/** What a pause may know a task by. */
export function pausableTask({ metadata, spec }: CodingTask): Pausable {
  const { targetResource: target, project } = spec;
  const { namespace } = metadata;
  // The host as it is written in targets, and the number of the project where it was asked for.
  const repository = `${target.slice(0, target.indexOf("/"))}/${project.id}`;
  return { target, repository, ...(namespace === undefined ? {} : { namespace }) };
}

/**
 * Whether it was begun, and not only to fail. A next try after a failure asks the coding agent once more, which is a
 * beginning; unless it answered already: then a commit may be pushed that nobody was told of, or half of what it found said.
 */
function goesOn(task: CodingTask): boolean {
  const { status } = task;
  if (begunAt(task) === undefined) return false;
  const hasFailed = status?.phase === "Waiting" && status.nextAttemptTime !== undefined;
  return !hasFailed || (status.steps ?? []).some(({ name }) => name === "agent" || name === "failed");
}
