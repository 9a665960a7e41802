import { explain as explainDecision, type PolicyReport } from "../../policy/index.ts";
import type { OperateContext } from "../context.ts";
import { OperationError, toOperationError } from "../errors/index.ts";
import { findExecution, findIncident } from "../find/index.ts";
import { queryPolicy, readObjectTarget } from "../query-policy.ts";
import { toVerdict, type WorkflowVerdict } from "./checks.ts";
import { explainExecution } from "./execution.ts";
import type { Explanation } from "./explanation.ts";
import { explainIncident } from "./incident.ts";
import { explainReported } from "./report.ts";
import { explainIgnored, explainSignal, readIgnoredSignals } from "./signal.ts";
import { explainTasks } from "./task.ts";

/** The subject of an explanation. */
export interface ExplainedSubject {
  /** An incident, execution, task, target, signal, merge request, comment or issue, as an operator writes it. */
  readonly text: string;
  /** For a target: only this workflow. */
  readonly workflow?: string | undefined;
  /** Where names are searched; undefined for all namespaces. */
  readonly namespace?: string | undefined;
}

/** Explains why something happened, or did not happen. Throws OperationError. */
export async function explain(subject: ExplainedSubject, context: OperateContext): Promise<Explanation> {
  const { text, workflow, namespace } = subject;
  try {
    return (
      (await explainTasks(text, context)) ??
      (await explainReported(text, context)) ??
      (await explainSignal(text, context)) ??
      (text.includes("/") ? await explainTarget(text, workflow, context) : await explainNamed(text, namespace, context))
    );
  } catch (error) {
    throw toOperationError(error);
  }
}

/** The current decision about every workflow of the catalog on a target. Throws OperationError. */
export async function explainWorkflows(text: string, context: OperateContext): Promise<readonly WorkflowVerdict[]> {
  try {
    const kinds = await context.kinds();
    return (await queryPolicy({ target: readObjectTarget(text, kinds) }, kinds, context)).map(toVerdict);
  } catch (error) {
    throw toOperationError(error);
  }
}

/** Whether a workflow, or each of the catalog, may act on it now. */
async function explainTarget(
  text: string,
  workflow: string | undefined,
  context: OperateContext,
): Promise<Explanation> {
  const kinds = await context.kinds();
  const target = readObjectTarget(text, kinds);
  const now = await queryPolicy({ target, workflow }, kinds, context);
  const ignored = await readIgnoredSignals(target.text, context);
  return {
    facts: { target: target.text, now, ignored },
    text: [...explainReports(now, target.text), ...ignored.map(explainIgnored)],
  };
}

/** All checks of one workflow; of several, only those of the workflows that may not run now. */
function explainReports(reports: readonly PolicyReport[], target: string): readonly (readonly string[])[] {
  const fullLines = ({ request, decision }: PolicyReport) => explainDecision(request, decision);
  if (reports.length <= 1) return reports.map(fullLines);
  const allowed = reports.filter(({ decision }) => decision.verdict === "allow");
  const headlines = allowed.flatMap((report) => fullLines(report).slice(0, 1));
  const hint = `  all checks of one: interlock why ${target} --workflow ${allowed[0]?.request.workflowId}`;
  return [
    ...reports.filter((report) => !allowed.includes(report)).map(fullLines),
    ...(headlines.length > 0 ? [[...headlines, hint]] : []),
  ];
}

async function explainNamed(
  name: string,
  namespace: string | undefined,
  context: OperateContext,
): Promise<Explanation> {
  const incident = await findIncident(context.client, name, namespace);
  if (incident) return explainIncident(incident, context);
  const execution = await findExecution(context.client, name, namespace);
  if (execution) return explainExecution(execution, context);
  throw new OperationError("not-found", `there is no incident, execution or task ${name}`, {
    hint: "see: interlock get incidents (or executions, tasks). A target is written namespace/kind/name or kind/name",
  });
}
