import type { KubeObject } from "../../kube/index.ts";
import type { Wire } from "../../schema/index.ts";
import { ageColumn, defineKind, stalledColumn } from "./define-kind.ts";
import type {
  cancellation,
  failureDetails,
  pipelineRunRef,
  pipelineRunStatus,
  skipDetails,
  spec,
  status,
  workflowRef,
  workload,
} from "./schemas/workflow-execution.ts";

/** One run of one workflow on one target. */
export interface WorkflowExecution extends KubeObject {
  readonly spec: Wire<typeof spec>;
  /** Absent until the controller has seen the execution. */
  readonly status?: WorkflowExecutionStatus;
}

export type WorkflowExecutionStatus = Wire<typeof status>;
export type WorkflowRef = Wire<typeof workflowRef>;
export type FailureDetails = Wire<typeof failureDetails>;
export type Cancellation = Wire<typeof cancellation>;
export type SkipDetails = Wire<typeof skipDetails>;
export type RunRef = Wire<typeof pipelineRunRef>;
export type RunStatus = Wire<typeof pipelineRunStatus>;
export type Workload = Wire<typeof workload>;

export const workflowExecutions = defineKind<WorkflowExecution>({
  kind: "WorkflowExecution",
  shortName: "wfe",
  selectable: ["spec.targetResource"],
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Target", type: "string", jsonPath: ".spec.targetResource" },
    { name: "Workflow", type: "string", jsonPath: ".spec.workflowRef.workflowId" },
    { name: "Skipped", type: "string", jsonPath: ".status.skipDetails.reason", description: "Why no run was started" },
    {
      name: "Failure",
      type: "string",
      jsonPath: ".status.failureDetails.reason",
      description: "Why the execution failed",
    },
    { name: "Duration", type: "string", jsonPath: ".status.duration" },
    { name: "Run", type: "string", jsonPath: ".status.pipelineRunRef.name", priority: 1 },
    { name: "Incident", type: "string", jsonPath: ".spec.remediationRequestRef.name", priority: 1 },
    { name: "Review", type: "boolean", jsonPath: ".status.failureDetails.requiresManualReview", priority: 1 },
    stalledColumn,
    ageColumn,
  ],
});

/** Whether an execution may still act: it has neither ended nor been skipped. */
export function isUnfinished({ status }: WorkflowExecution): boolean {
  return status === undefined || status.phase === "Pending" || status.phase === "Running";
}

/** Whether the end of an execution was announced, and recorded on its target before. */
export function isRecorded({ status }: WorkflowExecution): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Recorded" && status === "True") ?? false;
}
