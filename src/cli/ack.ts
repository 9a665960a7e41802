import { parseArgs } from "node:util";
import type { KubeClient } from "../kube/index.ts";
import {
  annotationKeys,
  type RemediationRequest,
  remediationRequests,
  remediationTargets,
  type WorkflowExecution,
  workflowExecutions,
} from "../resources/index.ts";
import { type Command, CommandError, type Desk } from "./command.ts";
import { findExecution } from "./find-execution.ts";
import { isNamed, shortName } from "./short-name.ts";
import type { Terminal } from "./terminal.ts";

/** `interlock ack` */
export const ack: Command<Desk> = {
  name: "ack",
  about: "say that trying again is safe after a failure",
  usage: `interlock ack EXECUTION|INCIDENT --reason TEXT [--namespace NS]

Says that somebody has looked at what a failed execution left behind, and that trying again is safe. For an incident: at
what it waits for, which may also be a fix that does not last.`,
  perform: performAck,
};

async function performAck(args: readonly string[], { client, terminal }: Desk): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { reason: { type: "string" }, namespace: { type: "string" } },
  });
  const [name] = positionals;
  const reason = values.reason?.trim();
  if (!name || !reason || positionals.length > 1) throw new CommandError(ack.usage);
  const annotations = { [annotationKeys.acknowledge]: reason, [annotationKeys.acknowledgedBy]: terminal.user };
  const execution = await findExecution(client, name, values.namespace);
  if (!execution) {
    const incident = await findIncident(client, name);
    if (incident) return ackIncident(incident, annotations, client, terminal);
    return ackOnRecord(name, annotations, client, terminal);
  }
  refuseUnended(execution);

  const { namespace = "", resourceVersion } = execution.metadata;
  const patch = { merge: { metadata: { resourceVersion, annotations } } };
  const outcome = await client.patch(workflowExecutions, { name, namespace }, patch);
  if (outcome.kind !== "updated") throw new CommandError(`execution ${name} changed meanwhile; try again`);
  tell(name, execution.spec.workflowRef.workflowId, execution.spec.targetResource, terminal);
  return 0;
}

async function findIncident(client: KubeClient, name: string): Promise<RemediationRequest | undefined> {
  const { items } = await client.list(remediationRequests);
  return items.find(({ metadata }) => isNamed(name, metadata.name ?? ""));
}

/** The orchestrator hands it on to the record of the target, where it counts. */
async function ackIncident(
  { metadata, status }: RemediationRequest,
  annotations: Readonly<Record<string, string>>,
  client: KubeClient,
  terminal: Terminal,
): Promise<number> {
  const { name = "", namespace = "", resourceVersion } = metadata;
  if (status?.phase !== "Blocked" || !status.requiresManualReview || !status.diagnosis) {
    throw new CommandError(
      `incident ${shortName(name)} does not wait for a person: see interlock why ${shortName(name)}`,
    );
  }
  const patch = { merge: { metadata: { resourceVersion, annotations } } };
  const outcome = await client.patch(remediationRequests, { name, namespace }, patch);
  if (outcome.kind !== "updated") throw new CommandError(`incident ${shortName(name)} changed meanwhile; try again`);
  tell(shortName(name), status.diagnosis.workflowId, status.diagnosis.target, terminal);
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
    for (const { workflowId, lastFailure, lastExecutionFailure, recentEnds } of status?.workflows ?? []) {
      const end = [lastExecutionFailure, lastFailure, ...recentEnds].find((end) => end?.executionName === name);
      if (!end) continue;
      const all = { ...annotations, [annotationKeys.acknowledgedExecution]: end.executionUid };
      const ref = { name: metadata.name ?? "", namespace: metadata.namespace ?? "" };
      await client.patch(remediationTargets, ref, { merge: { metadata: { annotations: all } } });
      tell(name, workflowId, spec.targetResource, terminal);
      return 0;
    }
  }
  throw new CommandError(`there is no execution ${name}, and no target remembers one; see: interlock get executions`);
}

function tell(name: string, workflowId: string, target: string, { print, user }: Terminal): void {
  print(`${name} is acknowledged by ${user}: ${workflowId} may act on ${target} again`);
}

function refuseUnended({ metadata, status }: WorkflowExecution): void {
  if (status?.phase === "Failed" || status?.phase === "Completed") return;
  throw new CommandError(`execution ${metadata.name} is ${status?.phase ?? "new"}: there is nothing to acknowledge`);
}
