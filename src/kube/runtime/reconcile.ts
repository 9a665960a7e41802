import type { KubeObject } from "../object.ts";
import type { Skipped } from "./controller.ts";
import type { Decision } from "./decision.ts";
import type { OwnWrites } from "./own-writes.ts";

/**
 * The result of an action.
 *
 * - `done`: the snapshot includes the object that was written
 * - `stale`: the snapshot is not current, because another writer was faster; it has to be observed again
 * - `waiting`: the next step follows from a change that arrives as an event
 */
export type Performed<Snapshot> =
  | { readonly kind: "done"; readonly snapshot: Snapshot }
  | { readonly kind: "stale" }
  | { readonly kind: "waiting" };

export interface ReconcileSteps<Snapshot, Action> {
  readonly decide: (snapshot: Snapshot) => Decision<Action>;
  /** Performs one action: a write that is safe to repeat and conditional on the snapshot. */
  readonly perform: (action: Action, snapshot: Snapshot) => Promise<Performed<Snapshot>>;
  /**
   * The snapshot for the next round: `after` has the writes of this one, and is undefined if the snapshot was stale.
   * Returns undefined if the next round has to wait for an event.
   */
  readonly observeAgain: (after: Snapshot | undefined, before: Snapshot) => Promise<Snapshot | undefined>;
}

/**
 * Decides and performs until there is nothing left to do now. Safe to run at any time, any number of times, on any
 * replica. Returns in how many milliseconds to reconcile again, if no event arrives before.
 */
export async function reconcile<Snapshot, Action>(
  observed: Snapshot,
  { decide, perform, observeAgain }: ReconcileSteps<Snapshot, Action>,
): Promise<number | undefined> {
  let snapshot = observed;
  for (let round = 0; round < maxRounds; round++) {
    const { actions, requeueAfterMs } = decide(snapshot);
    const outcome = await performAll(actions, snapshot, perform);
    if (outcome.kind === "waiting") return lostEventMs;
    const isDone = outcome.kind === "done" && (actions.length === 0 || requeueAfterMs !== undefined);
    if (isDone) return requeueAfterMs;
    const next = await observeAgain(outcome.kind === "done" ? outcome.snapshot : undefined, snapshot);
    if (next === undefined) return lostEventMs;
    snapshot = next;
  }
  return retryMs;
}

/**
 * Does `work` on an object from a cache, unless this process has written a newer version. The newer version arrives as an event,
 * but the event wakes no key if it only reports a stall: so the key is reconciled again in any case.
 */
export async function reconcileCached<T extends KubeObject>(
  cached: T | undefined,
  ownWrites: OwnWrites,
  work: (cached: T) => Promise<number | undefined | Skipped>,
): Promise<number | undefined | Skipped> {
  if (!cached) return undefined;
  return ownWrites.isOutdated(cached) ? { kind: "skipped", inMs: lostEventMs } : work(cached);
}

/** More rounds than any object needs at once. One that needs more lost many races, and is requeued behind other keys. */
const maxRounds = 24;
const retryMs = 50;

/** The delay until a key is reconciled again although an event is expected, in case the event is lost. */
export const lostEventMs = 5_000;

async function performAll<Snapshot, Action>(
  actions: readonly Action[],
  from: Snapshot,
  perform: ReconcileSteps<Snapshot, Action>["perform"],
): Promise<Performed<Snapshot>> {
  let snapshot = from;
  for (const action of actions) {
    const outcome = await perform(action, snapshot);
    if (outcome.kind !== "done") return outcome;
    snapshot = outcome.snapshot;
  }
  return { kind: "done", snapshot };
}
