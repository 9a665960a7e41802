import { byAge } from "../kube/index.ts";
import { type ActionRequest, type Decision, decide, workflowRules } from "../policy/index.ts";
import {
  isRecorded,
  isUnfinished,
  type RemediationRequest,
  type RemediationTargetStatus,
  type TargetHolder,
  type WorkflowExecution,
} from "../resources/index.ts";
import type { OrchestratorSettings } from "./settings.ts";
import type { TargetView } from "./target-view.ts";

/** The policy's answer to whether an incident may have its target acted on now. */
export function askPolicy(incident: RemediationRequest, view: TargetView): Decision {
  const { catalog, pauses, settings, nowMs } = view;
  const request = requestOf(incident, view);
  const entry = catalog.find(request.workflowId);
  const record = asHeld(view);
  return decide(request, { record, workflow: entry && workflowRules(entry), pauses, settings, nowMs });
}

function requestOf({ status, spec }: RemediationRequest, { namespace }: TargetView): ActionRequest {
  const { target = "", workflowId = "" } = status?.diagnosis ?? {};
  return { target, workflowId, fingerprint: spec.signalFingerprint, ...(namespace === undefined ? {} : { namespace }) };
}

/** An execution that was not admitted yet, or whose end is not in the record yet, holds the target as far as we care. */
function asHeld({ record, executions, settings }: TargetView): RemediationTargetStatus | undefined {
  if (record?.status?.holder) return record.status;
  const [first] = executions.filter(isPendingOrUnsettled).sort(byAge);
  return first ? { ...record?.status, holder: holderOf(first, settings) } : record?.status;
}

function isPendingOrUnsettled(execution: WorkflowExecution): boolean {
  return isUnfinished(execution) || (execution.status?.phase !== "Skipped" && !isRecorded(execution));
}

function holderOf({ metadata, spec }: WorkflowExecution, { engine }: OrchestratorSettings): TargetHolder {
  return {
    executionUid: metadata.uid ?? "",
    executionName: metadata.name ?? "",
    executionNamespace: metadata.namespace ?? "",
    workflowId: spec.workflowRef.workflowId,
    engine: spec.workflowRef.engine ?? engine,
    since: new Date(metadata.creationTimestamp ?? 0).toISOString(),
  };
}
