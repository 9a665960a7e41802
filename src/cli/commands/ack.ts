import {
  annotationKeys,
  type RemediationRequest,
  remediationRequests,
  remediationTargets,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import { isNamed, shortNames } from "../../resources/short-names/index.ts";
import { CommandError, type Desk } from "../command.ts";
import { forEachName } from "../for-each-name.ts";
import type { Terminal } from "../output/terminal.ts";
import { ownName } from "../own-name.ts";
import { findExecution, findIncident } from "../parsing/find.ts";
import { bareName } from "../parsing/kinds.ts";
import { type NamespaceOptions, searchedNamespace } from "../parsing/namespace.ts";

interface AckOptions extends NamespaceOptions {
  readonly reason: string;
}

/** `interlock ack` */
export async function ack(desk: Desk, names: readonly string[], options: AckOptions): Promise<number> {
  const namespace = searchedNamespace(options, desk);
  const user = await ownName(desk);
  const annotations = { [annotationKeys.acknowledge]: options.reason, [annotationKeys.acknowledgedBy]: user };
  const order = { annotations, client: desk.client, terminal: { ...desk.terminal, user } };
  return forEachName(names, desk, (name) => ackNamed(bareName(name), namespace, order));
}

/** An acknowledgement, and what is needed to record it. */
interface AckOrder extends Pick<Desk, "client" | "terminal"> {
  readonly annotations: Readonly<Record<string, string>>;
}

async function ackNamed(name: string, within: string | undefined, order: AckOrder): Promise<void> {
  const { annotations, client, terminal } = order;
  const incident = await findIncident(client, name, within);
  if (incident) return ackIncident(incident, order);
  const execution = await findExecution(client, name, within);
  if (!execution) return ackOnRecord(name, order);
  refuseUnended(execution);

  const { name: wholeName = "", namespace = "", resourceVersion } = execution.metadata;
  const patch = { merge: { metadata: { resourceVersion, annotations } } };
  const outcome = await client.patch(workflowExecutions, { name: wholeName, namespace }, patch);
  if (outcome.kind !== "updated") throw new CommandError(`execution ${name} changed meanwhile; try again`);
  printAcknowledged(name, execution.spec.workflowRef.workflowId, execution.spec.targetResource, terminal);
}

/** The orchestrator knows what the incident waits for, and acknowledges that. */
async function ackIncident(
  { metadata, status }: RemediationRequest,
  { annotations, client, terminal: { print, user } }: AckOrder,
): Promise<void> {
  const name = shortNames(metadata.name ?? "");
  if (status?.phase !== "Blocked" || !status.requiresManualReview) {
    throw new CommandError(`incident ${name} does not wait for a person; see what it waits for: interlock why ${name}`);
  }
  const ref = { name: metadata.name ?? "", namespace: metadata.namespace ?? "" };
  const patch = { merge: { metadata: { resourceVersion: metadata.resourceVersion, annotations } } };
  const outcome = await client.patch(remediationRequests, ref, patch);
  if (outcome.kind !== "updated") throw new CommandError(`incident ${name} changed meanwhile; try again`);
  print(`${name} is acknowledged by ${user}: ${status.block.reason} no longer stands in its way`);
}

/** The execution is gone, but what it did is not: the target's record remembers it, and takes the word for it. */
async function ackOnRecord(name: string, { annotations, client, terminal }: AckOrder): Promise<void> {
  const { items } = await client.list(remediationTargets);
  for (const { metadata, spec, status } of items) {
    for (const { workflowId, lastFailure, lastExecutionFailure, ineffective, recentEnds } of status?.workflows ?? []) {
      const end = [lastExecutionFailure, lastFailure, ineffective?.latestSuccess, ...recentEnds].find(
        (end) => end && isNamed(name, end.executionName),
      );
      if (!end) continue;
      const all = { ...annotations, [annotationKeys.acknowledgedExecution]: end.executionUid };
      const ref = { name: metadata.name ?? "", namespace: metadata.namespace ?? "" };
      await client.patch(remediationTargets, ref, { merge: { metadata: { annotations: all } } });
      printAcknowledged(name, workflowId, spec.targetResource, terminal);
      return;
    }
  }
  throw new CommandError(
    `there is no incident and no execution ${name}, and no target remembers one; see: interlock get executions`,
  );
}

function printAcknowledged(name: string, workflowId: string, target: string, { print, user }: Terminal): void {
  print(`${shortNames(name)} is acknowledged by ${user}: ${workflowId} may act on ${target} again`);
}

function refuseUnended({ metadata, status }: WorkflowExecution): void {
  if (status?.phase === "Failed" || status?.phase === "Completed") return;
  throw new CommandError(`execution ${metadata.name} is ${status?.phase ?? "new"}: there is nothing to acknowledge`);
}
