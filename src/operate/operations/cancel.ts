import type { KubeObject, ResourceType } from "../../kube/index.ts";
import {
  type CancelRequest,
  type CodingTask,
  cancelAnnotations,
  codingTasks,
  isClosedIncident,
  isUnfinished,
  type RemediationRequest,
  readCancelRequest,
  remediationRequests,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import { type Wire, z } from "../../schema/index.ts";
import { OperationError } from "../errors/index.ts";
import { findExecution, findIncident, findTasks, readObjectName } from "../find/index.ts";
import { type ChangedKind, defineOperation, type OperationResult, type Order, objectKey } from "../operation.ts";
import { fields, onObject } from "../request/index.ts";
import { writeAtVersion } from "../write-at-version.ts";

const schema = z.strictObject({ ...onObject, block: fields.block });

type CancelOrder = Order<Wire<typeof schema>>;

/** Stops an execution, everything that is done for an incident, or a coding task. */
export const cancel = defineOperation({
  schema,
  async perform(order) {
    const { request, context } = order;
    const { name, namespace } = readObjectName(request.object);
    const [task] = name.startsWith("git:") ? [] : await findTasks(context.client, name);
    if (task) return cancelTask(task, order);
    const incident = await findIncident(context.client, name, namespace);
    if (incident) return cancelIncident(incident, order);
    const execution = await findExecution(context.client, name, namespace);
    if (execution) return cancelExecution(execution, order);
    throw new OperationError("not-found", `there is no execution, incident or task ${name}`, {
      hint: "see: interlock get executions (or incidents, tasks)",
    });
  },
});

function cancelExecution(execution: WorkflowExecution, order: CancelOrder): Promise<OperationResult> {
  return requestStop(execution, order, {
    type: workflowExecutions,
    kind: "executions",
    ended: (current) => (isUnfinished(current) ? undefined : `has ended already, ${current.status?.phase}`),
  });
}

async function cancelIncident(incident: RemediationRequest, order: CancelOrder): Promise<OperationResult> {
  const result = await requestStop(incident, order, {
    type: remediationRequests,
    kind: "incidents",
    ended: ({ status }) => (status && "completedAt" in status ? `is closed already, ${status.outcome}` : undefined),
  });
  if (order.request.block || isClosedIncident(incident)) return result;
  const note = "the next report of the problem opens a new incident; to prevent another run: interlock pause";
  return { ...result, notes: [note] };
}

function cancelTask(task: CodingTask, order: CancelOrder): Promise<OperationResult> {
  if (order.request.block) {
    throw new OperationError("invalid", "--block is for executions and incidents; a coding task has none");
  }
  return requestStop(task, order, {
    type: codingTasks,
    kind: "tasks",
    ended: ({ status }) => (status && "completionTime" in status ? `has ended already, ${status.phase}` : undefined),
  });
}

interface Stoppable<T> {
  readonly type: ResourceType<T & KubeObject>;
  readonly kind: ChangedKind;
  /** How it has ended; undefined if it can still be stopped. */
  readonly ended: (object: T) => string | undefined;
}

/** Writes the request on the object; its controller stops it. An object that has ended, or is being stopped, needs no change. */
async function requestStop<T extends KubeObject>(
  object: T,
  order: CancelOrder,
  { type, kind, ended }: Stoppable<T>,
): Promise<OperationResult> {
  const wanted = { by: order.caller.name, reason: order.request.reason, blocks: order.request.block ?? false };
  const current = await writeAtVersion(type, object, order, (latest) => {
    if (ended(latest) !== undefined || isSatisfied(readCancelRequest(latest), wanted)) return undefined;
    return { annotations: cancelAnnotations(wanted) };
  });
  const name = object.metadata.name ?? "";
  const end = ended(current);
  const known = readCancelRequest(current);
  const already = known && known.by !== wanted.by ? ` already, by ${known.by}: ${known.reason}` : "";
  const message =
    end === undefined
      ? `${name} ${order.request.dryRun ? "would be" : "is being"} cancelled${already}; see: interlock why ${name}`
      : `${name} ${end}: there is nothing to cancel`;
  return { message, kind, object: objectKey(object) };
}

/** A request that also blocks the workflow adds something to one that does not. */
function isSatisfied(known: CancelRequest | undefined, wanted: CancelRequest): boolean {
  return known !== undefined && (known.blocks || !wanted.blocks);
}
