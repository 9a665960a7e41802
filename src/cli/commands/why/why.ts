import { parseArgs } from "node:util";
import { explain } from "../../../policy/index.ts";
import { type Command, CommandError, type Desk } from "../../command.ts";
import { jsonLines } from "../../output/terminal.ts";
import { findExecution, findIncident } from "../../parsing/find.ts";
import { MisuseError, onlyWord } from "../../parsing/misuse.ts";
import { shortNames } from "../../parsing/short-name.ts";
import { queryPolicy, readObjectTarget } from "../../query-policy.ts";
import { explainExecution } from "./execution.ts";
import { explainIncident } from "./incident.ts";
import { explainReported } from "./report.ts";
import { explainIgnored, explainSignal, ignoredSignalsOf } from "./signal.ts";
import { explainTasks } from "./task.ts";

/** `interlock why` */
export const why: Command<Desk> = {
  name: "why",
  about: "Explain the state of an incident, an execution, a coding task, or a target",
  usage: `interlock why INCIDENT|EXECUTION|TASK|TARGET|URL|SIGNAL [--workflow WORKFLOW] [--namespace NS] [--output json]

Of an incident: how far it has come, what was decided about it and by which checks, what it waits for, until when, and
what can be done; then the same checks asked now. Of an execution: what became of it, by which checks it was skipped,
and the checks now. Of a target: whether a workflow, or each of the catalog, may act on it now, and which signals about it had no
effect. Of a coding task: how
far it has come, and what it waits for; of a branch, git:host/id@branch, or of a repository, git:host/id, whether
automation is paused there, and all tasks on it. Of a merge request (its address, or group/app!7), a comment (its address,
or note:ID) or an issue (its address or key): its tasks, and why reports of it were ignored. Of a signal (signal:NAME, by the
name of its alert or of its source, or its fingerprint v1:…): why it had no effect.`,
  example: "interlock why node/worker-1",
  perform: performWhy,
};

async function performWhy(args: readonly string[], desk: Desk): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { workflow: { type: "string" }, output: { type: "string", short: "o" }, namespace: { type: "string" } },
  });
  const subject = onlyWord(positionals, "an incident, execution, task or target");
  const isJson = values.output === "json";
  if (values.output && !isJson) throw new MisuseError(`--output can be json; got ${values.output}`);

  const { facts, text } =
    (await explainTasks(subject, desk)) ??
    (await explainReported(subject, desk)) ??
    (await explainSignal(subject, desk)) ??
    (subject.includes("/")
      ? await explainTarget(subject, values.workflow, desk)
      : await explainNamed(subject, values.namespace, desk));
  const lines = isJson ? jsonLines(facts) : paragraphLines(text).map(shortNames);
  for (const line of lines) desk.terminal.print(line);
  return 0;
}

/** An empty line between two paragraphs. */
function paragraphLines(paragraphs: readonly (readonly string[])[]): readonly string[] {
  return paragraphs.flatMap((lines, i) => (i === 0 ? lines : ["", ...lines]));
}

/** Whether a workflow, or each of the catalog, may act on it now. */
async function explainTarget(text: string, workflow: string | undefined, desk: Desk) {
  const kinds = await desk.kinds();
  const target = readObjectTarget(text, kinds);
  const now = await queryPolicy({ target, workflow }, kinds, desk);
  const ignored = await ignoredSignalsOf(target.text, desk);
  return {
    facts: { target: target.text, now, ignored },
    text: [...now.map(({ request, decision }) => explain(request, decision)), ...ignored.map(explainIgnored)],
  };
}

async function explainNamed(name: string, namespace: string | undefined, desk: Desk) {
  const incident = await findIncident(desk.client, name);
  if (incident) return explainIncident(incident, desk);
  const execution = await findExecution(desk.client, name, namespace);
  if (execution) return explainExecution(execution, desk);
  throw new CommandError(
    `there is no incident, execution or task ${name}; see: interlock get incidents (or executions, tasks). A target is written namespace/kind/name or kind/name`,
  );
}
