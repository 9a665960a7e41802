import { objectKey } from "../kube/index.ts";
import { type RemediationRequest, remediationRequests } from "../resources/index.ts";
import type { Decision } from "./action.ts";
import { isPartial } from "./cached-incident.ts";
import { decide, factsRecheckMs, nextRecheckMs } from "./decide.ts";
import { observe } from "./observe.ts";
import { type Deps, type Performed, perform } from "./perform.ts";

/** More turns than any incident takes in one go. */
const maxTurns = 12;

/**
 * Looks, decides and acts until there is nothing left to do now. Safe to run at any time, any number of times, on any
 * replica. Returns in how many milliseconds to look again, if nothing happens before.
 */
export async function reconcile(
  ref: { readonly namespace: string; readonly name: string },
  deps: Deps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { caches } = deps;
  const known = caches.incidents.get(ref);
  // Our own last write has not come back yet: it will, as an event.
  if (!known || caches.ownWrites.isOutdated(known)) return undefined;

  let incident = known;
  for (let turns = 0; turns < maxTurns; turns++) {
    const change = caches.outdated.changeOf(objectKey(incident));
    const snapshot = await observe(incident, caches, signal);
    // Its deletion is an event.
    if (!snapshot) return undefined;
    const next = decide(snapshot);
    if (next.actions.length === 0) {
      // It stays outdated until the facts that its rules ask for can be read.
      if (snapshot.analysis?.kind === "no-match" && snapshot.analysis.unreadable) return soonest(next, factsRecheckMs);
      const analyzed = { change, version: snapshot.analysisVersion, recheckAtMs: nextRecheckMs(snapshot) };
      caches.outdated.settle(objectKey(incident), analyzed);
      return next.requeueAfterMs;
    }
    if (isPartial(incident)) {
      // A status is written as a whole, so it has to be known as a whole before anything is done.
      const whole = await caches.client.get(remediationRequests, ref, { signal });
      if (!whole || whole.metadata.uid !== incident.metadata.uid) return undefined;
      incident = whole;
      continue;
    }
    const outcome = await performAll(next, incident, deps, signal);
    // Whoever was faster wrote something, and that is an event.
    if (outcome.kind === "lost") return lostMs;
    // What was changed beside the incident shows up as an event, too: the caches may not know it yet.
    if (outcome.incident === incident) return lostMs;
    incident = outcome.incident;
  }
  return retryMs;
}

function soonest({ requeueAfterMs }: Decision, laterMs: number): number {
  return Math.min(requeueAfterMs ?? laterMs, laterMs);
}

/** For an event that was lost. */
export const lostMs = 5_000;
const retryMs = 50;

/** Does all of it, until something is lost. */
export async function performAll(
  { actions }: Decision,
  from: RemediationRequest,
  deps: Deps,
  signal: AbortSignal,
): Promise<Performed> {
  let done: Extract<Performed, { kind: "done" }> = { kind: "done", incident: from };
  for (const action of actions) {
    const outcome = await perform(action, done.incident, deps, signal);
    if (outcome.kind === "lost") return outcome;
    done = { ...done, ...outcome };
  }
  return done;
}
