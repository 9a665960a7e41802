import type { WorkflowExecution } from "./kinds/workflow-execution.ts";

/** Whether an execution may still act: it has neither ended nor been skipped. */
export function isUnfinished({ status }: WorkflowExecution): boolean {
  return status === undefined || status.phase === "Pending" || status.phase === "Running";
}

/** Whether the end of an execution was announced, and recorded on its target before. */
export function isRecorded({ status }: WorkflowExecution): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Recorded" && status === "True") ?? false;
}
