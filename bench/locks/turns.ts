/** One period in which a worker had the lock, on the machine's clock. */
export interface Turn {
  readonly askedAt: number;
  readonly gotAt: number;
  /** Right before `release` was called. */
  readonly leftAt: number;
}

/** Turns as they travel between processes: askedAt, gotAt and leftAt, one after the other. */
export function turnsFrom(numbers: Float64Array): Turn[] {
  const turns: Turn[] = [];
  for (let i = 0; i + 2 < numbers.length; i += 3) {
    const [askedAt = 0, gotAt = 0, leftAt = 0] = numbers.subarray(i, i + 3);
    turns.push({ askedAt, gotAt, leftAt });
  }
  return turns;
}

/** The turns of all processes in the order in which the lock was got. */
export function inOrder(turns: readonly Turn[]): Turn[] {
  return [...turns].sort((a, b) => a.gotAt - b.gotAt);
}

/** How often a worker got the lock before its holder released it. */
export function violations(ordered: readonly Turn[]): number {
  let count = 0;
  let latestLeft = Number.NEGATIVE_INFINITY;
  for (const { gotAt, leftAt } of ordered) {
    if (gotAt < latestLeft) count++;
    latestLeft = Math.max(latestLeft, leftAt);
  }
  return count;
}

/**
 * The share of turns whose taker asked later than a worker that was still waiting. A worker that asked within a millisecond of
 * one another came at the same time: no lock can know which process was first.
 */
export function overtakes(ordered: readonly Turn[]): number {
  const sameTimeMs = 1;
  let count = 0;
  for (const [i, { askedAt }] of ordered.entries()) {
    if (ordered.slice(i + 1).some((later) => later.askedAt + sameTimeMs < askedAt)) count++;
  }
  return count / ordered.length;
}
