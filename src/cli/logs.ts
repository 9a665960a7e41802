import { join } from "node:path";
import { parseArgs } from "node:util";
import { readLogs } from "../engines/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { WorkflowExecution } from "../resources/index.ts";
import { type Command, CommandError, type Desk } from "./command.ts";
import { findExecution } from "./find-execution.ts";
import { findIncident } from "./find-incident.ts";
import { onlyWord } from "./misuse.ts";

/** `interlock logs` */
export const logs: Command<Desk> = {
  name: "logs",
  about: "print what the steps of an execution have written",
  usage: `interlock logs EXECUTION|INCIDENT [--namespace NS] [--local DIR]

Prints what the steps of an execution have written; of an incident, those of its latest execution. On a terminal, colours
are left out and other escapes are shown as text, such as \\u001b; to a file or pipe goes exactly what was written. DIR is
where the local engine keeps its runs, if not in the data directory.`,
  example: "interlock logs rr-s3rd7pvp-1-1",
  perform: performLogs,
};

async function performLogs(args: readonly string[], { client, terminal, directory }: Desk): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { namespace: { type: "string" }, local: { type: "string", default: join(directory, "local") } },
  });
  const name = onlyWord(positionals, "of which execution or incident; see: interlock get executions");
  const execution =
    (await findExecution(client, name, values.namespace)) ?? (await latestOf(name, client)) ?? nothing(name);
  const run = runOf(execution);

  const written = await readLogs(values.local, run.uid);
  if (written.length === 0) {
    throw new CommandError(
      `nothing is kept of run ${run.name} in ${values.local}. If it ran in a cluster: kubectl logs -n ${run.namespace} -l tekton.dev/pipelineRun=${run.name} --all-containers`,
    );
  }
  for (const { task, attempt, step, text } of written) {
    const again = attempt > 1 ? `, attempt ${attempt}` : "";
    terminal.print(`── task ${task}, step ${step}${again}`);
    if (text === undefined) terminal.print("(still running: what it prints is shown at its end)");
    else terminal.printOutput(text);
  }
  return 0;
}

/** The execution that an incident had made last. */
async function latestOf(name: string, client: KubeClient): Promise<WorkflowExecution | undefined> {
  const incident = await findIncident(client, name);
  if (!incident) return undefined;
  const { name: latest } = incident.status?.executionRefs?.at(-1) ?? {};
  if (latest) return findExecution(client, latest, incident.metadata.namespace);
  throw new CommandError(`incident ${name} has had nothing executed; see: interlock why ${name}`);
}

function nothing(name: string): never {
  throw new CommandError(`there is no execution and no incident ${name}; see: interlock get executions`);
}

function runOf({ metadata, status }: WorkflowExecution) {
  const run = status && "pipelineRunRef" in status ? status.pipelineRunRef : undefined;
  if (run) return run;
  throw new CommandError(`execution ${metadata.name} is ${status?.phase ?? "new"}: it has no run`);
}
