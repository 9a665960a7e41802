import type { KubeClient } from "../../kube/index.ts";
import {
  annotationKeys,
  type RemediationRequest,
  remediationRequests,
  remediationTargets,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import { CommandError, type Desk } from "../command.ts";
import type { Terminal } from "../output/terminal.ts";
import { ownName } from "../own-name.ts";
import { findExecution, findIncident } from "../parsing/find.ts";
import { isNamed, shortNames } from "../parsing/short-name.ts";

/** `interlock ack` */
export async function ack(
  { client, terminal: given }: Desk,
  name: string,
  { reason, namespace: within }: { readonly reason: string; readonly namespace?: string },
): Promise<number> {
  const terminal = { ...given, user: await ownName({ client, terminal: given }) };
  const annotations = { [annotationKeys.acknowledge]: reason, [annotationKeys.acknowledgedBy]: terminal.user };
  const incident = await findIncident(client, name);
  if (incident) return ackIncident(incident, annotations, client, terminal);
  const execution = await findExecution(client, name, within);
  if (!execution) return ackOnRecord(name, annotations, client, terminal);
  refuseUnended(execution);

  const { name: wholeName = "", namespace = "", resourceVersion } = execution.metadata;
  const patch = { merge: { metadata: { resourceVersion, annotations } } };
  const outcome = await client.patch(workflowExecutions, { name: wholeName, namespace }, patch);
  if (outcome.kind !== "updated") throw new CommandError(`execution ${name} changed meanwhile; try again`);
  tell(name, execution.spec.workflowRef.workflowId, execution.spec.targetResource, terminal);
  return 0;
}

/** The orchestrator knows what the incident waits for, and acknowledges that. */
async function ackIncident(
  { metadata, status }: RemediationRequest,
  annotations: Readonly<Record<string, string>>,
  client: KubeClient,
  { print, user }: Terminal,
): Promise<number> {
  const name = shortNames(metadata.name ?? "");
  if (status?.phase !== "Blocked" || !status.requiresManualReview) {
    throw new CommandError(`incident ${name} does not wait for a person; see what it waits for: interlock why ${name}`);
  }
  const ref = { name: metadata.name ?? "", namespace: metadata.namespace ?? "" };
  const patch = { merge: { metadata: { resourceVersion: metadata.resourceVersion, annotations } } };
  const outcome = await client.patch(remediationRequests, ref, patch);
  if (outcome.kind !== "updated") throw new CommandError(`incident ${name} changed meanwhile; try again`);
  print(`${name} is acknowledged by ${user}: ${status.block.reason} no longer stands in its way`);
  return 0;
}

/** The execution is gone, but what it did is not: the target's record remembers it, and takes the word for it. */
async function ackOnRecord(
  name: string,
  annotations: Readonly<Record<string, string>>,
  client: KubeClient,
  terminal: Terminal,
): Promise<number> {
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
      tell(name, workflowId, spec.targetResource, terminal);
      return 0;
    }
  }
  throw new CommandError(
    `there is no incident and no execution ${name}, and no target remembers one; see: interlock get executions`,
  );
}

function tell(name: string, workflowId: string, target: string, { print, user }: Terminal): void {
  print(`${name} is acknowledged by ${user}: ${workflowId} may act on ${target} again`);
}

function refuseUnended({ metadata, status }: WorkflowExecution): void {
  if (status?.phase === "Failed" || status?.phase === "Completed") return;
  throw new CommandError(`execution ${metadata.name} is ${status?.phase ?? "new"}: there is nothing to acknowledge`);
}
