import { type Decision, iso } from "../../kube/index.ts";
import type { RemediationRequest } from "../../resources/index.ts";
import type { Action } from "../action.ts";
import { type OrchestratorSettings, staleAfterOf } from "../settings.ts";
import { close, lastSeenMs } from "./ending.ts";

interface Waiting {
  readonly incident: RemediationRequest;
  readonly nowMs: number;
  readonly settings: OrchestratorSettings;
}

/**
 * Over before anything was started, or so long ago that acting on it would be acting on something else. If a person has to
 * look at what blocked it, that is still true afterwards.
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

/** A person's answer is a sign of life, too. */
export function staleAtMs({ incident, settings }: Omit<Waiting, "nowMs">, waitedSinceMs = 0): number {
  return Math.max(lastSeenMs(incident), waitedSinceMs) + staleAfterOf(incident, settings);
}
