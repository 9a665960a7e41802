import { describeStall, findStall, isUnfinished, skipText, type WorkflowExecution } from "../../resources/index.ts";
import type { ExecutionRow } from "../wire.ts";
import { fitRow } from "./fit-row.ts";
import { field, rowBase, rowKey, rowText } from "./row-base.ts";

export function toExecutionRow(execution: WorkflowExecution): ExecutionRow {
  const { metadata, spec, status } = execution;
  const { workflowRef, targetResource, remediationRequestRef: incident } = spec;
  const { reason, message, endedAt } = executionResult(execution);
  const workload = status && "workload" in status ? status.workload : undefined;
  return fitRow({
    kind: "executions",
    ...rowBase(execution),
    phase: status?.phase ?? "Pending",
    workflow: workflowRef.workflowId,
    target: targetResource,
    ...field("engine", workload?.engine ?? workflowRef.engine),
    ...field("reason", reason),
    ...field("message", message && rowText(message)),
    ...field("incident", incident && rowKey(incident, metadata.namespace)),
    ...field("startedAt", status && "startTime" in status ? status.startTime : undefined),
    ...field("endedAt", endedAt),
  });
}

/** Why an execution does not run or did not succeed, as people read it. */
export function executionReason(execution: WorkflowExecution): string | undefined {
  return executionResult(execution).reason;
}

interface ExecutionEnd {
  readonly reason?: string;
  readonly message?: string;
  readonly endedAt?: string;
}

/** Why an execution does not run or did not succeed, and when it ended. */
function executionResult(execution: WorkflowExecution): ExecutionEnd {
  const { status } = execution;
  switch (status?.phase) {
    case "Completed":
      return { endedAt: status.completionTime };
    case "Failed": {
      const { reason, message } = status.failureDetails;
      return { reason, message, endedAt: status.completionTime };
    }
    case "Skipped": {
      const { message, skippedAt } = status.skipDetails;
      return { reason: skipText(status.skipDetails), message, endedAt: skippedAt };
    }
    default: {
      const stall = isUnfinished(execution) ? findStall(execution) : undefined;
      return stall ? { reason: stall.reason, message: describeStall(stall) } : {};
    }
  }
}
