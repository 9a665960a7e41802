import type { LedgerEvent } from "../../ledger/index.ts";
import { explain, type PolicyReport } from "../../policy/index.ts";
import {
  describeCancellation,
  describeStall,
  findStall,
  parseTarget,
  readCancelRequest,
  skipText,
  type WorkflowExecution,
} from "../../resources/index.ts";
import type { OperateContext } from "../context.ts";
import { queryPolicy } from "../query-policy.ts";
import type { Explanation } from "./explanation.ts";
import { decisionLines, findRecorded } from "./recorded-decision.ts";

/** Explains the outcome of an execution, the decision behind it, and the current decision of the policy. */
export async function explainExecution(execution: WorkflowExecution, context: OperateContext): Promise<Explanation> {
  const { spec, status } = execution;
  const isSkipped = status?.phase === "Skipped";
  const decided = isSkipped ? await findSkip(execution, context) : undefined;
  const now = await queryNow(execution, context);
  return {
    facts: { target: spec.targetResource, recorded: status, decided, now },
    text: [
      ...outcomeLines(execution),
      ...workloadLines(execution),
      ...(isSkipped ? [decisionLines(decided)] : []),
      ...now.map(({ request, decision }) => explain(request, decision)),
    ],
  };
}

/** The decision not to run it, with every check. */
function findSkip({ metadata }: WorkflowExecution, context: OperateContext): Promise<LedgerEvent | undefined> {
  return findRecorded({ execution: metadata.uid }, context, {
    matches: ({ type }) => type === "execution.skipped",
    isAwaited: true,
  });
}

/** The policy cannot be queried for a target that cannot be parsed; the failure of the execution explains it. */
async function queryNow(
  { metadata, spec }: WorkflowExecution,
  context: OperateContext,
): Promise<readonly PolicyReport[]> {
  const kinds = await context.kinds();
  const read = parseTarget(spec.targetResource, kinds);
  if (read.kind === "problem" || read.target.type !== "object") return [];
  const { workflowRef } = spec;
  // An execution that holds its target does not block itself.
  const asker = metadata.uid === undefined ? {} : { executionUid: metadata.uid };
  return queryPolicy({ target: read.target, workflow: workflowRef.workflowId, workflowRef, ...asker }, kinds, context);
}

/** The image, engine and service account of the run, and its approval. */
function workloadLines({ status }: WorkflowExecution): readonly (readonly string[])[] {
  if (!status || !("workload" in status || "approvalRef" in status)) return [];
  const { workload, approvalRef } = status;
  const { engine, image, serviceAccountName = "default", imageDigests = [] } = workload ?? {};
  return [
    [
      ...(workload ? [`  ran ${image} with engine ${engine} as service account ${serviceAccountName}`] : []),
      ...imageDigests.map((digest) => `  pulled ${digest}`),
      ...(approvalRef ? [`  approved by ${approvalRef.decidedBy} in ${approvalRef.name}`] : []),
    ],
  ];
}

function outcomeLines(execution: WorkflowExecution): readonly (readonly string[])[] {
  const { name } = execution.metadata;
  const { status } = execution;
  const stall = findStall(execution);
  switch (status?.phase) {
    case undefined:
      return [];
    case "Skipped": {
      const { skippedAt, message } = status.skipDetails;
      return [[`${name} was skipped at ${skippedAt}, ${skipText(status.skipDetails)}:`, `  ${message}`]];
    }
    case "Failed":
      return [[`${name} failed at ${status.completionTime}:`, `  ${status.failureDetails.naturalLanguageSummary}`]];
    case "Completed":
      return [[`${name} completed at ${status.completionTime}, in ${status.duration}`]];
    case "Pending":
    case "Running":
      return [
        [
          `${name} is ${status.phase}`,
          ...waitLines(execution),
          ...(stall ? [`  stalled, ${describeStall(stall)}`] : []),
        ],
      ];
  }
}

/** What an execution waits for that has to stop, or whose run has ended already. */
function waitLines(execution: WorkflowExecution): readonly string[] {
  const request = readCancelRequest(execution);
  const wait = describeRunWait(execution);
  return [
    ...(request ? [`  ${describeCancellation(request)}`] : []),
    ...(execution.metadata.deletionTimestamp ? ["  it was deleted, and is removed when its run has stopped"] : []),
    ...(wait ? [`  ${wait}`] : []),
  ];
}

/** Why a running execution does not end although its run has; undefined if the run has not. */
export function describeRunWait({ status }: WorkflowExecution): string | undefined {
  if (status?.phase !== "Running" || status.pipelineRunStatus?.status !== "False") return undefined;
  return status.pipelineRunStatus.message;
}
