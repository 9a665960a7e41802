import type { BlockReason, ExecutionEnd, RecentCause, TargetHolder } from "../resources/index.ts";
import { type Check, evaluateChecks } from "./checks.ts";
import type { ActionRequest, Situation } from "./request.ts";

/** The decision, with the results of all checks in order. */
export type PolicyDecision = Allowed | Blocked;

export interface Allowed {
  readonly verdict: "allow";
  /** Whether observe mode applies: the workflow may run, but is not started. */
  readonly observeOnly: boolean;
  readonly message: string;
  readonly checks: readonly Check[];
}

export interface Blocked {
  readonly verdict: "block";
  readonly reason: BlockReason;
  readonly cause?: RecentCause;
  readonly message: string;
  /** When the block ends by itself; absent if an event has to end it. */
  readonly clearsAtMs?: number;
  readonly nextStep: string;
  readonly requiresManualReview: boolean;
  readonly holder?: TargetHolder;
  /** The earlier execution because of which it is blocked. */
  readonly earlier?: ExecutionEnd;
  readonly checks: readonly Check[];
}

/** Decides whether the request is allowed now. The first check that blocks sets the reason; the others are evaluated, too. */
export function decide(request: ActionRequest, situation: Situation): PolicyDecision {
  const checks = evaluateChecks(request, situation);
  const first = checks.find(({ answer }) => answer === "blocks");
  if (first?.answer === "blocks") {
    const { answer: _, asks: __, number: ___, evidence, clears, ...rest } = first;
    return { verdict: "block", message: `${evidence}; clears ${clears}`, ...rest, checks };
  }
  const observed = observeReason(request, situation);
  const message = allowedMessage(request, situation, observed);
  return { verdict: "allow", observeOnly: observed !== undefined, message, checks };
}

/** Returns why the request is only observed; undefined if it is not. */
function observeReason(
  { target, workflowId, incident }: ActionRequest,
  { settings, workflow }: Situation,
): string | undefined {
  if (settings.observe) return "observe mode is on";
  if (incident?.observedRule !== undefined) return `rule ${incident.observedRule} is only observed`;
  if (workflow?.observe) return `workflow ${workflowId} is only observed`;
  for (const [observed, reason] of settings.observeTargets) {
    const isInside = observed.endsWith("/*") && target.startsWith(observed.slice(0, -1));
    if (observed === target || isInside) return `${observed} is only observed, because ${reason}`;
  }
  return undefined;
}

function allowedMessage({ executionUid }: ActionRequest, { record }: Situation, observed: string | undefined): string {
  const holder = record?.holder;
  if (holder && holder.executionUid === executionUid) return `was admitted at ${holder.since} and holds the target`;
  return observed === undefined ? "may run now" : `would run, but nothing is started: ${observed}`;
}
