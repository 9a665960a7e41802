import type { OwnWrites } from "../kube/index.ts";
import { type WorkflowExecution, workflowExecutions } from "../resources/index.ts";
import type { Turn } from "./action.ts";
import { decide } from "./decide.ts";
import { observe } from "./observe.ts";
import { type Hands, type Performed, perform } from "./perform.ts";
import type { Seen } from "./seen.ts";

/** More turns than any execution takes in one go. Whoever needs more lost many races, and lets others go first. */
const mostTurns = 24;

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
  const known = sight.executions.get(ref);
  // Our own last write has not come back yet: it will, as an event.
  if (!known || sight.ownWrites.isOutdated(known)) return undefined;

  let seen = await observe(known, sight, signal);
  for (let turns = 0; turns < mostTurns; turns++) {
    const turn = decide(seen);
    const outcome = await performAll(turn, seen, hands, signal);
    if (outcome.kind === "waiting") return waitMs;
    if (outcome.kind === "done") {
      if (turn.actions.length === 0 || turn.lookAgainInMs !== undefined) return turn.lookAgainInMs;
      seen = outcome.seen;
      continue;
    }
    const current = await sight.client.get(workflowExecutions, ref, { signal });
    noteRead(known, current, sight.ownWrites);
    if (!current) return undefined;
    seen = await observe(current, sight, signal, { fresh: true });
  }
  return retryMs;
}

/** The end of what is waited for is an event. This is for one that was lost. */
const waitMs = 5_000;
const retryMs = 50;

async function performAll({ actions }: Turn, from: Seen, hands: Hands, signal: AbortSignal): Promise<Performed> {
  let seen = from;
  for (const action of actions) {
    const outcome = await perform(action, seen, hands, signal);
    if (outcome.kind !== "done") return outcome;
    noteWrites(seen, outcome.seen, hands.sight.ownWrites);
    seen = outcome.seen;
  }
  return { kind: "done", seen };
}

/** The cache lags behind: acting on it again would be undone by whoever knows better, again and again. */
function noteRead(known: WorkflowExecution, current: WorkflowExecution | undefined, ownWrites: OwnWrites): void {
  if (current) ownWrites.note(current);
  if (current?.metadata.uid !== known.metadata.uid) ownWrites.noteGone(known);
}

/** What was read from a cache before is older than what a write returned. */
function noteWrites(before: Seen, after: Seen, ownWrites: OwnWrites): void {
  if (after.execution !== before.execution) ownWrites.note(after.execution);
  if (after.record && after.record !== before.record) ownWrites.note(after.record);
  if (after.run && after.run !== before.run) ownWrites.note(after.run.object);
  if (before.run && !after.run) ownWrites.noteGone(before.run.object);
}
