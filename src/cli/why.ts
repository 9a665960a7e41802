import { parseArgs } from "node:util";
import { explain } from "../policy/index.ts";
import { kindsIn, type WorkflowExecution } from "../resources/index.ts";
import { askPolicy, readObjectTarget } from "./ask-policy.ts";
import { type Command, CommandError, type Desk } from "./command.ts";
import { findExecution } from "./find-execution.ts";
import { findIncident } from "./find-incident.ts";
import { shortNames } from "./short-name.ts";
import { explainIncident } from "./why-incident.ts";

/** `interlock why` */
export const why: Command<Desk> = {
  name: "why",
  about: "why something happens or does not: an incident, an execution, or a target now",
  usage: `interlock why INCIDENT | interlock why EXECUTION | interlock why TARGET [--workflow WORKFLOW]    [--output json]

Of an incident: how far it has come, what was decided about it and by which checks, what it waits for, until when, and
what can be done; then the same checks asked now. Of an execution: what became of it, and the checks now. Of a target:
whether a workflow, or each of the catalog, may act on it now.`,
  perform: performWhy,
};

async function performWhy(args: readonly string[], desk: Desk): Promise<number> {
  const { client, terminal } = desk;
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { workflow: { type: "string" }, output: { type: "string", short: "o" }, namespace: { type: "string" } },
  });
  const [subject] = positionals;
  const isJson = values.output === "json";
  if (!subject || positionals.length > 1 || (values.output && !isJson)) throw new CommandError(why.usage);
  const say = (facts: object, text: readonly string[]) =>
    terminal.print(isJson ? JSON.stringify(facts, null, 2) : shortNames(text.join("\n\n")));

  const incident = subject.includes("/") ? undefined : await findIncident(client, subject);
  if (incident) {
    const { facts, text } = await explainIncident(incident, desk);
    say(facts, text);
    return 0;
  }
  const execution = subject.includes("/") ? undefined : await needExecution(subject, values.namespace, desk);
  const kinds = await kindsIn(client);
  const target = readObjectTarget(execution?.spec.targetResource ?? subject, kinds);
  const workflow = execution?.spec.workflowRef.workflowId ?? values.workflow;
  const now = await askPolicy({ target, workflow }, kinds, desk);
  say({ target: target.text, recorded: execution?.status, now }, [
    ...recorded(execution),
    ...now.map((one) => explain(one.request, one.decision)),
  ]);
  return 0;
}

async function needExecution(name: string, namespace: string | undefined, { client }: Desk) {
  const found = await findExecution(client, name, namespace);
  if (found) return found;
  throw new CommandError(
    `there is no incident and no execution ${name}; see: interlock get incidents, interlock get executions. For a target write namespace/kind/name or kind/name`,
  );
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
