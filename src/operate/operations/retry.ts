import type { KubeClient } from "../../kube/index.ts";
import {
  annotationKeys,
  isUnfinished,
  type RemediationRequest,
  remediationApprovalRequests,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import { type Wire, z } from "../../schema/index.ts";
import { keyedName } from "../create-once.ts";
import { OperationError } from "../errors/index.ts";
import { findExecution, findIncident, readObjectName } from "../find/index.ts";
import { defineOperation, type OperationCall, type OperationResult } from "../operation.ts";
import { fields, onObject } from "../request/index.ts";
import { approvalResult, rationale } from "../start-run/request-approval.ts";
import { executionResult, startRun } from "../start-run/start-run.ts";
import { requireVersion } from "../write-at-version.ts";

const schema = z.strictObject({ ...onObject, approval: fields.approval });

type RetryCall = OperationCall<Wire<typeof schema>>;

/** Repeats an ended execution, or the last execution of an incident: the same workflow, target and parameters. */
export const retry = defineOperation({
  schema,
  async perform(call) {
    const name = keyedName("retry", call);
    const earlier = await findEarlier(name, call);
    if (earlier) return earlier;
    const { metadata, spec } = await findEnded(call);
    const { workflowRef, targetResource, parameters = {} } = spec;
    return startRun(
      {
        name,
        workflowId: workflowRef.workflowId,
        target: targetResource,
        parametersFor: () => parameters,
        retryOf: metadata.name ?? "",
        approval: call.request.approval,
      },
      call,
    );
  },
});

/**
 * The result of an earlier attempt of this request. It is read first, because the last execution of an incident, or the
 * version of the object, may have changed since.
 */
async function findEarlier(name: string, call: RetryCall): Promise<OperationResult | undefined> {
  const { request, context } = call;
  const ref = { name, namespace: context.incidentsIn };
  const execution = await context.client.get(workflowExecutions, ref);
  const isSame = execution?.metadata.annotations?.[annotationKeys.requestReason] === request.reason;
  if (execution) return isSame ? executionResult(execution, call) : undefined;
  if (request.approval !== undefined) return undefined;
  const requested = await context.client.get(remediationApprovalRequests, ref);
  return requested?.spec.recommendedWorkflow.rationale === rationale(call)
    ? approvalResult(requested, call)
    : undefined;
}

async function findEnded({ request, context: { client } }: RetryCall): Promise<WorkflowExecution> {
  const { name, namespace } = readObjectName(request.object);
  const incident = await findIncident(client, name, namespace);
  const execution = incident ? await lastExecution(incident, client) : await findExecution(client, name, namespace);
  if (!execution) {
    throw new OperationError("not-found", `there is no execution and no incident ${name}`, {
      hint: "see: interlock get executions (or incidents)",
    });
  }
  requireVersion(incident ?? execution, request.ifVersion);
  if (!isUnfinished(execution)) return execution;
  const { status, metadata } = execution;
  const message = `execution ${metadata.name} is ${status?.phase ?? "new"}: it can be retried when it has ended`;
  throw new OperationError("conflict", message, { current: execution });
}

/** The last execution of the incident, or the one that it follows. */
async function lastExecution(incident: RemediationRequest, client: KubeClient): Promise<WorkflowExecution> {
  const { metadata, status } = incident;
  const name = shortNames(metadata.name ?? "");
  const last = status?.executionRefs?.at(-1) ?? status?.follows;
  if (!last) {
    throw new OperationError("conflict", `incident ${name} has no execution`, {
      hint: `see: interlock why ${name}`,
      current: incident,
    });
  }
  const execution = await client.get(workflowExecutions, { name: last.name, namespace: last.namespace });
  if (execution?.metadata.uid === last.uid) return execution;
  throw new OperationError("not-found", `the last execution of incident ${name}, ${last.name}, was deleted`);
}
