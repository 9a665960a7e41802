import type { EventFilter, LedgerEvent } from "../../ledger/index.ts";
import { explainChecks, type StoredCheck } from "../../policy/index.ts";
import { blockText, type RemediationRequest } from "../../resources/index.ts";
import { sleep } from "../../time/index.ts";
import type { OperateContext } from "../context.ts";

interface EventQuery {
  pick(events: readonly LedgerEvent[]): LedgerEvent | undefined;
  /** Whether it must have been recorded by now. */
  readonly isAwaited: boolean;
}

/** Finds an event. The ledger's database is a moment behind the API server, so a missing event is waited for, up to two seconds. */
export async function findRecorded(
  subject: Pick<EventFilter, "incident" | "execution">,
  context: Pick<OperateContext, "clock" | "readEvents">,
  { pick, isAwaited }: EventQuery,
): Promise<LedgerEvent | undefined> {
  for (let tries = 1; ; tries++) {
    const events = await context.readEvents(subject);
    const found = events && pick(events);
    if (found || !events || !isAwaited || tries === 10) return found;
    await sleep(context.clock, 200);
  }
}

/**
 * The recorded decision that led to the current phase of an incident. It need not be the latest: replicas may decide
 * differently about one version of an incident, only one of them can write its decision, and the executor decides at admission.
 */
export function decisionOn({ status }: RemediationRequest, events: readonly LedgerEvent[]): LedgerEvent | undefined {
  if (status?.phase === "Blocked") return events.find(({ id }) => id === status.block.decision);
  const decided = events.filter(({ type }) => type === "incident.decided");
  const verdict = expectedVerdict(status);
  return decided.findLast(({ facts }) => verdict === undefined || facts["verdict"] === verdict);
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
