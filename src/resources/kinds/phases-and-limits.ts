import type { Transitions } from "../schema/rules.ts";

/** An incident in one of these is closed: the next signal opens a new one. */
export const closedIncidentPhases = ["Completed", "Failed", "Withdrawn"] as const;

/** A task in one of these is closed: no attempt follows. */
export const closedTaskPhases = ["Completed", "Failed", "Superseded", "Cancelled"] as const;

/** A new execution has no phase; the controller makes it Pending. The API server refuses every other step. */
export const executionTransitions = {
  Pending: ["Running", "Failed", "Skipped"],
  Running: ["Completed", "Failed"],
  Completed: [],
  Failed: [],
  Skipped: [],
} as const satisfies Transitions;

/** How many ends of executions a record keeps per workflow. */
export const keptEnds = 20;

/** More than any workflow has steps. */
export const maxImageDigests = 50;
