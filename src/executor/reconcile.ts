import type { OwnWrites } from "../kube/index.ts";
import { type WorkflowExecution, workflowExecutions } from "../resources/index.ts";
import type { Decision } from "./action.ts";
import { decide } from "./decide.ts";
import { observe } from "./observe.ts";
import { type Deps, type Performed, perform } from "./perform.ts";
import type { Snapshot } from "./snapshot.ts";

/** More turns than any execution takes in one go. Whoever needs more lost many races, and lets others go first. */
const maxTurns = 24;

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
  const known = caches.executions.get(ref);
  // Our own last write has not come back yet: it will, as an event.
  if (!known || caches.ownWrites.isOutdated(known)) return undefined;

  let snapshot = await observe(known, caches, signal);
  for (let turns = 0; turns < maxTurns; turns++) {
    const next = decide(snapshot);
    const outcome = await performAll(next, snapshot, deps, signal);
    if (outcome.kind === "waiting") return waitMs;
    if (outcome.kind === "done") {
      if (next.actions.length === 0 || next.requeueAfterMs !== undefined) return next.requeueAfterMs;
      snapshot = outcome.snapshot;
      continue;
    }
    const current = await caches.client.get(workflowExecutions, ref, { signal });
    noteRead(known, current, caches.ownWrites);
    if (!current) return undefined;
    snapshot = await observe(current, caches, signal, { fresh: true });
  }
  return retryMs;
}

/** The end of what is waited for is an event. This is for one that was lost. */
const waitMs = 5_000;
const retryMs = 50;

async function performAll({ actions }: Decision, from: Snapshot, deps: Deps, signal: AbortSignal): Promise<Performed> {
  let snapshot = from;
  for (const action of actions) {
    const outcome = await perform(action, snapshot, deps, signal);
    if (outcome.kind !== "done") return outcome;
    noteWrites(snapshot, outcome.snapshot, deps.caches.ownWrites);
    snapshot = outcome.snapshot;
  }
  return { kind: "done", snapshot };
}

/** The cache lags behind: acting on it again would be undone by whoever knows better, again and again. */
function noteRead(known: WorkflowExecution, current: WorkflowExecution | undefined, ownWrites: OwnWrites): void {
  if (current) ownWrites.note(current);
  if (current?.metadata.uid !== known.metadata.uid) ownWrites.noteGone(known);
}

/** What was read from a cache before is older than what a write returned. */
function noteWrites(before: Snapshot, after: Snapshot, ownWrites: OwnWrites): void {
  if (after.execution !== before.execution) ownWrites.note(after.execution);
  if (after.record && after.record !== before.record) ownWrites.note(after.record);
  if (after.run && after.run !== before.run) ownWrites.note(after.run.object);
  if (before.run && !after.run) ownWrites.noteGone(before.run.object);
}
