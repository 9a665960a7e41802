import { parseArgs } from "node:util";
import type { KubeClient } from "../kube/index.ts";
import { annotationKeys, type WorkflowExecution, workflowExecutions } from "../resources/index.ts";
import { CommandError } from "./command-error.ts";
import { findExecution } from "./find-execution.ts";
import type { Terminal } from "./terminal.ts";

export const ackUsage = `interlock ack EXECUTION --reason TEXT [--namespace NS]

Says that somebody has looked at what a failed execution left behind, and that trying again is safe.`;

/** `interlock ack`. Returns the exit status. */
export async function ackCommand(args: readonly string[], client: KubeClient, terminal: Terminal): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { reason: { type: "string" }, namespace: { type: "string" } },
  });
  const [name] = positionals;
  const reason = values.reason?.trim();
  if (!name || !reason || positionals.length > 1) throw new CommandError(ackUsage);
  const execution = await findExecution(client, name, values.namespace);
  refuseUnended(execution);

  const { namespace = "", resourceVersion } = execution.metadata;
  const annotations = { [annotationKeys.acknowledge]: reason, [annotationKeys.acknowledgedBy]: terminal.user };
  const patch = { merge: { metadata: { resourceVersion, annotations } } };
  const outcome = await client.patch(workflowExecutions, { name, namespace }, patch);
  if (outcome.kind !== "updated") throw new CommandError(`execution ${name} changed meanwhile; try again`);
  terminal.print(
    `${name} is acknowledged by ${terminal.user}: ${execution.spec.workflowRef.workflowId} may act on ${execution.spec.targetResource} again`,
  );
  return 0;
}

function refuseUnended({ metadata, status }: WorkflowExecution): void {
  if (status?.phase === "Failed" || status?.phase === "Completed") return;
  throw new CommandError(`execution ${metadata.name} is ${status?.phase ?? "new"}: there is nothing to acknowledge`);
}
