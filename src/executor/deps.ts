import type { Ledger } from "../ledger/index.ts";
import type { Caches } from "./caches.ts";
import type { Announce } from "./reports/announce.ts";

/** The operations that the executor may call. */
export interface Deps {
  readonly caches: Caches;
  readonly ledger: Ledger;
  readonly announce: Announce;
}
