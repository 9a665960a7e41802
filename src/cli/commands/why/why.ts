import { explain } from "../../../policy/index.ts";
import { CommandError, type Desk } from "../../command.ts";
import { jsonLines } from "../../output/terminal.ts";
import { findExecution, findIncident } from "../../parsing/find.ts";
import { shortNames } from "../../parsing/short-name.ts";
import { queryPolicy, readObjectTarget } from "../../query-policy.ts";
import { explainExecution } from "./execution.ts";
import { explainIncident } from "./incident.ts";
import { explainReported } from "./report.ts";
import { explainIgnored, explainSignal, ignoredSignalsOf } from "./signal.ts";
import { explainTasks } from "./task.ts";

interface WhyOptions {
  readonly workflow?: string;
  readonly namespace?: string;
  readonly output?: "json";
}

/** `interlock why` */
export async function why(desk: Desk, subject: string, { workflow, namespace, output }: WhyOptions): Promise<number> {
  const { facts, text } =
    (await explainTasks(subject, desk)) ??
    (await explainReported(subject, desk)) ??
    (await explainSignal(subject, desk)) ??
    (subject.includes("/")
      ? await explainTarget(subject, workflow, desk)
      : await explainNamed(subject, namespace, desk));
  const lines = output === "json" ? jsonLines(facts) : paragraphLines(text).map(shortNames);
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
