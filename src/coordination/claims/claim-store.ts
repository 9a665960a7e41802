import type { Key } from "../key.ts";
import type { RenewalResult, Validity } from "../lease-renewer.ts";
import type { Guarantee, Holder } from "../locks/locks.ts";

/**
 * Port: the operations that a backend must perform atomically. Validation, renewal, deadlines, retries, outcomes and joining callers of one
 * process are written once, on top of it, in `claim-client.ts`.
 *
 * Whatever rejects does so with a `CoordinationError`. `unavailable` means that it may have happened: it is repeated
 * with the same holder, and must then return the same result.
 */
export interface ClaimStore {
  readonly guarantee: Guarantee;
  /** Claims the key if it is free or already this holder's; else returns its state. */
  claim(bid: ClaimBid): Promise<ClaimResult>;
  close(): Promise<void>;
}

export interface ClaimBid {
  readonly key: Key;
  /** Names this one claim, never the process: two callers in one process are two claimants. */
  readonly holder: string;
  /** stage/pod/pid, for people. */
  readonly who: string;
  readonly leaseMs: number;
  readonly payloadHash: string | undefined;
}

export type ClaimResult = { readonly state: "new"; readonly grant: ClaimGrant } | Taken;

/** The key is not free. `payloadHash`: the one it was claimed with. */
export type Taken = { readonly payloadHash: string | undefined } & (
  | { readonly state: "in-flight"; readonly holder: Holder | undefined; readonly retryAfterMs: number }
  | { readonly state: "done"; readonly result: string; readonly atMs: number }
  | { readonly state: "failed"; readonly error: string; readonly atMs: number }
);

/** A granted claim. The deadline counts from when the request was sent. */
export interface ClaimGrant extends Validity {
  readonly fence: bigint;
  /** Never rejects, never takes longer than its backend's timeout. */
  renew(): Promise<RenewalResult>;
  /** Moves the claim on if it is still ours. Having done so before, in the same way, is `settled` too. */
  settle(ending: Ending): Promise<"settled" | "lost">;
}

/** `retry` without a delay leaves nothing behind. */
export type Ending =
  | { readonly kind: "done"; readonly result: string; readonly ttlMs: number }
  | { readonly kind: "failed"; readonly error: string; readonly ttlMs: number }
  | { readonly kind: "retry"; readonly afterMs: number };
