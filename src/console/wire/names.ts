export const roles = ["viewer", "operator", "admin"] as const;

/** The lanes of the page Now, in the order in which it shows them. */
export const lanes = [
  "needsYou",
  "running",
  "queued",
  "coolingDown",
  "backingOff",
  "paused",
  "waiting",
  "done",
] as const;

/** The names of the lanes, as the console and `interlock status` show them. */
export const laneTitles: Readonly<Record<(typeof lanes)[number], string>> = {
  needsYou: "Needs you",
  running: "Running",
  queued: "Queued",
  coolingDown: "Cooling down",
  backingOff: "Backing off",
  paused: "Paused",
  waiting: "Waiting",
  done: "Recently done",
};

/** The kinds of rows: GET /api/v1/rows/KIND. */
export const rowKinds = ["incidents", "executions", "approvals", "pauses", "targets", "tasks", "notices"] as const;
