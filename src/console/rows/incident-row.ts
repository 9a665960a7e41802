import {
  annotationKeys,
  blockText,
  closedStatus,
  describeStall,
  findStall,
  incidentSeverity,
  isClosedIncident,
  type RemediationRequest,
} from "../../resources/index.ts";
import type { IncidentRow } from "../wire.ts";
import { fitRow } from "./fit-row.ts";
import { laneOf, nextOperations } from "./lane.ts";
import { field, rowBase, rowKey, rowText } from "./row-base.ts";

/** What a row shows of other objects than the incident itself. */
export type IncidentLinks = Pick<IncidentRow, "position" | "attempt" | "approval">;

export function toIncidentRow(incident: RemediationRequest, links: IncidentLinks = {}): IncidentRow {
  const { spec, status } = incident;
  const diagnosis = status?.diagnosis;
  const block = status?.phase === "Blocked" ? status.block : undefined;
  const closed = closedStatus(incident);
  const { deduplication } = status ?? {};
  const message = incidentMessage(incident);
  return fitRow({
    kind: "incidents",
    ...rowBase(incident),
    lane: laneOf(incident),
    phase: status?.phase ?? "Pending",
    signal: spec.signalName,
    severity: incidentSeverity(incident),
    subject: incidentSubject(incident),
    ...field("target", diagnosis?.target),
    ...field("workflow", diagnosis?.workflowId),
    ...field("rule", diagnosis?.rule),
    ...field("reason", incidentReason(incident)),
    ...field("message", message && rowText(message)),
    ...field("until", block?.until),
    ...field("execution", incidentExecution(incident)),
    ...links,
    next: nextOperations(incident),
    seen: deduplication?.occurrenceCount ?? 1,
    ...field("lastSeenAt", deduplication?.lastSeenAt),
    ...field("outcome", closed?.outcome),
    ...field("closedAt", closed?.completedAt),
  });
}

/** Why an open incident does not move, as people read it. */
export function incidentReason(incident: RemediationRequest): string | undefined {
  const { status } = incident;
  if (status?.phase === "Blocked") return blockText(status.block.reason, status.block.cause);
  return isClosedIncident(incident) ? undefined : findStall(incident)?.reason;
}

/** The sentence that explains its state. */
export function incidentMessage(incident: RemediationRequest): string | undefined {
  const { status } = incident;
  const stall = isClosedIncident(incident) ? undefined : findStall(incident);
  if (stall) return describeStall(stall);
  // The message of its status names the commands for an answer; a page has buttons for it.
  if (status?.phase === "AwaitingApproval") return `${status.diagnosis.workflowId} requires an approval`;
  return status?.message ?? (status?.phase === "Blocked" ? status.block.message : undefined);
}

/** The object that the first signal named. */
function incidentSubject({ metadata, spec }: RemediationRequest): string {
  const { kind, name, namespace } = spec.targetResource;
  return (
    metadata.annotations?.[annotationKeys.subject] ?? `${namespace ? `${namespace}/` : ""}${kind.toLowerCase()}/${name}`
  );
}

/** The execution that holds the target, else the one that the incident follows, else its own latest one. */
function incidentExecution({ status }: RemediationRequest): string | undefined {
  const holder = status?.phase === "Blocked" ? status.block.holder : undefined;
  if (holder) return rowKey({ namespace: holder.executionNamespace, name: holder.executionName });
  const execution = status?.follows ?? status?.executionRefs?.at(-1);
  return execution && rowKey(execution);
}
