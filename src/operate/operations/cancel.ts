import type { KubeObject, ResourceType } from "../../kube/index.ts";
import {
  type CancelRequest,
  type CodingTask,
  cancelAnnotations,
  closedStatus,
  codingTasks,
  isClosedIncident,
  isClosedTask,
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
import {
  type ChangedKind,
  defineOperation,
  type OperationCall,
  type OperationResult,
  objectKey,
} from "../operation.ts";
import { fields, onObject } from "../request/index.ts";
import { writeAtVersion } from "../write-at-version.ts";

const schema = z.strictObject({ ...onObject, block: fields.block });

type CancelCall = OperationCall<Wire<typeof schema>>;

/** Stops an execution, an incident with its executions, or a coding task. */
export const cancel = defineOperation({
  schema,
  async perform(call) {
    const { request, context } = call;
    const { name, namespace } = readObjectName(request.object);
    const [task] = name.startsWith("git:") ? [] : await findTasks(context.client, name);
    if (task) return cancelTask(task, call);
    const incident = await findIncident(context.client, name, namespace);
    if (incident) return cancelIncident(incident, call);
    const execution = await findExecution(context.client, name, namespace);
    if (execution) return cancelExecution(execution, call);
    throw new OperationError("not-found", `there is no execution, incident or task ${name}`, {
      hint: "see: interlock get executions (or incidents, tasks)",
    });
  },
});

function cancelExecution(execution: WorkflowExecution, call: CancelCall): Promise<OperationResult> {
  return requestStop(execution, call, {
    type: workflowExecutions,
    kind: "executions",
    ended: (current) => (isUnfinished(current) ? undefined : `has ended already, ${current.status?.phase}`),
  });
}

async function cancelIncident(incident: RemediationRequest, call: CancelCall): Promise<OperationResult> {
  const result = await requestStop(incident, call, {
    type: remediationRequests,
    kind: "incidents",
    ended: (current) =>
      isClosedIncident(current) ? `is closed already, ${closedStatus(current)?.outcome}` : undefined,
  });
  if (call.request.block || isClosedIncident(incident)) return result;
  const note = "the next report of the problem opens a new incident; to prevent another run: interlock pause";
  return { ...result, notes: [note] };
}

function cancelTask(task: CodingTask, call: CancelCall): Promise<OperationResult> {
  if (call.request.block) {
    throw new OperationError("invalid", "--block is for executions and incidents; a coding task has none");
  }
  return requestStop(task, call, {
    type: codingTasks,
    kind: "tasks",
    ended: (current) => (isClosedTask(current) ? `has ended already, ${current.status?.phase}` : undefined),
  });
}

interface Stoppable<T> {
  readonly type: ResourceType<T & KubeObject>;
  readonly kind: ChangedKind;
  /** How it has ended; undefined if it can still be stopped. */
  readonly ended: (object: T) => string | undefined;
}

/** Writes the request to the object, whose controller stops it. An object that has ended, or is being stopped, is not changed. */
async function requestStop<T extends KubeObject>(
  object: T,
  call: CancelCall,
  { type, kind, ended }: Stoppable<T>,
): Promise<OperationResult> {
  const wanted = { by: call.caller.name, reason: call.request.reason, blocks: call.request.block ?? false };
  const current = await writeAtVersion(type, object, call, (latest) => {
    if (ended(latest) !== undefined || isSatisfied(readCancelRequest(latest), wanted)) return undefined;
    return { annotations: cancelAnnotations(wanted) };
  });
  const name = object.metadata.name ?? "";
  const end = ended(current);
  const known = readCancelRequest(current);
  const already = known && known.by !== wanted.by ? ` already, by ${known.by}: ${known.reason}` : "";
  const message =
    end === undefined
      ? `${name} ${call.request.dryRun ? "would be" : "is being"} cancelled${already}; see: interlock why ${name}`
      : `${name} ${end}: there is nothing to cancel`;
  return { message, kind, object: objectKey(object) };
}

/** A request that also blocks the workflow adds something to one that does not. */
function isSatisfied(known: CancelRequest | undefined, wanted: CancelRequest): boolean {
  return known !== undefined && (known.blocks || !wanted.blocks);
}
