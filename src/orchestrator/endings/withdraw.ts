import { type Decision, iso } from "../../kube/index.ts";
import type { Action } from "../action.ts";
import { staleAfterMs } from "../settings.ts";
import type { Snapshot } from "../snapshot.ts";
import { close, lastSeenMs } from "./ending.ts";

/**
 * Withdraws an incident that was resolved before anything was started, or that is stale. If its block needs a manual review,
 * the closed incident does, too.
 */
export function withdraw(
  { incident, nowMs, settings }: Pick<Snapshot, "incident" | "nowMs" | "settings">,
  waitedSinceMs = 0,
): Decision<Action> | undefined {
  const { resolvedAt, requiresManualReview: review = false } = incident.status ?? {};
  if (resolvedAt !== undefined) {
    const message = `the sender resolved it at ${resolvedAt}; nothing was started`;
    return close(incident, { phase: "Withdrawn", outcome: "ResolvedBeforeStart", message, review }, nowMs);
  }
  if (nowMs < staleAtMs({ incident, settings }, waitedSinceMs)) return undefined;
  const message = `it was not reported again since ${iso(lastSeenMs(incident))}; nothing was started`;
  return close(incident, { phase: "Withdrawn", outcome: "Stale", message, review }, nowMs);
}

/** Returns when the incident becomes stale. The answer to an approval counts as a report. */
export function staleAtMs({ incident, settings }: Pick<Snapshot, "incident" | "settings">, waitedSinceMs = 0): number {
  return Math.max(lastSeenMs(incident), waitedSinceMs) + staleAfterMs(incident, settings);
}
