import type { CodingTask } from "../coding-task.ts";

/** The step that is done as soon as work on a task begins. */
export const begunStep = "started";

/** When work on the task first began. */
export function begunAt({ status }: CodingTask): string | undefined {
  return status?.steps?.find(({ name }) => name === begunStep)?.completedAt;
}

/** Whether it is a comment that is answered without a coding agent, such as `/copilot status`. */
export function isBuiltIn({ spec }: CodingTask): boolean {
  return spec.type === "Command" && spec.note.verb !== "do";
}
