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

/** The kinds of rows: GET /api/v1/rows/KIND. */
export const rowKinds = ["incidents", "executions", "approvals", "pauses", "targets", "tasks", "notices"] as const;
