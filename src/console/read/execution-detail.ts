import { viewRun } from "../../engines/index.ts";
import {
  type ParameterValue,
  type RemediationWorkflow,
  redactParameters,
  redactValues,
  remediationWorkflows,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import { toExecutionRow } from "../rows/index.ts";
import type { ExecutionDetail } from "../wire.ts";
import type { NamedObject } from "./incident-detail.ts";
import type { ReadContext } from "./read-context.ts";

/** Everything about an execution; undefined if there is none of that name. Secret parameters are redacted, as in the ledger. */
export async function readExecution(ref: NamedObject, context: ReadContext): Promise<ExecutionDetail | undefined> {
  const { client } = context;
  const execution = await client.get(workflowExecutions, ref);
  if (!execution) return undefined;
  const { status } = execution;
  const run = status && "pipelineRunRef" in status ? status.pipelineRunRef : undefined;
  const workload = status && "workload" in status ? status.workload : undefined;
  const [entry, { fence, tasks }] = await Promise.all([
    readEntry(execution, context),
    run ? viewRun(client, run) : { fence: undefined, tasks: [] },
  ]);
  const parameters = execution.spec.parameters ?? {};
  const failure = status?.phase === "Failed" ? status.failureDetails.naturalLanguageSummary : undefined;
  return {
    row: toExecutionRow(execution),
    parameters: toTexts(redactParameters(parameters, entry)),
    image: workload?.image ?? execution.spec.workflowRef.containerImage,
    ...optional("digest", workload?.imageDigests?.[0]),
    ...optional("serviceAccount", workload?.serviceAccountName ?? execution.spec.workflowRef.serviceAccountName),
    ...optional("fence", fence),
    ...optional("failure", failure && redactValues(failure, parameters, entry)),
    tasks,
  };
}

/** The catalog entry of the version that the execution runs. Without one, every value is redacted. */
async function readEntry(
  { spec }: WorkflowExecution,
  { client, catalogIn }: ReadContext,
): Promise<RemediationWorkflow | undefined> {
  const { workflowId, version, containerImage } = spec.workflowRef;
  const { items } = await client.list(remediationWorkflows, { namespace: catalogIn });
  const entries = items.filter((entry) => entry.spec.workflowId === workflowId);
  if (version !== undefined) return entries.find((entry) => entry.spec.version === version);
  return entries.find((entry) => entry.spec.containerImage === containerImage);
}

function toTexts(parameters: Readonly<Record<string, ParameterValue>>): Readonly<Record<string, string>> {
  const toText = (value: ParameterValue) => (typeof value === "string" ? value : JSON.stringify(value));
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, toText(value)]));
}

function optional<K extends string>(name: K, value: string | undefined): { readonly [P in K]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: string });
}
