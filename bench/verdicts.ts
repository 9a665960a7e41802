/** Bounds for figures of a result line, by name. */
export type Targets = Readonly<Record<string, { readonly atLeast: number } | { readonly atMost: number }>>;

/** One line per figure: its value, its target, and whether it is missed. */
export function verdicts(
  figures: Readonly<Record<string, number>>,
  targets: Targets,
): (readonly [string, number, string, string])[] {
  return Object.entries(figures).map(([name, value]) => {
    const target = targets[name];
    if (!target) return [name, value, "", ""];
    if ("atLeast" in target) return [name, value, `≥ ${target.atLeast}`, value >= target.atLeast ? "" : "missed"];
    return [name, value, `≤ ${target.atMost}`, value <= target.atMost ? "" : "missed"];
  });
}
