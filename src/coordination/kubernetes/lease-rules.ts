import { type KubeLease, microTime } from "../../kube/index.ts";
import { drift } from "../lease-renewer.ts";
import type { Bid } from "../locks/lock-store.ts";
import type { Holder } from "../locks/locks.ts";

export const marginMs = 10;
/** How long a waiter has to confirm a lock that was passed to it. */
const confirmSeconds = 5;
/** When the first waiter does not take over an abandoned lock, the next one tries after this time. */
const stepAsideMs = 500;
const maxWaiters = 32;

/** The annotations that locks and claims have in common. */
export const leaseAnnotation = { key: "kubernaut.ai/key", who: "kubernaut.ai/holder" } as const;

const annotation = {
  ...leaseAnnotation,
  waiters: "kubernaut.ai/waiters",
  purpose: "kubernaut.ai/purpose",
} as const;

export const lockLabels = { "app.kubernetes.io/managed-by": "interlock", "kubernaut.ai/kind": "lock" };

/** Selects the Leases of locks. */
export const lockSelector = Object.entries(lockLabels)
  .map((pair) => pair.join("="))
  .join();

/** A Lease and since when, on our clock, its holder has shown no sign of life. */
export interface Observed {
  readonly lease: KubeLease;
  readonly since: number;
}

/** One acquisition of the lock. */
export interface Claimant extends Pick<Bid, "key" | "holder" | "purpose" | "ttlMs" | "wait"> {
  /** stage/pod/pid of the process, for display. */
  readonly who: string;
}

export type Move =
  | { readonly do: "create" | "take" | "confirm" | "join" }
  | { readonly do: "wait"; readonly until: number }
  | { readonly do: "give-up"; readonly because: "busy" | "collision" };

/** The next step for `me`, given the observed Lease. Pure; the write that follows decides. */
export function nextMove(observed: Observed | undefined, me: Claimant, now: number): Move {
  if (!observed) return { do: "create" };
  const { lease, since } = observed;
  if (leaseKey(lease) !== me.key) return { do: "give-up", because: "collision" };

  const holder = holderOf(lease);
  if (holder === me.holder) return { do: "confirm" };

  const waiters = waitersOf(lease);
  const place = waiters.indexOf(me.holder);
  const ahead = place === -1 ? waiters.length : place;
  const takeAt = (holder === "" ? since : expiry(observed)) + ahead * stepAsideMs;
  if ((holder === "" && ahead === 0) || now >= takeAt) return { do: "take" };
  if (!me.wait) return { do: "give-up", because: "busy" };
  if (place === -1 && waiters.length < maxWaiters) return { do: "join" };
  return { do: "wait", until: takeAt };
}

/**
 * When an abandoned lease may be taken over: its whole duration after *we* last saw it change. The times written in it
 * come from another clock and are not used.
 */
export function expiry({ lease, since }: Observed): number {
  return since + periodOf(lease) * (1 + drift) + marginMs;
}

/** Whether the Lease is unused, given that it has not changed since it was first seen at `since`. */
export function isIdle(unchanged: Observed, now: number, idleMs: number): boolean {
  const freeAt = holderOf(unchanged.lease) === "" ? unchanged.since : expiry(unchanged);
  return now >= Math.max(freeAt, unchanged.since + idleMs);
}

/** Whether both show the same sign of life. Waiters that come and go change the object, not its holder. */
export function sameHolding(a: KubeLease, b: KubeLease): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    a.spec?.holderIdentity === b.spec?.holderIdentity &&
    a.spec?.renewTime === b.spec?.renewTime &&
    a.spec?.leaseTransitions === b.spec?.leaseTransitions
  );
}

/** The key in plain text. */
export function leaseKey({ metadata }: KubeLease): string | undefined {
  return metadata.annotations?.[annotation.key];
}

export function holderOf(lease: KubeLease): string {
  return lease.spec?.holderIdentity ?? "";
}

export function isWaiting(lease: KubeLease, holder: string): boolean {
  return waitersOf(lease).includes(holder);
}

/** The holder, for display. */
export function describeHolder(lease: KubeLease): Holder | undefined {
  const id = holderOf(lease);
  if (id === "") return undefined;
  const acquired = Date.parse(lease.spec?.acquireTime ?? "");
  return {
    id,
    who: lease.metadata.annotations?.[annotation.who] ?? "unknown",
    sinceMs: Number.isNaN(acquired) ? undefined : acquired,
    purpose: lease.metadata.annotations?.[annotation.purpose],
  };
}

