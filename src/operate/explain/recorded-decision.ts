import type { EventFilter, LedgerEvent } from "../../ledger/index.ts";
import { explainChecks, type StoredCheck } from "../../policy/index.ts";
import { blockText, type RemediationRequest } from "../../resources/index.ts";
import { sleep } from "../../time/index.ts";
import type { OperateContext } from "../context.ts";

interface EventQuery {
  matches(event: LedgerEvent): boolean;
  /** Whether it must have been recorded by now. */
  readonly isAwaited: boolean;
}

/** Finds the newest event that matches. The ledger's database is a moment behind the API server, so a missing event is waited for, up to two seconds. */
export async function findRecorded(
  subject: Pick<EventFilter, "incident" | "execution">,
  context: Pick<OperateContext, "clock" | "readEvents">,
  { matches, isAwaited }: EventQuery,
): Promise<LedgerEvent | undefined> {
  for (let tries = 1; ; tries++) {
    const events = await context.readEvents(subject, { matches, max: 1 });
    const found = events?.[0];
    if (found || !events || !isAwaited || tries === 10) return found;
    await sleep(context.clock, 200);
  }
}

/**
 * Whether an event may be the decision that led to the current phase of an incident; the newest such event is. It need not be the
 * latest decision: replicas may decide differently about one version of an incident, only one of them can write its decision, and
 * the executor decides at admission.
 */
export function isDecisionOn({ status }: RemediationRequest, { id, type, facts }: LedgerEvent): boolean {
  if (status?.phase === "Blocked") return id === status.block.decision;
  const verdict = expectedVerdict(status);
  return type === "incident.decided" && (verdict === undefined || facts["verdict"] === verdict);
}

/** Whether an incident in this phase must have a recorded decision. */
export function hasDecision({ status }: RemediationRequest): boolean {
  return status?.phase === "Blocked" || expectedVerdict(status) !== undefined;
}

/** The verdict that must have been recorded, if only one verdict leads to this phase. */
function expectedVerdict(status: RemediationRequest["status"]): string | undefined {
  switch (status?.phase) {
    case "AwaitingApproval":
      return "ask";
    case "Executing":
    case "Verifying":
      return status.follows ? "follow" : "run";
    case "Completed":
      return status.outcome === "Observed" ? "observe" : status.follows ? "follow" : "run";
    default:
      return undefined;
  }
}

/** The lines of a recorded decision of the orchestrator or of admission. */
export function decisionLines(event: LedgerEvent | undefined): readonly string[] {
  if (!event) return ["The decision is not in the ledger that is read here, or not yet."];
  const { at, facts } = event;
  const { verdict = "skip", reason = facts["skip_reason"], message, checks, next_step: next } = facts;
  const cause = typeof facts["cause"] === "string" ? facts["cause"] : undefined;
  const head = `Decided at ${at}: ${verdict}${reason ? `, ${blockText(String(reason), cause)}` : ""}`;
  const checkLines = Array.isArray(checks) ? explainChecks(checks as unknown as readonly StoredCheck[]) : [];
  return [
    head,
    `  ${message}`,
    ...(next ? [`  next: ${next}`] : []),
    ...(checkLines.length > 0 ? ["", ...checkLines] : []),
  ];
}
