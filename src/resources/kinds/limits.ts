/** How many ends of executions a record keeps per workflow. */
export const keptEnds = 20;

/** More than any workflow has steps. */
export const maxImageDigests = 50;
