import type { Pause } from "../policy/index.ts";
import { type CodingTask, isBuiltIn } from "../resources/index.ts";

/** A task, and what bears on it. */
export interface Snapshot {
  readonly task: CodingTask;
  /** Every other task that waits in the same line. */
  readonly line: readonly CodingTask[];
  /** Those that last, whatever they cover. */
  readonly pauses: readonly Pause[];
  readonly nowMs: number;
  /** Finished tasks are remembered for so long, so that what is reported again is not done again. */
  readonly keepFinishedMs: number;
}

export const closedTaskPhases = ["Completed", "Failed", "Superseded", "Cancelled"] as const;
export type ClosedTaskPhase = (typeof closedTaskPhases)[number];

export function isClosed({ status }: CodingTask): boolean {
  return (closedTaskPhases as readonly unknown[]).includes(status?.phase);
}

/** Whether it moves a branch. Such tasks take turns on that branch; all others disturb nobody. */
export function isWriting(task: CodingTask): boolean {
  return task.spec.type !== "Review" && !isBuiltIn(task);
}

/**
 * What the task takes turns on, and the key of the lock under which it is worked on: a branch, the reviews of a merge
 * request, or nothing but itself.
 */
export function lineOf(task: CodingTask): readonly [string, ...string[]] {
  const { spec } = task;
  if (isWriting(task)) return ["branch", spec.targetResource];
  const { host, id } = spec.project;
  if (spec.type === "Review") return ["review", host, String(id), String(spec.mergeRequest.iid)];
  return ["task", task.metadata.uid ?? ""];
}

/** Who comes first: the one that was created first. Notes of one second are in the order of their numbers. */
export function inOrder(a: CodingTask, b: CodingTask): number {
  const [first, second] = [rank(a), rank(b)];
  const differs = first.findIndex((value, index) => value !== second[index]);
  if (differs === -1) return 0;
  return (first[differs] ?? "") < (second[differs] ?? "") ? -1 : 1;
}

function rank({ metadata, spec }: CodingTask): readonly (string | number)[] {
  const noteId = spec.type === "Command" ? spec.note.id : 0;
  const createdMs = Date.parse(metadata.creationTimestamp ?? "") || 0;
  return [Math.floor(createdMs / 1_000), noteId, spec.receivedTime, metadata.uid ?? ""];
}
