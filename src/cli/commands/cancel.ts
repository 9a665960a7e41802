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
import { shortNames } from "../../resources/short-names/index.ts";
import { CommandError, type Desk, MisuseError } from "../command.ts";
import { forEachName } from "../for-each-name.ts";
import { ownName } from "../own-name.ts";
import { findExecution, findIncident, findTasks } from "../parsing/find.ts";
import { bareName } from "../parsing/kinds.ts";
import { type NamespaceOptions, searchedNamespace } from "../parsing/namespace.ts";

interface CancelOptions extends NamespaceOptions {
  readonly reason: string;
  readonly block?: boolean;
}

/** `interlock cancel` */
export async function cancel(desk: Desk, names: readonly string[], options: CancelOptions): Promise<number> {
  const namespace = searchedNamespace(options, desk);
  const request = { by: await ownName(desk), reason: options.reason, blocks: options.block ?? false };
  return forEachName(names, desk, (name) => cancelNamed(bareName(name), namespace, request, desk));
}

async function cancelNamed(
  name: string,
  namespace: string | undefined,
  request: CancelRequest,
  desk: Desk,
): Promise<void> {
  const { client } = desk;
  const [task] = name.startsWith("git:") ? [] : await findTasks(client, name);
  if (task && request.blocks) throw new MisuseError("--block is for executions and incidents; a coding task has none");
  if (task) return cancelTask(task, request, desk);
  const incident = await findIncident(client, name, namespace);
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
): Promise<void> {
  const ref = { name: metadata.name ?? "", namespace: metadata.namespace ?? "" };
  if (status && (status.phase === "Completed" || status.phase === "Failed" || status.phase === "Skipped")) {
    terminal.print(shortNames(`${ref.name} has ended already, ${status.phase}: there is nothing to cancel`));
    return;
  }
  await annotate(client, workflowExecutions, ref, request);
  terminal.print(shortNames(`${ref.name} is being cancelled; see: interlock why ${ref.name}`));
}

async function cancelIncident(
  { metadata, status }: RemediationRequest,
  request: CancelRequest,
  { client, terminal }: Desk,
): Promise<void> {
  const ref = { name: metadata.name ?? "", namespace: metadata.namespace ?? "" };
  if (status && "completedAt" in status) {
    terminal.print(shortNames(`${ref.name} is closed already, ${status.outcome}: there is nothing to cancel`));
    return;
  }
  await annotate(client, remediationRequests, ref, request);
  terminal.print(shortNames(`${ref.name} is being cancelled; see: interlock why ${ref.name}`));
  if (!request.blocks) {
    terminal.print("the next report of the problem opens a new incident; to prevent another run: interlock pause");
  }
}

async function cancelTask(task: CodingTask, request: CancelRequest, { client, terminal }: Desk): Promise<void> {
  const ref = { name: task.metadata.name ?? "", namespace: task.metadata.namespace ?? "" };
  if (task.status && "completionTime" in task.status) {
    terminal.print(shortNames(`${ref.name} has ended already, ${task.status.phase}: there is nothing to cancel`));
    return;
  }
  const merge = { metadata: { annotations: cancelAnnotations(request) } };
  await client.patch(codingTasks, ref, { merge });
  terminal.print(shortNames(`${ref.name} is being cancelled; see: interlock why ${ref.name}`));
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
