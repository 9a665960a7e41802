import type { Performed } from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { Caches } from "./caches.ts";
import type { Announce } from "./reports/announce.ts";
import type { Snapshot } from "./snapshot.ts";

/** The operations that the executor may call. */
export interface Deps {
  readonly caches: Caches;
  readonly ledger: Ledger;
  readonly announce: Announce;
}

/** The operations of one reconciliation, which `signal` aborts. */
export interface ActionContext extends Deps {
  readonly signal: AbortSignal;
}

/** The outcome of an action: the snapshot after it, or why the reconciliation stops. */
export type ActionOutcome = Promise<Performed<Snapshot>>;
