/** What each figure of the result line should be. */
const targets: Readonly<Record<string, { readonly atLeast: number } | { readonly atMost: number }>> = {
  create64PerSecond: { atLeast: 6_000 },
  create1PerSecond: { atLeast: 1_500 },
  getPerSecond: { atLeast: 500_000 },
  startSeconds100k: { atMost: 4 },
  rssMb100k: { atMost: 600 },
};

/** One line per figure: its value, its target, and whether it is missed. */
export function verdicts(figures: Readonly<Record<string, number>>): (readonly [string, number, string, string])[] {
  return Object.entries(figures).map(([name, value]) => {
    const target = targets[name];
    if (!target) return [name, value, "", ""];
    if ("atLeast" in target) return [name, value, `≥ ${target.atLeast}`, value >= target.atLeast ? "" : "missed"];
    return [name, value, `≤ ${target.atMost}`, value <= target.atMost ? "" : "missed"];
  });
}
