/** The faults of every process and every message. */
export const faultsOfAll = ["clock skew and drift", "delayed message", "request lost", "reply lost", "pause", "crash"];

/** What an API server adds to that. */
export const faultsOfServers = [
  "request duplicated",
  "watches dropped",
  "history compacted",
  "store silent",
  "store restart, data kept",
];
