import type { IncidentRow, Lane } from "../../src/console/wire.ts";
import type { Tone } from "./tones.ts";

interface LaneText {
  readonly tone: Tone;
  /** Why an incident is in this lane. */
  readonly meaning: string;
  /** The text before the remaining time of a wait that ends by itself. */
  readonly countdown?: string;
}

export const laneTexts: Readonly<Record<Lane, LaneText>> = {
  needsYou: { tone: "bad", meaning: "An operator has to decide or repair something" },
  running: { tone: "active", meaning: "A workflow acts on the target, or its effect is verified" },
  queued: { tone: "wait", meaning: "Another execution holds the target" },
  coolingDown: {
    tone: "wait",
    meaning: "The target was remediated a short time ago",
    countdown: "ends in",
  },
  backingOff: {
    tone: "wait",
    meaning: "Attempts failed before they acted; the next one waits",
    countdown: "next in",
  },
  paused: { tone: "wait", meaning: "An operator has paused automation here", countdown: "ends in" },
  waiting: {
    tone: "neutral",
    meaning: "Waiting for a rule, for the end of its cause, or for the first decision",
  },
  done: { tone: "good", meaning: "Closed a short time ago" },
};

/**
 * The order of a lane: running incidents with a workflow that acts first, a queue by position, waits by their end, closed
 * incidents by the time of their end, and all others newest first.
 */
export function sortLane(lane: Lane, rows: readonly IncidentRow[]): readonly IncidentRow[] {
  if (lane === "running") return rows.toSorted(compareActing);
  if (lane === "queued") return rows.toSorted((a, b) => (a.position ?? Infinity) - (b.position ?? Infinity));
  if (lane === "coolingDown" || lane === "backingOff") return rows.toSorted((a, b) => compareText(a.until, b.until));
  if (lane === "done") return rows.toSorted((a, b) => compareText(b.closedAt, a.closedAt));
  return rows;
}

/** An incident whose workflow acts comes first. */
export function compareActing(a: IncidentRow, b: IncidentRow): number {
  return Number(b.phase === "Executing") - Number(a.phase === "Executing");
}

/** Incidents that a page shows as one line. */
export interface IncidentGroup {
  readonly row: IncidentRow;
  readonly count: number;
}

/** The rows in groups of the same signal, target, workflow and state, each at the position of its first row. */
export function groupRows(rows: readonly IncidentRow[]): readonly IncidentGroup[] {
  const groups = new Map<string, { readonly row: IncidentRow; count: number }>();
  for (const row of rows) {
    const { signal, target, workflow, phase, reason, outcome } = row;
    // Incidents without a target may have different causes.
    const id = target === undefined ? row.key : JSON.stringify([signal, target, workflow, phase, reason, outcome]);
    const group = groups.get(id);
    if (group) group.count += 1;
    else groups.set(id, { row, count: 1 });
  }
  return [...groups.values()];
}

/** Times of the same format sort as text; a row without one comes last. */
function compareText(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1;
  return a < b ? -1 : 1;
}
