import type { Key } from "../key.ts";
import type { RenewalResult, Validity } from "../lease-renewer.ts";
import type { Guarantee } from "../locks/locks.ts";
import type { TakenClaim } from "./claims.ts";

/**
 * Port: the operations that a backend must perform atomically. Validation, renewal, deadlines, retries, outcomes and
 * sharing results within the process are written once, on top of it, in `claim-client.ts`.
 *
 * All rejections are a `CoordinationError`. After `unavailable` the operation may have happened: it is repeated with the
 * same holder, and must then return the same result.
 */
export interface ClaimStore {
  readonly guarantee: Guarantee;
  /** Claims the key if it is free or already this holder's; else returns its state. */
  claim(bid: ClaimBid): Promise<ClaimResult>;
  close(): Promise<void>;
}

export interface ClaimBid {
  readonly key: Key;
  /** Identifies this one claim, never the process: two callers in one process are two claimants. */
  readonly holder: string;
  /** stage/pod/pid of the process, for display. */
  readonly who: string;
  readonly leaseMs: number;
  readonly payloadHash: string | undefined;
}

export type ClaimResult = { readonly state: "new"; readonly grant: ClaimGrant } | Taken;

/** The key is not free. `payloadHash` is that of the claim that has it. */
export type Taken = TakenClaim & { readonly payloadHash: string | undefined };

/** A granted claim. The deadline counts from when the request was sent. */
export interface ClaimGrant extends Validity {
  readonly fence: bigint;
  /** Never rejects, never takes longer than its backend's timeout. */
  renew(): Promise<RenewalResult>;
  /** Ends the claim if it is still ours. Also `settled` if an earlier call has ended it in the same way. */
  settle(ending: Ending): Promise<"settled" | "lost">;
}

/** `retry` without a delay removes the record. */
export type Ending =
  | { readonly kind: "done"; readonly result: string; readonly ttlMs: number }
  | { readonly kind: "failed"; readonly error: string; readonly ttlMs: number }
  | { readonly kind: "retry"; readonly afterMs: number };
