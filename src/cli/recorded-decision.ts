import type { LedgerEvent } from "../ledger/index.ts";
import { explainChecks, type ToldCheck } from "../policy/index.ts";
import type { RemediationRequest } from "../resources/index.ts";

/**
 * The recorded decision by which an incident is where it is. Not just the latest: replicas may decide about one version of
 * an incident differently, only one of them can write that into it, and at admission the executor has the last word.
 */
export function decisionOn({ status }: RemediationRequest, events: readonly LedgerEvent[]): LedgerEvent | undefined {
  if (status?.phase === "Blocked") return events.find(({ id }) => id === status.block.decision);
  const decided = events.filter(({ type }) => type === "incident.decided");
  const verdict = verdictBehind(status);
  return decided.findLast(({ facts }) => verdict === undefined || facts["verdict"] === verdict);
}

/** Whether an incident cannot be where it is without a decision on record. */
export function hasDecision({ status }: RemediationRequest): boolean {
  return status?.phase === "Blocked" || verdictBehind(status) !== undefined;
}

/** What must have been decided, where only one verdict leads there. */
function verdictBehind(status: RemediationRequest["status"]): string | undefined {
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

/** A decision as it was recorded, by the orchestrator or at admission. */
export function tellDecision({ at, facts }: LedgerEvent): string {
  const { verdict = "skip", reason = facts["skip_reason"], message, checks, next_step: next } = facts;
  const head = `Decided at ${at}: ${verdict}${reason ? `, ${reason}` : ""}`;
  const told = Array.isArray(checks) ? explainChecks(checks as unknown as readonly ToldCheck[]) : [];
  return [head, `  ${message}`, ...(next ? [`  next: ${next}`] : []), ...(told.length > 0 ? ["", ...told] : [])].join(
    "\n",
  );
}
