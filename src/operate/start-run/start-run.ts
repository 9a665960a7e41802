import { KubeError } from "../../kube/index.ts";
import {
  annotationKeys,
  blockText,
  builtInKinds,
  checkParameters,
  currentEntry,
  type Kinds,
  labelKeys,
  type ParameterValue,
  type RemediationWorkflow,
  remediationWorkflows,
  targetKindProblem,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import type { OperateContext } from "../context.ts";
import { createOnce } from "../create-once.ts";
import { noWorkflow, OperationError } from "../errors/index.ts";
import { type OperationResult, objectKey } from "../operation.ts";
import { queryPolicy, readObjectTarget } from "../query-policy.ts";
import { type PlannedRun, type RunCall, requestApproval } from "./request-approval.ts";

/** The run to start. */
export interface RunDraft {
  /** Of the execution, and of the approval that it needs; derived from the key of the request. */
  readonly name: string;
  readonly workflowId: string;
  readonly target: string;
  /** The parameters for the catalog entry that will run. */
  parametersFor(entry: RemediationWorkflow): Readonly<Record<string, ParameterValue>>;
  /** The approval of this run. */
  readonly approval?: string | undefined;
  /** Of the execution. Default: that of incidents. */
  readonly namespace?: string | undefined;
  /** The execution that this run repeats. */
  readonly retryOf?: string;
}

/**
 * Creates an execution, or requests the approval that its workflow requires. The executor evaluates the policy, as for every
 * execution; a dry run does so here.
 */
export async function startRun(draft: RunDraft, call: RunCall): Promise<OperationResult> {
  const kinds = await kindsIfReadable(call.context);
  const planned = await plan(draft, kinds, call);
  const { approval } = draft;
  const needsApproval = planned.entry.spec.approval?.required === true && approval === undefined;
  const result = needsApproval ? await requestApproval(planned, call) : await createExecution(planned, draft, call);
  if (!call.request.dryRun || !kinds) return result;
  return { ...result, notes: await policyNotes(planned, kinds, call.context) };
}

async function plan(draft: RunDraft, kinds: Kinds | undefined, call: RunCall): Promise<PlannedRun> {
  const { workflowId } = draft;
  const entry = await findEntry(workflowId, kinds ?? builtInKinds, call.context);
  const parameters = draft.parametersFor(entry);
  const target = canonicalTarget(draft.target, entry, kinds);
  const checked = checkParameters(entry.spec.parameters, parameters);
  if (checked.kind === "invalid") {
    throw new OperationError("invalid", "the parameters do not fit the workflow:", { details: checked.problems });
  }
  return { name: draft.name, entry, target, parameters };
}

async function findEntry(
  workflowId: string,
  kinds: Kinds,
  { client, catalogIn }: OperateContext,
): Promise<RemediationWorkflow> {
  const { items } = await client.list(remediationWorkflows, { namespace: catalogIn });
  const versions = items.filter(({ spec }) => spec.workflowId === workflowId);
  const entry = currentEntry(versions, kinds);
  if (entry) return entry;
  throw noWorkflow(workflowId, items);
}

/** The kinds; undefined if the caller may not read their definitions. */
async function kindsIfReadable(context: OperateContext): Promise<Kinds | undefined> {
  return context.kinds().catch((error: unknown) => {
    if (error instanceof KubeError && error.code === "forbidden") return undefined;
    throw error;
  });
}

/** The target in canonical form; unchanged if the kinds are not known, as the executor checks it again. */
function canonicalTarget(text: string, { spec }: RemediationWorkflow, kinds: Kinds | undefined): string {
  if (!kinds) return text;
  const target = readObjectTarget(text, kinds);
  const refusal = targetKindProblem(spec, target, kinds);
  if (refusal === undefined) return target.text;
  throw new OperationError("invalid", refusal);
}

async function createExecution(
  { name, entry, target, parameters }: PlannedRun,
  { approval, retryOf, namespace }: RunDraft,
  call: RunCall,
): Promise<OperationResult> {
  const { request, caller, context } = call;
  const { workflowId, version, containerImage, engine } = entry.spec;
  const draft: WorkflowExecution = {
    apiVersion: workflowExecutions.apiVersion,
    kind: workflowExecutions.kind,
    metadata: {
      name,
      namespace: namespace ?? context.incidentsIn,
      labels: { [labelKeys.workflowId]: workflowId },
      annotations: {
        [annotationKeys.requestedBy]: caller.name,
        [annotationKeys.requestReason]: request.reason,
        ...(approval === undefined ? {} : { [annotationKeys.approval]: approval }),
        ...(retryOf === undefined ? {} : { [annotationKeys.retryOf]: retryOf }),
      },
    },
    spec: {
      workflowRef: { workflowId, version, containerImage, ...(engine ? { engine } : {}) },
      targetResource: target,
      parameters,
    },
  };
  return executionResult(await createOnce(workflowExecutions, draft, call, contentOf), call);
}

/** The result of a request that created an execution. */
export function executionResult(execution: WorkflowExecution, { request }: RunCall): OperationResult {
  const verb = request.dryRun ? "would be" : "was";
  const message = `execution ${execution.metadata.name} ${verb} created`;
  return { message, kind: "executions", object: objectKey(execution) };
}

/** The version and image are those of the catalog at the first attempt. */
function contentOf({ metadata, spec }: WorkflowExecution): unknown {
  const { [annotationKeys.approval]: approval, [annotationKeys.requestReason]: reason } = metadata.annotations ?? {};
  const { workflowRef, targetResource, parameters = {} } = spec;
  return { workflowId: workflowRef.workflowId, targetResource, parameters, approval, reason };
}

/** The current decision of the policy. */
async function policyNotes(
  { entry, target, parameters }: PlannedRun,
  kinds: Kinds,
  context: OperateContext,
): Promise<readonly string[]> {
  const { workflowId } = entry.spec;
  const query = { target: readObjectTarget(target, kinds), workflow: workflowId, parameters };
  const reports = await queryPolicy(query, kinds, context);
  return reports.map(({ decision }) => {
    if (decision.verdict === "allow") return `the policy decides now: ${decision.message}`;
    return `the policy decides now: not now, ${blockText(decision.reason, decision.cause)}: ${decision.message}`;
  });
}
