import type { KubeLease } from "../../kube/index.ts";
import type { ClaimBid, Ending, Taken } from "../claims/claim-store.ts";
import type { TakenClaim } from "../claims/claims.ts";
import { describeHolder, expiry, heldSpec, holderOf, leaseAnnotation, nextTime } from "./lease-rules.ts";

/** A claim is a Lease: its spec has the holder, its annotations the state. */
const annotation = {
  ...leaseAnnotation,
  state: "kubernaut.ai/state",
  payloadHash: "kubernaut.ai/payload-hash",
  result: "kubernaut.ai/result",
  error: "kubernaut.ai/error",
  settledAt: "kubernaut.ai/settled-at",
  /** Until when `done`, `failed` and `retry` count, on the server's clock. */
  until: "kubernaut.ai/until",
} as const;

export const claimLabels = { "app.kubernetes.io/managed-by": "interlock", "kubernaut.ai/kind": "claim" };

/** The inputs besides the Lease itself. */
export interface ClaimView {
  readonly now: number;
  /** Since when, on our clock, its holder has shown no sign of life. */
  readonly since: number;
  readonly serverNowMs: number;
}

export type Move = { readonly do: "take" } | { readonly do: "answer"; readonly taken: Taken };

/** The next step for `bid`, given the existing Lease. Pure; the write that follows decides. */
export function nextMove(lease: KubeLease, bid: ClaimBid, { now, since, serverNowMs }: ClaimView): Move {
  const state = stateOf(lease);
  if (state === "claimed") {
    // Ours: a response was lost. Another's: it may have expired.
    const expiresAt = expiry({ lease, since });
    if (holderOf(lease) === bid.holder || now >= expiresAt) return { do: "take" };
    return answer(lease, { state: "in-flight", holder: describeHolder(lease), retryAfterMs: expiresAt - now });
  }

  // Both times come from the server: when it was written, and now.
  const leftMs = readTime(lease, annotation.until) - serverNowMs;
  if (!(leftMs > 0)) return { do: "take" };
  const atMs = readTime(lease, annotation.settledAt);
  switch (state) {
    case "retry":
      return answer(lease, { state: "in-flight", holder: undefined, retryAfterMs: leftMs });
    case "done":
      return answer(lease, { state: "done", result: read(lease, annotation.result) ?? "", atMs });
    case "failed":
      return answer(lease, { state: "failed", error: read(lease, annotation.error) ?? "", atMs });
  }
}

function answer(lease: KubeLease, claim: TakenClaim): Move {
  return { do: "answer", taken: { ...claim, payloadHash: read(lease, annotation.payloadHash) } };
}

/** Whether a holder is recorded. */
export function isClaimed(lease: KubeLease): boolean {
  return stateOf(lease) === "claimed";
}

/** Whether `bid` may still renew and settle it. */
export function isClaimOf(lease: KubeLease, bid: ClaimBid): boolean {
  return isClaimed(lease) && holderOf(lease) === bid.holder;
}

/** Whether `bid` ended it in this way before. */
export function isSettledBy(lease: KubeLease, bid: ClaimBid, ending: Ending): boolean {
  return stateOf(lease) === ending.kind && holderOf(lease) === bid.holder;
}

/** Whether the object can be removed. An unfinished claim may still be held, whatever its age seems to be. */
export function isExpired(lease: KubeLease, serverNowMs: number): boolean {
  return !isClaimed(lease) && readTime(lease, annotation.until) <= serverNowMs;
}

/** `lease` claimed by `bid` for a whole period. Nothing of its former state remains. */
export function claimLease(lease: KubeLease, bid: ClaimBid, serverNowMs: number): KubeLease {
  const isRenewal = isClaimOf(lease, bid);
  return {
    ...replaceAnnotations(lease, {
      [annotation.key]: bid.key,
      [annotation.who]: bid.who,
      [annotation.state]: "claimed",
      ...(bid.payloadHash !== undefined && { [annotation.payloadHash]: bid.payloadHash }),
    }),
    spec: heldSpec(lease, {
      holder: bid.holder,
      periodMs: bid.leaseMs,
      isRenewal,
      wallMs: Math.floor(serverNowMs),
    }),
  };
}

/** `lease` with a sign of life. */
export function renewLease(lease: KubeLease, serverNowMs: number): KubeLease {
  return { ...lease, spec: { ...lease.spec, renewTime: nextTime(lease, Math.floor(serverNowMs)) } };
}

/** `lease` after `bid` has ended in this way. Its spec stays, as a record of who did it. */
export function settleLease(lease: KubeLease, bid: ClaimBid, ending: Ending, serverNowMs: number): KubeLease {
  const forMs = ending.kind === "retry" ? ending.afterMs : ending.ttlMs;
  return replaceAnnotations(lease, {
    [annotation.key]: bid.key,
    [annotation.who]: bid.who,
    [annotation.state]: ending.kind,
    [annotation.settledAt]: new Date(serverNowMs).toISOString(),
    [annotation.until]: new Date(Math.ceil(serverNowMs + forMs)).toISOString(),
    ...(bid.payloadHash !== undefined && { [annotation.payloadHash]: bid.payloadHash }),
    ...(ending.kind === "done" && { [annotation.result]: ending.result }),
    ...(ending.kind === "failed" && { [annotation.error]: ending.error }),
  });
}

/** `lease` with exactly these of our annotations, and whatever others put there. */
function replaceAnnotations(lease: KubeLease, ours: Readonly<Record<string, string>>): KubeLease {
  const names: readonly string[] = Object.values(annotation);
  const theirs = Object.entries(lease.metadata.annotations ?? {}).filter(([name]) => !names.includes(name));
  return { ...lease, metadata: { ...lease.metadata, annotations: { ...Object.fromEntries(theirs), ...ours } } };
}

/** A damaged Lease counts as claimed, so that it expires. */
function stateOf(lease: KubeLease): "claimed" | Ending["kind"] {
  const state = read(lease, annotation.state);
  return state === "done" || state === "failed" || state === "retry" ? state : "claimed";
}

function read(lease: KubeLease, name: string): string | undefined {
  return lease.metadata.annotations?.[name];
}

function readTime(lease: KubeLease, name: string): number {
  return Date.parse(read(lease, name) ?? "");
}