/** The duration in force. A damaged Lease gets the default, so that it does not block others forever. */
export function periodOf(lease: KubeLease): number {
  return (lease.spec?.leaseDurationSeconds ?? 30) * 1_000;
}

/** A first Lease for the key, held by `me`. */
export function newLease(name: string, namespace: string, me: Claimant, wallMs: number): KubeLease {
  const empty: KubeLease = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace, labels: lockLabels },
  };
  return takeLease(empty, me, wallMs);
}

/** `lease`, held by `me` for a whole period. Waiters that were ahead and did not take it are dropped. */
export function takeLease(lease: KubeLease, me: Claimant, wallMs: number): KubeLease {
  const waiters = waitersOf(lease);
  const place = waiters.indexOf(me.holder);
  return {
    ...lease,
    metadata: {
      ...lease.metadata,
      annotations: annotations(lease, place === -1 ? waiters : waiters.slice(place + 1), me),
    },
    spec: heldSpec(lease, { holder: me.holder, periodMs: me.ttlMs, isRenewal: holderOf(lease) === me.holder, wallMs }),
  };
}

interface Holding {
  readonly holder: string;
  readonly periodMs: number;
  /** False: the holder is another than before. */
  readonly isRenewal: boolean;
  readonly wallMs: number;
}

/** The spec of a Lease that is held for a whole period from now. */
export function heldSpec(lease: KubeLease, { holder, periodMs, isRenewal, wallMs }: Holding) {
  const time = nextTime(lease, wallMs);
  return {
    holderIdentity: holder,
    // Whole seconds; rounding up makes others wait longer, never us hold longer.
    leaseDurationSeconds: Math.max(1, Math.ceil(periodMs / 1_000)),
    acquireTime: isRenewal ? (lease.spec?.acquireTime ?? time) : time,
    renewTime: time,
    leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + (isRenewal ? 0 : 1),
  };
}

/** `lease` passed to the first waiter, who has a short time to confirm, or free if there is no waiter. */
export function handOverLease(lease: KubeLease, wallMs: number): KubeLease {
  const [next = "", ...rest] = waitersOf(lease);
  const time = nextTime(lease, wallMs);
  return {
    ...lease,
    metadata: { ...lease.metadata, annotations: annotations(lease, rest) },
    spec: {
      holderIdentity: next,
      leaseDurationSeconds: next ? confirmSeconds : 1,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + (next ? 1 : 0),
    },
  };
}

/** `lease` with `holder` at the end of the line. */
export function addWaiter(lease: KubeLease, holder: string): KubeLease {
  return withWaiters(lease, [...waitersOf(lease), holder]);
}

/** `lease` without `holder` in line. */
export function removeWaiter(lease: KubeLease, holder: string): KubeLease {
  return withWaiters(
    lease,
    waitersOf(lease).filter((waiter) => waiter !== holder),
  );
}

function withWaiters(lease: KubeLease, waiters: readonly string[]): KubeLease {
  const kept = { ...lease.metadata.annotations, [annotation.waiters]: waiters.join(",") };
  return { ...lease, metadata: { ...lease.metadata, annotations: kept } };
}

export function waitersOf(lease: KubeLease): string[] {
  const text = lease.metadata.annotations?.[annotation.waiters] ?? "";
  return text === "" ? [] : text.split(",");
}

/** The holder is written down for display; nothing of the last holder may remain. */
function annotations(lease: KubeLease, waiters: readonly string[], me?: Claimant): Record<string, string> {
  const { [annotation.who]: _who, [annotation.purpose]: _purpose, ...kept } = lease.metadata.annotations ?? {};
  return {
    ...kept,
    [annotation.waiters]: waiters.join(","),
    ...(me && { [annotation.key]: me.key, [annotation.who]: me.who }),
    ...(me?.purpose && { [annotation.purpose]: me.purpose }),
  };
}

/** A time that differs from the last one written, even on a clock that was set back: a renewal must be seen as one. */
export function nextTime(lease: KubeLease, wallMs: number): string {
  const last = Date.parse(lease.spec?.renewTime ?? "");
  return microTime(Number.isNaN(last) || wallMs > last ? wallMs : last + 1);
}
