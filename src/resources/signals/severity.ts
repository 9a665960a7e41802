/**
 * How severe the usual words are, the larger the worse. Senders choose their own words; a word that is not in this table
 * ranks with `warning`.
 */
const ranks: ReadonlyMap<string, number> = new Map(
  [
    ["none", "ok", "normal", "resolved", "debug"],
    ["info", "information", "informational", "notice", "low", "p5", "sev5"],
    ["warning", "warn", "minor", "medium", "average", "p4", "p3", "sev4", "sev3"],
    ["error", "high", "major", "p2", "sev2"],
    ["critical", "crit", "fatal", "page", "alert", "disaster", "p1", "sev1"],
    ["emergency", "p0", "sev0"],
  ].flatMap((words, rank) => words.map((word) => [word, rank] as const)),
);

const usual = 2;

/** For comparing: a larger number is more severe. */
export function severityRank(severity: string): number {
  return ranks.get(severity.toLowerCase()) ?? usual;
}
