import type { Violation } from "./check.ts";
import type { Fault, HistoryEvent } from "./history.ts";

export interface Figures {
  readonly faults: Readonly<Partial<Record<Fault, number>>>;
  readonly grants: number;
  /** Leases that ended other than by release or close. */
  readonly lost: number;
  readonly effects: number;
  /** Effects that the resource refused because of their fence: where only the fence helped. */
  readonly refused: number;
  readonly overlaps: number;
  readonly violations: number;
  /** From when nothing was broken any more until every worker had got a lock. */
  readonly recoveryMs: number;
}

export function figuresOf(
  history: readonly HistoryEvent[],
  violations: readonly Violation[],
  recoveryMs: number,
): Figures {
  const faults: Partial<Record<Fault, number>> = {};
  for (const event of history) {
    if (event.event === "fault") faults[event.fault] = (faults[event.fault] ?? 0) + 1;
  }
  const count = (wanted: (event: HistoryEvent) => boolean) => history.filter(wanted).length;
  return {
    faults,
    grants: count(({ event }) => event === "granted"),
    lost: count((event) => event.event === "lost" && !event.closed),
    effects: count(({ event }) => event === "effect"),
    refused: count((event) => event.event === "effect" && !event.accepted),
    overlaps: violations.filter(({ rule }) => rule === "exclusion").length,
    violations: violations.length,
    recoveryMs: Math.round(recoveryMs),
  };
}

/** All together; of the times, the longest. */
export function sumOf(all: readonly Figures[]): Figures {
  const sum = { faults: {} as Record<string, number>, grants: 0, lost: 0, effects: 0, refused: 0, overlaps: 0 };
  let violations = 0;
  let recoveryMs = 0;
  for (const figures of all) {
    for (const [fault, count] of Object.entries(figures.faults)) sum.faults[fault] = (sum.faults[fault] ?? 0) + count;
    sum.grants += figures.grants;
    sum.lost += figures.lost;
    sum.effects += figures.effects;
    sum.refused += figures.refused;
    sum.overlaps += figures.overlaps;
    violations += figures.violations;
    recoveryMs = Math.max(recoveryMs, figures.recoveryMs);
  }
  return { ...sum, violations, recoveryMs };
}
