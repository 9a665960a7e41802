import type { WorkflowExecution } from "../resources/index.ts";

/** Whether everything about the end of an execution was told, and folded into its target's record before. */
export function isRecorded({ status }: WorkflowExecution): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Recorded" && status === "True") ?? false;
}
