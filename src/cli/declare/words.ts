/** The words for our kinds, as `interlock get` takes them. */
export const kindWords = [
  "incidents",
  "executions",
  "targets",
  "workflows",
  "pauses",
  "approvals",
  "notices",
  "tasks",
] as const;

/** Where `interlock ledger` reads rows from. */
export const ledgerSources = ["database", "journal"] as const;
