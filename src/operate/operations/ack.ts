import type { KubeObject } from "../../kube/index.ts";
import { findEnd, isCovered } from "../../policy/index.ts";
import {
  annotationKeys,
  parseRecordedTarget,
  type RemediationRequest,
  type RemediationTarget,
  readAckRequest,
  remediationRequests,
  remediationTargets,
  targetHash,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import { isNamed, shortNames } from "../../resources/short-names/index.ts";
import { type Wire, z } from "../../schema/index.ts";
import { OperationError } from "../errors/index.ts";
import { findExecution, findIncident, readObjectName } from "../find/index.ts";
import { defineOperation, isOrWouldBe, type OperationCall, type OperationResult, objectKey } from "../operation.ts";
import { onObject } from "../request/index.ts";
import { requireVersion, type VersionedChange, writeAtVersion } from "../write-at-version.ts";

const schema = z.strictObject(onObject);

type AckCall = OperationCall<Wire<typeof schema>>;

/** Acknowledges a failure, so that the workflow may act on the target again. */
export const ack = defineOperation({
  schema,
  async perform(call) {
    const { client } = call.context;
    const { name, namespace } = readObjectName(call.request.object);
    const incident = await findIncident(client, name, namespace);
    if (incident) return isClosedByFailure(incident) ? ackLastExecution(incident, call) : ackIncident(incident, call);
    const execution = await findExecution(client, name, namespace);
    return execution ? ackExecution(execution, call) : ackOnRecord(name, call);
  },
});

async function ackExecution(execution: WorkflowExecution, call: AckCall): Promise<OperationResult> {
  await writeAtVersion(workflowExecutions, execution, call, (current) => {
    const { metadata, status } = current;
    if (isAckedByCaller(current, call)) return undefined;
    if (status?.phase === "Failed" || status?.phase === "Completed") return ackChange(call);
    const message = `execution ${shortNames(metadata.name ?? "")} is ${status?.phase ?? "new"}: there is nothing to acknowledge`;
    throw new OperationError("conflict", message, { current });
  });
  const { workflowRef, targetResource } = execution.spec;
  const message = ackMessage(execution.metadata.name ?? "", workflowRef.workflowId, targetResource, call);
  return { message, kind: "executions", object: objectKey(execution) };
}

function isClosedByFailure({ status }: RemediationRequest): boolean {
  return status?.phase === "Failed" && status.outcome === "ExecutionFailed";
}

/** An incident that its failed execution has closed waits for nothing: the execution is acknowledged. */
async function ackLastExecution(incident: RemediationRequest, call: AckCall): Promise<OperationResult> {
  const name = shortNames(incident.metadata.name ?? "");
  const last = incident.status?.executionRefs?.at(-1);
  if (!last) throw new OperationError("conflict", `incident ${name} has no execution`, { current: incident });
  const execution = await call.context.client.get(workflowExecutions, { name: last.name, namespace: last.namespace });
  const found = execution?.metadata.uid === last.uid ? execution : undefined;
  if (!found || !isAckedByCaller(found, call)) requireVersion(incident, call.request.ifVersion);
  const { ifVersion: _ofIncident, ...request } = call.request;
  return found ? ackExecution(found, { ...call, request }) : ackOnRecord(last.name, { ...call, request });
}

/** The orchestrator finds the cause of the block, and acknowledges it on the record of the target. */
async function ackIncident(incident: RemediationRequest, call: AckCall): Promise<OperationResult> {
  const name = shortNames(incident.metadata.name ?? "");
  const result = { kind: "incidents", object: objectKey(incident) } as const;
  const acked = `${name} ${isOrWouldBe(call)} acknowledged by ${call.caller.name}`;
  try {
    const { status } = await writeAtVersion(remediationRequests, incident, call, (current) => {
      if (isAckedByCaller(current, call)) return undefined;
      if (current.status?.phase === "Blocked" && current.status.requiresManualReview) return ackChange(call);
      throw new OperationError("conflict", `incident ${name} does not wait for an acknowledgement`, {
        hint: `see what it waits for: interlock why ${name}`,
        current,
      });
    });
    const reason = status?.phase === "Blocked" ? status.block.reason : "the failure";
    return { ...result, message: `${acked}: ${reason} no longer blocks it` };
  } catch (error) {
    // The orchestrator may have moved the acknowledgement on since an earlier attempt of this request.
    if (error instanceof OperationError && error.code === "conflict" && (await isRecorded(incident, call))) {
      return { ...result, message: acked };
    }
    throw error;
  }
}

/** Whether the record of the incident's target has the acknowledgement, in its status or still as an annotation. */
async function isRecorded({ metadata, status }: RemediationRequest, call: AckCall): Promise<boolean> {
  const { client, recordsIn } = call.context;
  const { target = "", workflowId } = status?.diagnosis ?? {};
  const read = parseRecordedTarget(target);
  if (read.kind === "problem") return false;
  const record = await client.get(remediationTargets, { namespace: recordsIn, name: targetHash(read.target) });
  if (!record) return false;
  const { by, reason } = readAckRequest(record) ?? {};
  if (by === call.caller.name && reason === call.request.reason) return true;
  const ack = record.status?.workflows?.find((history) => history.workflowId === workflowId)?.ack;
  const isOfIncident = ack && Date.parse(ack.at) >= Date.parse(metadata.creationTimestamp ?? "");
  return isOfIncident === true && ack.by === call.caller.name && ack.reason === call.request.reason;
}

/** The execution is deleted, but the record of its target has its end, and accepts the acknowledgement. */
async function ackOnRecord(name: string, call: AckCall): Promise<OperationResult> {
  const { request, context } = call;
  const { items } = await context.client.list(remediationTargets);
  for (const record of items) {
    const found = findEnd(record.status, (end) => isNamed(name, end.executionName));
    if (!found) continue;
    if (request.ifVersion !== undefined) {
      throw new OperationError(
        "conflict",
        `execution ${shortNames(name)} was deleted since version ${request.ifVersion}`,
      );
    }
    const { executionUid } = found.end;
    await writeAtVersion(remediationTargets, record, call, (current) => recordChange(current, executionUid, call));
    const message = ackMessage(name, found.history.workflowId, record.spec.targetResource, call);
    return { message, kind: "targets", object: objectKey(record) };
  }
  throw new OperationError("not-found", `there is no incident and no execution ${name}, and no target record has one`, {
    hint: "see: interlock get executions",
  });
}

function recordChange(record: RemediationTarget, executionUid: string, call: AckCall): VersionedChange | undefined {
  const found = findEnd(record.status, (end) => end.executionUid === executionUid);
  const known = found && isCovered(found.history.ack, found.end) ? found.history.ack : undefined;
  if (known?.by === call.caller.name) return undefined;
  if (known) throw ackedBy(known, record);
  const pendingUid = record.metadata.annotations?.[annotationKeys.acknowledgedExecution];
  if (pendingUid === executionUid && isAckedByCaller(record, call)) return undefined;
  const pending = findEnd(record.status, (end) => end.executionUid === pendingUid);
  if (pending && !isCovered(pending.history.ack, pending.end)) {
    // The record holds one acknowledgement until an executor has folded it in.
    const message = `another acknowledgement on ${record.spec.targetResource} is being recorded`;
    throw new OperationError("conflict", message, { hint: "try again in a moment", current: record });
  }
  const { annotations } = ackChange(call);
  return { annotations: { ...annotations, [annotationKeys.acknowledgedExecution]: executionUid } };
}

/** Throws a conflict if another caller has acknowledged it. */
function isAckedByCaller(object: KubeObject, { caller }: AckCall): boolean {
  const known = readAckRequest(object);
  if (known && known.by !== caller.name) throw ackedBy(known, object);
  return known !== undefined;
}

function ackedBy(
  { by, reason }: { readonly by: string; readonly reason: string },
  current: KubeObject,
): OperationError {
  const message = `${shortNames(current.metadata.name ?? "")} is acknowledged already by ${by}: ${reason}`;
  return new OperationError("conflict", message, { current });
}

function ackChange({ request, caller }: AckCall) {
  const { acknowledge, acknowledgedBy } = annotationKeys;
  return { annotations: { [acknowledge]: request.reason, [acknowledgedBy]: caller.name } };
}

function ackMessage(name: string, workflowId: string, target: string, call: AckCall): string {
  return `${shortNames(name)} ${isOrWouldBe(call)} acknowledged by ${call.caller.name}: ${workflowId} may act on ${target} again`;
}
