import type { Fault, FaultEvent, HistoryEvent } from "./history.ts";

/** One lease, from the grant to whatever ended it, as its holder saw it. */
export interface Tenancy {
  readonly lease: string;
  readonly worker: string;
  readonly key: string;
  readonly fence: bigint;
  readonly ttlMs: number;
  readonly grantedAt: number;
  /** When the lease would end, as it reported right after the grant. */
  readonly endedFirstAt: number;
  /** The same as it reported last. */
  endsAt: number;
  /** Its signal aborted. */
  lostAt: number | undefined;
  /** Its holder called `release`, or `close`, which releases everything. */
  releasingAt: number | undefined;
  outcome: { readonly at: number; readonly reported: "released" | "lost" | "unknown" } | undefined;
}

/** A time during which something was broken on purpose, for a worker or for all. */
export interface Trouble {
  readonly fault: Fault;
  readonly worker: string | undefined;
  readonly key: string | undefined;
  /** The server may have forgotten leases that last so long. */
  readonly forgotMs: number;
  readonly from: number;
  to: number;
}

export interface Stall {
  readonly worker: string;
  readonly from: number;
  to: number;
}

/** A history, arranged for the rules of `check.ts`. */
export interface Tenancies {
  /** In the order of their grants. */
  readonly byKey: ReadonlyMap<string, readonly Tenancy[]>;
  readonly troubles: readonly Trouble[];
  readonly stalls: readonly Stall[];
  /** When a worker that was killed last sent an event. */
  readonly killed: ReadonlyMap<string, number>;
}

export function tenanciesIn(history: readonly HistoryEvent[]): Tenancies {
  const byKey = new Map<string, Tenancy[]>();
  const byLease = new Map<string, Tenancy>();
  const troubles: Trouble[] = [];
  const stalls: Stall[] = [];
  const lastSeen = new Map<string, number>();
  for (const event of history) {
    // Not what the resource or the driver reports about a worker: that comes later than it happened.
    if ("worker" in event && event.worker && event.event !== "fault" && event.event !== "healed") {
      if (event.event !== "effect") lastSeen.set(event.worker, event.at);
    }
    switch (event.event) {
      case "granted": {
        const tenancy = tenancyOf(event);
        byLease.set(event.lease, tenancy);
        byKey.set(event.key, byKey.get(event.key) ?? []);
        byKey.get(event.key)?.push(tenancy);
        break;
      }
      case "extended":
      case "lost":
      case "releasing":
      case "released":
        note(event, byLease.get(event.lease));
        break;
      case "stalled":
        stall(stalls, event);
        break;
      case "fault":
        troubles.push(troubleOf(event));
        break;
      case "healed":
        heal(troubles, event);
        break;
      case "refused":
      case "effect":
        break;
    }
  }
  const killed = new Map(
    troubles
      .filter(({ fault }) => fault.endsWith("killed"))
      .map(({ worker = "" }) => [worker, lastSeen.get(worker) ?? 0]),
  );
  return { byKey, troubles, stalls, killed };
}

function tenancyOf(event: HistoryEvent & { event: "granted" }): Tenancy {
  const { lease, worker, key, fence, ttlMs, at, endsAt } = event;
  const open = { lostAt: undefined, releasingAt: undefined, outcome: undefined };
  return { lease, worker, key, fence: BigInt(fence), ttlMs, grantedAt: at, endedFirstAt: endsAt, endsAt, ...open };
}

/** A process that was stopped long, then briefly, came to nothing in between. */
function stall(stalls: Stall[], { worker, from, at }: HistoryEvent & { event: "stalled" }) {
  const last = stalls.findLast((other) => other.worker === worker);
  if (last?.to === from) last.to = at;
  else stalls.push({ worker, from, to: at });
}

function troubleOf({ fault, worker, key, forgotMs = 0, at }: FaultEvent & { at: number }): Trouble {
  return { fault, worker, key, forgotMs, from: at, to: at };
}

type Later = HistoryEvent & { event: "extended" | "lost" | "releasing" | "released" };

function note(event: Later, tenancy: Tenancy | undefined) {
  if (!tenancy) throw new Error(`the history of ${event.lease} does not begin with its grant`);
  switch (event.event) {
    case "extended":
      tenancy.endsAt = event.endsAt;
      break;
    case "lost":
      tenancy.lostAt = event.at;
      if (event.closed) tenancy.releasingAt ??= event.at;
      break;
    case "releasing":
      tenancy.releasingAt ??= event.at;
      break;
    case "released":
      tenancy.outcome = { at: event.at, reported: event.outcome };
      break;
  }
}

function heal(troubles: readonly Trouble[], event: HistoryEvent & { event: "healed" }) {
  const trouble = troubles.findLast(({ fault, worker }) => fault === event.fault && worker === event.worker);
  if (trouble) trouble.to = event.at;
}
