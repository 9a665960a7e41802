import type { IncidentRow, Lane } from "../../src/console/wire.ts";
import type { Tone } from "./tones.ts";

interface LaneText {
  readonly tone: Tone;
  /** What it means that an incident is here. */
  readonly meaning: string;
  /** Before the time that is left until something happens by itself. */
  readonly countdown?: string;
}

export const laneTexts: Readonly<Record<Lane, LaneText>> = {
  needsYou: { tone: "bad", meaning: "A person has to decide or repair something" },
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
  paused: { tone: "wait", meaning: "A person has paused automation here", countdown: "ends in" },
  waiting: {
    tone: "neutral",
    meaning: "Waits for a rule, the end of its cause, or its first decision",
  },
  done: { tone: "good", meaning: "Closed a short time ago" },
};

/**
 * The order of a lane: a queue by position, a wait by its end, what is done by when it ended, and all else newest first. What
 * acts comes before what is verified.
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

/** The rows with those of one signal, target, workflow and state together, at the place of the first. */
export function groupRows(rows: readonly IncidentRow[]): readonly IncidentGroup[] {
  const groups = new Map<string, { readonly row: IncidentRow; count: number }>();
  for (const row of rows) {
    const { signal, target, workflow, phase, reason, outcome } = row;
    // Without a target nothing tells whether they have the same cause.
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
