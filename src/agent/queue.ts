import { type CodingTask, isBuiltIn } from "../resources/index.ts";

/** Whether the task changes a branch. Such tasks queue for that branch; all others block no task. */
export function isWriting(task: CodingTask): boolean {
  return task.spec.type !== "Review" && !isBuiltIn(task);
}

/**
 * Returns the key of the task's queue, which is also the key of its lock: a branch, the reviews of a merge request, or
 * the task itself.
 */
export function queueKey(task: CodingTask): readonly [string, ...string[]] {
  const { spec } = task;
  if (isWriting(task)) return ["branch", spec.targetResource];
  const { host, id } = spec.project;
  if (spec.type === "Review") return ["review", host, String(id), String(spec.mergeRequest.iid)];
  return ["task", task.metadata.uid ?? ""];
}

/** Orders tasks by creation. Notes of one second are in the order of their ids. */
export function byCreation(a: CodingTask, b: CodingTask): number {
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
