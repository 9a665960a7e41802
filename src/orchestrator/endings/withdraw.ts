import { type Decision, iso } from "../../kube/index.ts";
import type { RemediationRequest } from "../../resources/index.ts";
import type { Action } from "../action.ts";
import { type OrchestratorSettings, staleAfterMs } from "../settings.ts";
import { close, lastSeenMs } from "./ending.ts";

interface Waiting {
  readonly incident: RemediationRequest;
  readonly nowMs: number;
  readonly settings: OrchestratorSettings;
}

/**
 * Withdraws an incident that was resolved before anything was started, or that is stale. If its block needs a manual review,
 * the closed incident does, too.
 */
export function withdraw({ incident, nowMs, settings }: Waiting, waitedSinceMs = 0): Decision<Action> | undefined {
  const { resolvedAt, requiresManualReview: review = false } = incident.status ?? {};
  if (resolvedAt !== undefined) {
    const message = `its sender said at ${resolvedAt} that it is over; nothing was started`;
    return close(incident, { phase: "Withdrawn", outcome: "ResolvedBeforeStart", message, review }, nowMs);
  }
  if (nowMs < staleAtMs({ incident, settings }, waitedSinceMs)) return undefined;
  const message = `it was not reported again since ${iso(lastSeenMs(incident))}; nothing was started`;
  return close(incident, { phase: "Withdrawn", outcome: "Stale", message, review }, nowMs);
}

/** Returns when the incident becomes stale. The answer to an approval counts as a report. */
export function staleAtMs({ incident, settings }: Omit<Waiting, "nowMs">, waitedSinceMs = 0): number {
  return Math.max(lastSeenMs(incident), waitedSinceMs) + staleAfterMs(incident, settings);
}
