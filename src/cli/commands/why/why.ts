import { explain } from "../../../policy/index.ts";
import { shortNames } from "../../../resources/short-names/index.ts";
import { CommandError, type Desk } from "../../command.ts";
import { forEachName } from "../../for-each-name.ts";
import { jsonLines } from "../../output/terminal.ts";
import { yamlLines } from "../../output/yaml.ts";
import { findExecution, findIncident } from "../../parsing/find.ts";
import { bareName } from "../../parsing/kinds.ts";
import { type NamespaceOptions, searchedNamespace } from "../../parsing/namespace.ts";
import { queryPolicy, readObjectTarget } from "../../query-policy.ts";
import { explainExecution } from "./execution.ts";
import { explainIncident } from "./incident.ts";
import { explainReported } from "./report.ts";
import { explainIgnored, explainSignal, ignoredSignalsOf } from "./signal.ts";
import { explainTasks } from "./task.ts";

interface WhyOptions extends NamespaceOptions {
  readonly workflow?: string;
  readonly output?: "json" | "yaml";
}

interface Explanation {
  readonly facts: object;
  readonly text: readonly (readonly string[])[];
}

/** `interlock why` */
export async function why(desk: Desk, subjects: readonly string[], options: WhyOptions): Promise<number> {
  const found: Explanation[] = [];
  const status = await forEachName(subjects, desk, async (subject) => {
    found.push(await explainSubject(bareName(subject), options, desk));
  });
  for (const line of outputLines(found, options.output)) desk.terminal.print(line);
  return status;
}

async function explainSubject(subject: string, options: WhyOptions, desk: Desk): Promise<Explanation> {
  return (
    (await explainTasks(subject, desk)) ??
    (await explainReported(subject, desk)) ??
    (await explainSignal(subject, desk)) ??
    (subject.includes("/")
      ? await explainTarget(subject, options.workflow, desk)
      : await explainNamed(subject, searchedNamespace(options, desk), desk))
  );
}

/** For programs, the facts of one subject are an object, and those of several a list. */
function outputLines(found: readonly Explanation[], output: WhyOptions["output"]): readonly string[] {
  if (output === undefined) return paragraphLines(found.flatMap(({ text }) => text)).map(shortNames);
  const [first, ...more] = found.map(({ facts }) => facts);
  if (first === undefined) return [];
  const data = more.length === 0 ? first : [first, ...more];
  return output === "json" ? jsonLines(data) : yamlLines(data);
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
  const incident = await findIncident(desk.client, name, namespace);
  if (incident) return explainIncident(incident, desk);
  const execution = await findExecution(desk.client, name, namespace);
  if (execution) return explainExecution(execution, desk);
  throw new CommandError(
    `there is no incident, execution or task ${name}; see: interlock get incidents (or executions, tasks). A target is written namespace/kind/name or kind/name`,
  );
}
