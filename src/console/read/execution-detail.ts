import { viewRun } from "../../engines/index.ts";
import { redactValues, workflowExecutions } from "../../resources/index.ts";
import { toExecutionRow } from "../rows/index.ts";
import type { ExecutionDetail } from "../wire.ts";
import type { NamedObject } from "./incident-detail.ts";
import type { ReadContext } from "./read-context.ts";
import { readEntry, shownParameters } from "./shown-parameters.ts";

/** Everything about an execution; undefined if there is none of that name. Secret parameters are redacted, as in the ledger. */
export async function readExecution(ref: NamedObject, context: ReadContext): Promise<ExecutionDetail | undefined> {
  const { client } = context;
  const execution = await client.get(workflowExecutions, ref);
  if (!execution) return undefined;
  const { status } = execution;
  const run = status && "pipelineRunRef" in status ? status.pipelineRunRef : undefined;
  const workload = status && "workload" in status ? status.workload : undefined;
  const [entry, { fence, tasks }] = await Promise.all([
    readEntry(execution.spec.workflowRef, context),
    run ? viewRun(client, run) : { fence: undefined, tasks: [] },
  ]);
  const parameters = execution.spec.parameters ?? {};
  const failure = status?.phase === "Failed" ? status.failureDetails.naturalLanguageSummary : undefined;
  return {
    row: toExecutionRow(execution),
    parameters: shownParameters(parameters, entry),
    image: workload?.image ?? execution.spec.workflowRef.containerImage,
    ...optional("digest", workload?.imageDigests?.[0]),
    ...optional("serviceAccount", workload?.serviceAccountName ?? execution.spec.workflowRef.serviceAccountName),
    ...optional("fence", fence),
    ...optional("failure", failure && redactValues(failure, parameters, entry)),
    tasks,
  };
}

function optional<K extends string>(name: K, value: string | undefined): { readonly [P in K]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: string });
}
