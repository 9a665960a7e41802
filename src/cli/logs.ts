import { parseArgs } from "node:util";
import { readLogs } from "../engines/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { WorkflowExecution } from "../resources/index.ts";
import { CommandError } from "./command-error.ts";
import { findExecution } from "./find-execution.ts";
import type { Terminal } from "./terminal.ts";

export const logsUsage = `interlock logs EXECUTION [--namespace NS] [--local DIR]

Prints what the steps of an execution have written. DIR is where the local engine keeps its runs (default .data/local).`;

/** `interlock logs`. Returns the exit status. */
export async function logsCommand(args: readonly string[], client: KubeClient, terminal: Terminal): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { namespace: { type: "string" }, local: { type: "string", default: ".data/local" } },
  });
  const [name] = positionals;
  if (!name || positionals.length > 1) throw new CommandError(logsUsage);
  const execution = await findExecution(client, name, values.namespace);
  if (!execution) throw new CommandError(`there is no execution ${name}; see: kubectl get wfe --all-namespaces`);
  const run = runOf(execution);

  const logs = await readLogs(values.local, run.uid);
  if (logs.length === 0) {
    throw new CommandError(
      `nothing is kept of run ${run.name} in ${values.local}. If it ran in a cluster: kubectl logs -n ${run.namespace} -l tekton.dev/pipelineRun=${run.name} --all-containers`,
    );
  }
  for (const { task, attempt, step, text } of logs) {
    const again = attempt > 1 ? `, attempt ${attempt}` : "";
    terminal.print(
      `── ${task}, step ${step}${again}\n${text ?? "(still running: what it prints is shown at its end)"}`,
    );
  }
  return 0;
}

function runOf({ metadata, status }: WorkflowExecution) {
  const run = status && "pipelineRunRef" in status ? status.pipelineRunRef : undefined;
  if (run) return run;
  throw new CommandError(`execution ${metadata.name} is ${status?.phase ?? "new"}: it has no run`);
}
