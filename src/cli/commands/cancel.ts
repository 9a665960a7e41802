import type { KubeClient } from "../../kube/index.ts";
import {
  type CancelRequest,
  type CodingTask,
  cancelAnnotations,
  codingTasks,
  type RemediationRequest,
  remediationRequests,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import { CommandError, type Desk, MisuseError } from "../command.ts";
import { ownName } from "../own-name.ts";
import { findExecution, findIncident, findTasks } from "../parsing/find.ts";

interface CancelOptions {
  readonly reason: string;
  readonly block?: boolean;
  readonly namespace?: string;
}

/** `interlock cancel` */
export async function cancel(
  desk: Desk,
  name: string,
  { reason, block = false, namespace }: CancelOptions,
): Promise<number> {
  const { client, terminal } = desk;
  const [task] = name.startsWith("git:") ? [] : await findTasks(client, name);
  if (task && block) throw new MisuseError("--block is for executions and incidents; a coding task has none");
  const request = { by: await ownName({ client, terminal }), reason, blocks: block };
  if (task) return cancelTask(task, request, desk);
  const incident = await findIncident(client, name);
  if (incident) return cancelIncident(incident, request, desk);
  const execution = await findExecution(client, name, namespace);
  if (execution) return cancelExecution(execution, request, desk);
  throw new CommandError(
    `there is no execution, incident or task ${name}; see: interlock get executions (or incidents, tasks)`,
  );
}

/** Asks the executor to stop an execution. */
export async function cancelExecution(
  { metadata, status }: WorkflowExecution,
  request: CancelRequest,
  { client, terminal }: Pick<Desk, "client" | "terminal">,
): Promise<number> {
  const ref = { name: metadata.name ?? "", namespace: metadata.namespace ?? "" };
  if (status && (status.phase === "Completed" || status.phase === "Failed" || status.phase === "Skipped")) {
    terminal.print(`${ref.name} has ended already, ${status.phase}: there is nothing to cancel`);
    return 0;
  }
  await annotate(client, workflowExecutions, ref, request);
  terminal.print(`${ref.name} is being cancelled; see: interlock why ${ref.name}`);
  return 0;
}

async function cancelIncident(
  { metadata, status }: RemediationRequest,
  request: CancelRequest,
  { client, terminal }: Desk,
): Promise<number> {
  const ref = { name: metadata.name ?? "", namespace: metadata.namespace ?? "" };
  if (status && "completedAt" in status) {
    terminal.print(`${ref.name} is closed already, ${status.outcome}: there is nothing to cancel`);
    return 0;
  }
  await annotate(client, remediationRequests, ref, request);
  terminal.print(`${ref.name} is being cancelled; see: interlock why ${ref.name}`);
  if (!request.blocks) {
    terminal.print("the next report of the problem opens a new incident; to prevent another run: interlock pause");
  }
  return 0;
}

async function cancelTask(task: CodingTask, request: CancelRequest, { client, terminal }: Desk) {
  const ref = { name: task.metadata.name ?? "", namespace: task.metadata.namespace ?? "" };
  if (task.status && "completionTime" in task.status) {
    terminal.print(`${ref.name} has ended already, ${task.status.phase}: there is nothing to cancel`);
    return 0;
  }
  const merge = { metadata: { annotations: cancelAnnotations(request) } };
  await client.patch(codingTasks, ref, { merge });
  terminal.print(`${ref.name} is being cancelled; see: interlock why ${ref.name}`);
  return 0;
}

async function annotate(
  client: KubeClient,
  type: typeof workflowExecutions | typeof remediationRequests,
  ref: { readonly name: string; readonly namespace: string },
  request: CancelRequest,
): Promise<void> {
  const merge = { metadata: { annotations: cancelAnnotations(request) } };
  const outcome = await client.patch<WorkflowExecution | RemediationRequest>(type, ref, { merge });
  if (outcome.kind === "not-found") throw new CommandError(`${ref.name} was deleted`);
}
