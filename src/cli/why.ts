import { parseArgs } from "node:util";
import type { KubeClient } from "../kube/index.ts";
import { type ActionRequest, type Decision, decide, explain, lastingPauses, workflowRules } from "../policy/index.ts";
import {
  automationPauses,
  builtInKinds,
  canonicalTarget,
  currentEntry,
  type ObjectTarget,
  parseTarget,
  remediationTargets,
  remediationWorkflows,
  targetHash,
  type WorkflowExecution,
} from "../resources/index.ts";
import { type Command, CommandError, type Desk } from "./command.ts";
import { findExecution } from "./find-execution.ts";

/** `interlock why` */
export const why: Command<Desk> = {
  name: "why",
  about: "whether a workflow may act on a target now, and if not, why",
  usage: `interlock why TARGET [--workflow WORKFLOW] | interlock why EXECUTION    [--output json]

Says whether a workflow may act on a target now, and if not, why, until when, and what can be done: every check with what
was found. For an execution also what was decided then.`,
  perform: performWhy,
};

/** One workflow on one target, asked about now. */
interface Answer {
  readonly request: ActionRequest;
  readonly decision: Decision;
}

async function performWhy(args: readonly string[], desk: Desk): Promise<number> {
  const { client, terminal } = desk;
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { workflow: { type: "string" }, output: { type: "string" }, namespace: { type: "string" } },
  });
  const [subject] = positionals;
  const isJson = values.output === "json";
  if (!subject || positionals.length > 1 || (values.output && !isJson)) throw new CommandError(why.usage);

  const execution = subject.includes("/") ? undefined : await needExecution(client, subject, values.namespace);
  const target = readTarget(execution?.spec.targetResource ?? subject);
  const workflow = execution?.spec.workflowRef.workflowId ?? values.workflow;
  const answers = await ask(target, workflow, desk);
  if (isJson)
    terminal.print(JSON.stringify({ target: target.text, recorded: execution?.status, now: answers }, null, 2));
  else
    terminal.print([...recorded(execution), ...answers.map((one) => explain(one.request, one.decision))].join("\n\n"));
  return 0;
}

async function needExecution(client: KubeClient, name: string, namespace: string | undefined) {
  const found = await findExecution(client, name, namespace);
  if (found) return found;
  throw new CommandError(`there is no execution ${name}. For a target write namespace/kind/name or kind/name.`);
}

function readTarget(text: string): ObjectTarget {
  const read = parseTarget(text, builtInKinds);
  if (read.kind === "problem") throw new CommandError(`${text} ${read.problem}`);
  if (read.target.type === "object") return read.target;
  throw new CommandError(`${text} is a repository: workflows run on Kubernetes objects`);
}

/** About one workflow, or about each that is in the catalog. */
async function ask(
  target: ObjectTarget,
  workflow: string | undefined,
  { client, settings, recordsIn }: Desk,
): Promise<readonly Answer[]> {
  const nowMs = client.serverNowMs();
  const record = await client.get(remediationTargets, { namespace: recordsIn, name: targetHash(target) });
  const { items: pauses } = await client.list(automationPauses);
  const { items: entries } = await client.list(remediationWorkflows);
  const ids = workflow === undefined ? [...new Set(entries.map(({ spec }) => spec.workflowId))].sort() : [workflow];
  if (ids.length === 0) throw new CommandError("the catalog is empty: nothing could act on anything");

  return ids.map((workflowId) => {
    const entry = currentEntry(entries.filter(({ spec }) => spec.workflowId === workflowId));
    const request = { target: target.text, workflowId, ...(target.namespace && { namespace: target.namespace }) };
    const situation = {
      record: record?.status,
      workflow: entry && workflowRules(entry),
      pauses: lastingPauses(pauses, nowMs, canonicalTarget),
      settings,
      nowMs,
    };
    return { request, decision: decide(request, situation) };
  });
}

/** What became of the execution. */
function recorded(execution: WorkflowExecution | undefined): readonly string[] {
  const status = execution?.status;
  if (!execution || !status) return [];
  const { name } = execution.metadata;
  switch (status.phase) {
    case "Skipped":
      return [
        `${name} was skipped at ${status.skipDetails.skippedAt}, ${status.skipDetails.reason}:\n  ${status.skipDetails.message}`,
      ];
    case "Failed":
      return [`${name} failed at ${status.completionTime}:\n  ${status.failureDetails.naturalLanguageSummary}`];
    case "Completed":
      return [`${name} completed at ${status.completionTime}, in ${status.duration}`];
    case "Pending":
    case "Running":
      return [`${name} is ${status.phase}`];
  }
}
