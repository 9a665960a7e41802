import type { LedgerEvent } from "../../ledger/index.ts";
import { explain, type PolicyReport } from "../../policy/index.ts";
import { describeStall, findStall, parseTarget, skipText, type WorkflowExecution } from "../../resources/index.ts";
import type { OperateContext } from "../context.ts";
import { queryPolicy } from "../query-policy.ts";
import type { Explanation } from "./explanation.ts";
import { decisionLines, findRecorded } from "./recorded-decision.ts";

/** What became of an execution, by which decision, and what would be decided now. */
export async function explainExecution(execution: WorkflowExecution, context: OperateContext): Promise<Explanation> {
  const { spec, status } = execution;
  const isSkipped = status?.phase === "Skipped";
  const decided = isSkipped ? await skipOf(execution, context) : undefined;
  const now = await askNow(execution, context);
  return {
    facts: { target: spec.targetResource, recorded: status, decided, now },
    text: [
      ...became(execution),
      ...ranAs(execution),
      ...(isSkipped ? [decisionLines(decided)] : []),
      ...now.map(({ request, decision }) => explain(request, decision)),
    ],
  };
}

/** The decision not to run it, with every check. */
function skipOf({ metadata }: WorkflowExecution, context: OperateContext): Promise<LedgerEvent | undefined> {
  return findRecorded({ execution: metadata.uid }, context, {
    pick: (events) => events.find(({ type }) => type === "execution.skipped"),
    isAwaited: true,
  });
}

/** The policy cannot be queried for a target that cannot be parsed; the failure of the execution explains it. */
async function askNow(
  { metadata, spec }: WorkflowExecution,
  context: OperateContext,
): Promise<readonly PolicyReport[]> {
  const kinds = await context.kinds();
  const read = parseTarget(spec.targetResource, kinds);
  if (read.kind === "problem" || read.target.type !== "object") return [];
  const { workflowRef } = spec;
  // An execution that holds its target does not stand in its own way.
  const asker = metadata.uid === undefined ? {} : { executionUid: metadata.uid };
  return queryPolicy({ target: read.target, workflow: workflowRef.workflowId, workflowRef, ...asker }, kinds, context);
}

/** What ran, by what and as whom, and with whose approval. */
function ranAs({ status }: WorkflowExecution): readonly (readonly string[])[] {
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

function became(execution: WorkflowExecution): readonly (readonly string[])[] {
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
      return [[`${name} is ${status.phase}`, ...(stall ? [`  stalled, ${describeStall(stall)}`] : [])]];
  }
}
