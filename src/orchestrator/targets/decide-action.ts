import { byAge, iso } from "../../kube/index.ts";
import { askingIncident, askPolicy, type PolicyDecision } from "../../policy/index.ts";
import {
  annotationKeys,
  type ExecutionEnd,
  isRecorded,
  isUnfinished,
  type RemediationRequest,
  type RemediationTargetStatus,
  type TargetHolder,
  type WorkflowExecution,
} from "../../resources/index.ts";
import type { OrchestratorSettings } from "../settings.ts";
import { requireDiagnosis } from "../statuses.ts";
import type { TargetView } from "./target-view.ts";

/** Returns the policy's decision whether an incident may act on its target now. */
export function decideAction(incident: RemediationRequest, view: TargetView): PolicyDecision {
  const { catalog, kinds, pauses, settings, nowMs, target, causesOf } = view;
  const diagnosis = requireDiagnosis(incident);
  const { workflowId } = diagnosis;
  const facts = askingIncident(incident, causesOf(incident));
  const record = asHeld(facts.wasIneffective ? withLatestSuccess(view, workflowId) : view);
  const request = {
    target: diagnosis.target,
    namespace: target.namespace,
    workflowId,
    incident: facts,
    entry: catalog.lookUp(workflowId),
    usage: { diagnosis, target: target.reading },
  };
  return askPolicy(request, { record, kinds, pauses, settings, nowMs }).decision;
}

/**
 * An incident stays Ineffective when the record is deleted. Only executors create records, so until then the end to
 * acknowledge is derived from the executions.
 */
function withLatestSuccess(
  view: TargetView,
  workflowId: string,
): Pick<TargetView, "executions" | "settings"> & Recorded {
  if (view.record?.status) return view;
  const ends = view.executions.filter(({ spec }) => spec.workflowRef.workflowId === workflowId).flatMap(successFor);
  const recentEnds = ends.sort((a, b) => Date.parse(b.completedAt) - Date.parse(a.completedAt)).slice(0, 1);
  return { ...view, record: { status: { workflows: [{ workflowId, consecutiveFailures: 0, recentEnds }] } } };
}

/** Returns the success of an execution of an incident, unless it is acknowledged. */
function successFor({ metadata, status }: WorkflowExecution): readonly ExecutionEnd[] {
  const { annotations = {}, uid = "", name = "", namespace = "" } = metadata;
  const signalFingerprint = annotations[annotationKeys.signalFingerprint];
  if (status?.phase !== "Completed" || !signalFingerprint || annotations[annotationKeys.acknowledge]) return [];
  const names = { executionUid: uid, executionName: name, executionNamespace: namespace };
  return [{ ...names, outcome: "Success", completedAt: status.completionTime, signalFingerprint }];
}

interface Recorded {
  readonly record: { readonly status?: RemediationTargetStatus } | undefined;
}

/** Treats an execution that is not admitted yet, or whose end is not in the record yet, as the holder of the target. */
function asHeld({
  record,
  executions,
  settings,
}: Pick<TargetView, "executions" | "settings"> & Recorded): RemediationTargetStatus | undefined {
  if (record?.status?.holder) return record.status;
  const [first] = executions.filter(isPendingOrUnsettled).sort(byAge);
  return first ? { ...record?.status, holder: toHolder(first, settings) } : record?.status;
}

function isPendingOrUnsettled(execution: WorkflowExecution): boolean {
  return isUnfinished(execution) || (execution.status?.phase !== "Skipped" && !isRecorded(execution));
}

function toHolder({ metadata, spec }: WorkflowExecution, { engine }: OrchestratorSettings): TargetHolder {
  return {
    executionUid: metadata.uid ?? "",
    executionName: metadata.name ?? "",
    executionNamespace: metadata.namespace ?? "",
    workflowId: spec.workflowRef.workflowId,
    engine: spec.workflowRef.engine ?? engine,
    since: iso(metadata.creationTimestamp ?? 0),
  };
}
