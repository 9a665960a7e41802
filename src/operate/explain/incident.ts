import type { KubeClient } from "../../kube/index.ts";
import type { LedgerEvent } from "../../ledger/index.ts";
import { askingIncident, explain, openCauses, type PolicyReport } from "../../policy/index.ts";
import {
  closedStatus,
  describeStall,
  findStall,
  incidentSeverity,
  parseRecordedTarget,
  type RemediationApprovalRequest,
  type RemediationRequest,
  readAckRequest,
  remediationApprovalRequests,
  remediationRequests,
  skipText,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import type { OperateContext } from "../context.ts";
import { queryPolicy } from "../query-policy.ts";
import { type Check, recordedChecks, toChecks } from "./checks.ts";
import { describeRunWait } from "./execution.ts";
import type { Explanation } from "./explanation.ts";
import { decisionLines, findRecorded, hasDecision, isDecisionOn } from "./recorded-decision.ts";
import { seriesLines } from "./series-lines.ts";

/** The explanation of an incident, with every check of its decision. */
export interface IncidentExplanation extends Explanation {
  /** The current checks; those of the recorded decision if no workflow was found for the incident. */
  readonly checks: readonly Check[];
}

/** Explains an incident: its state, its decision, its executions and approvals. */
export async function explainIncident(
  incident: RemediationRequest,
  context: OperateContext,
): Promise<IncidentExplanation> {
  const { metadata, spec, status } = incident;
  const isDecided = hasDecision(incident);
  const decided = await findRecorded({ incident: metadata.name ?? "" }, context, {
    matches: (event) => isDecisionOn(incident, event),
    isAwaited: isDecided,
  });
  const facts: IncidentFacts = {
    incident,
    decided,
    executions: await listExecutions(incident, context.client),
    approvals: await listApprovals(incident, context.client),
    now: await queryNow(incident, context),
  };
  const { executions, approvals, now } = facts;
  const [report] = now;
  return {
    checks: report ? toChecks(report.decision.checks) : recordedChecks(decided),
    facts: { incident: metadata.name, spec, status, decided, executions, approvals, now },
    text: [
      stateLines(facts, context),
      ...(decided || isDecided ? [decisionLines(decided)] : []),
      ...now.map(({ request, decision }) => {
        const [head = "", ...rest] = explain(request, decision);
        return [`Now: ${head}`, ...rest];
      }),
    ],
  };
}

interface IncidentFacts {
  readonly incident: RemediationRequest;
  /** The recorded decision, with every check. */
  readonly decided: LedgerEvent | undefined;
  /** The executions started for the incident, and the one it follows. */
  readonly executions: readonly WorkflowExecution[];
  readonly approvals: readonly RemediationApprovalRequest[];
  readonly now: readonly PolicyReport[];
}

async function listExecutions(
  { status }: RemediationRequest,
  client: KubeClient,
): Promise<readonly WorkflowExecution[]> {
  const refs = [...(status?.executionRefs ?? []), ...(status?.follows ? [status.follows] : [])];
  const found = await Promise.all(
    refs.map(({ name, namespace }) => client.get(workflowExecutions, { name, namespace })),
  );
  return found.filter(
    (one) => one !== undefined && refs.some(({ uid }) => uid === one.metadata.uid),
  ) as WorkflowExecution[];
}

async function listApprovals({ metadata }: RemediationRequest, client: KubeClient) {
  const { items } = await client.list(remediationApprovalRequests, { namespace: metadata.namespace ?? "" });
  return items.filter(({ spec }) => spec.remediationRequestRef?.name === metadata.name);
}

/** An execution that acts for the incident never blocks it. */
async function queryNow(incident: RemediationRequest, context: OperateContext): Promise<readonly PolicyReport[]> {
  const { status } = incident;
  if (!status?.diagnosis) return [];
  const { items } = status.diagnosis.deferWhile ? await context.client.list(remediationRequests) : { items: [] };
  const kinds = await context.kinds();
  const { target: text, workflowId: workflow } = status.diagnosis;
  const read = parseRecordedTarget(text);
  if (read.kind === "problem" || read.target.type !== "object") return [];
  const acts = status.follows ?? status.executionRefs?.at(-1);
  return queryPolicy(
    {
      target: read.target,
      workflow,
      parameters: status.diagnosis.parameters ?? {},
      incident: askingIncident(incident, openCauses(incident, items)),
      ...(acts ? { executionUid: acts.uid } : {}),
    },
    kinds,
    context,
  );
}

/** The progress of an incident and the reason of its wait. */
function stateLines(
  { incident, executions, approvals }: IncidentFacts,
  { verification }: OperateContext,
): readonly string[] {
  const { metadata, spec, status } = incident;
  const { namespace, kind, name } = spec.targetResource;
  const about = [namespace, kind.toLowerCase(), name].filter(Boolean).join("/");
  const lines = [`${metadata.name}: ${spec.signalName} (${incidentSeverity(incident)}), about ${about}`];
  const addLine = (label: string, text: string | undefined) => text && lines.push(`  ${label.padEnd(12)} ${text}`);
  addLine("phase", `${status?.phase ?? "new"}${status?.message ? `: ${status.message}` : ""}`);
  addLine("stalled", stalledText(incident));
  addLine("reported", reportedText(incident));
  for (const line of seriesLines(incident)) addLine("series", line);
  addLine("resolved", status?.resolvedAt && `at ${status.resolvedAt}, according to its senders`);
  if (status?.diagnosis) {
    const { rule, workflowId, target, deferWhile } = status.diagnosis;
    addLine("diagnosis", `${workflowId} on ${target}${rule ? `, by rule ${rule}` : ""}`);
    if (deferWhile)
      addLine("deferred", `while an incident of rule ${deferWhile.rules.join(" or ")} on ${deferWhile.within} is open`);
  }
  if (status?.phase === "Blocked") addLine("waits", waitText(status.block.until));
  for (const execution of executions) {
    const isFollowed = execution.metadata.uid === status?.follows?.uid;
    addLine(isFollowed ? "follows" : "execution", executionText(execution));
    addLine("stalled", stalledText(execution));
  }
  for (const approval of approvals) for (const line of approvalLines(approval)) addLine("approval", line);
  addLine("verification", verificationText(incident, verification));
  const closed = closedStatus(incident);
  if (closed) addLine("outcome", `${closed.outcome}, at ${closed.completedAt}`);
  if (status?.requiresManualReview) addLine("review", reviewText(executions));
  return lines;
}

function reviewText(executions: readonly WorkflowExecution[]): string {
  const ack = executions.map(readAckRequest).find((one) => one !== undefined);
  return ack ? `acknowledged by ${ack.by}: ${ack.reason}` : "an operator has to review it";
}

function stalledText(object: RemediationRequest | WorkflowExecution): string | undefined {
  const stall = findStall(object);
  return stall && describeStall(stall);
}

function reportedText({ status, spec }: RemediationRequest): string {
  const { occurrenceCount = 1, lastSeenAt } = status?.deduplication ?? {};
  const last = lastSeenAt ? `, last at ${lastSeenAt}` : "";
  return `${occurrenceCount === 1 ? "once" : `${occurrenceCount} times`}, since ${spec.firingTime}${last}`;
}

function waitText(until: string | undefined): string {
  return until
    ? `until ${until}; it is then decided again automatically`
    : "for a change of that; it is then decided again automatically";
}

function executionText(execution: WorkflowExecution): string {
  const { metadata, status } = execution;
  const { name } = metadata;
  switch (status?.phase) {
    case undefined:
    case "Pending":
      return `${name} waits to be admitted`;
    case "Running":
      return `${name} has run since ${status.startTime}; ${describeRunWait(execution) ?? `read its output: interlock logs ${name}`}`;
    case "Completed":
      return `${name} completed in ${status.duration}, at ${status.completionTime}`;
    case "Failed":
      return `${name} failed: ${status.failureDetails.naturalLanguageSummary}`;
    case "Skipped":
      return `${name} was skipped, ${skipText(status.skipDetails)}: ${status.skipDetails.message}`;
  }
}

function approvalLines({ metadata, spec, status }: RemediationApprovalRequest): readonly string[] {
  const { name } = metadata;
  if (!status) {
    return [
      `${name} waits for an answer until ${spec.requiredBy}, and expires without one`,
      `interlock approve ${name} --reason "…", or interlock reject ${name} --reason "…"`,
    ];
  }
  if (status.decision === "Expired") return [`${name} was not answered in time`];
  return [`${name} was ${status.decision} by ${status.decidedBy} at ${status.decidedAt}: ${status.decisionMessage}`];
}

/** The end of the verification. */
function verificationText(
  { status }: RemediationRequest,
  { graceMs, windowMs }: OperateContext["verification"],
): string | undefined {
  if (status?.phase !== "Verifying") return undefined;
  const executed = status.conditions?.find(({ type }) => type === "Executed");
  if (!executed) return undefined;
  const at = (ms: number) => new Date(Date.parse(executed.lastTransitionTime) + ms).toISOString();
  return `it is closed when it resolves, or at ${at(windowMs)} if nothing is reported after ${at(graceMs)}; otherwise it is decided again`;
}
