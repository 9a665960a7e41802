export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
  /** Share of the delay that chance may add or take away: 0.1 is ±10 %. */
  readonly jitter: number;
}

/** The delay before try `attempt` (1 is the first retry): base × 2^(attempt−1), capped, then jittered by `chance` in [0, 1). */
export function backoffMs(attempt: number, { baseMs, maxMs, jitter }: Backoff, chance: number): number {
  const delay = Math.min(maxMs, baseMs * 2 ** Math.max(0, attempt - 1));
  return delay * (1 + jitter * (2 * chance - 1));
}
