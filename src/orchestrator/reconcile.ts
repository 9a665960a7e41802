import { objectKey } from "../kube/index.ts";
import { type RemediationRequest, remediationRequests } from "../resources/index.ts";
import type { Turn } from "./action.ts";
import { isPartial } from "./cached-incident.ts";
import { decide, factsRecheckMs, nextRecheckMs } from "./decide.ts";
import { observe } from "./observe.ts";
import { type Hands, type Performed, perform } from "./perform.ts";

/** More turns than any incident takes in one go. */
const mostTurns = 12;

/**
 * Looks, decides and acts until there is nothing left to do now. Safe to run at any time, any number of times, on any
 * replica. Returns in how many milliseconds to look again, if nothing happens before.
 */
export async function reconcile(
  ref: { readonly namespace: string; readonly name: string },
  hands: Hands,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { sight } = hands;
  const known = sight.incidents.get(ref);
  // Our own last write has not come back yet: it will, as an event.
  if (!known || sight.ownWrites.isOutdated(known)) return undefined;

  let incident = known;
  for (let turns = 0; turns < mostTurns; turns++) {
    const change = sight.outdated.changeOf(objectKey(incident));
    const seen = await observe(incident, sight, signal);
    // Its deletion is an event.
    if (!seen) return undefined;
    const turn = decide(seen);
    if (turn.actions.length === 0) {
      // It stays outdated until the facts that its rules ask for can be read.
      if (seen.analysis?.kind === "no-match" && seen.analysis.unreadable) return soonest(turn, factsRecheckMs);
      const analyzed = { change, version: seen.analysisVersion, recheckAtMs: nextRecheckMs(seen) };
      sight.outdated.settle(objectKey(incident), analyzed);
      return turn.lookAgainInMs;
    }
    if (isPartial(incident)) {
      // A status is written as a whole, so it has to be known as a whole before anything is done.
      const whole = await sight.client.get(remediationRequests, ref, { signal });
      if (!whole || whole.metadata.uid !== incident.metadata.uid) return undefined;
      incident = whole;
      continue;
    }
    const outcome = await performAll(turn, incident, hands, signal);
    // Whoever was faster wrote something, and that is an event.
    if (outcome.kind === "lost") return lostMs;
    // What was changed beside the incident shows up as an event, too: the caches may not know it yet.
    if (outcome.incident === incident) return lostMs;
    incident = outcome.incident;
  }
  return retryMs;
}

function soonest({ lookAgainInMs }: Turn, laterMs: number): number {
  return Math.min(lookAgainInMs ?? laterMs, laterMs);
}

/** For an event that was lost. */
export const lostMs = 5_000;
const retryMs = 50;

/** Does all of it, until something is lost. */
export async function performAll(
  { actions }: Turn,
  from: RemediationRequest,
  hands: Hands,
  signal: AbortSignal,
): Promise<Performed> {
  let done: Extract<Performed, { kind: "done" }> = { kind: "done", incident: from };
  for (const action of actions) {
    const outcome = await perform(action, done.incident, hands, signal);
    if (outcome.kind === "lost") return outcome;
    done = { ...done, ...outcome };
  }
  return done;
}
