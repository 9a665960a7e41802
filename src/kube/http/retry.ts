import { backoffMs } from "../../time/index.ts";
import type { Unanswered } from "./exchange.ts";
import type { HttpResponse } from "./read-answer.ts";

export interface RequestAttempt {
  readonly outcome: HttpResponse | Unanswered;
  /** A write is repeated only when the server certainly did nothing. */
  readonly isWrite: boolean;
  /** 1 is the first try. */
  readonly attempt: number;
  readonly remainingMs: number;
  readonly wallMs: number;
  /** In [0, 1). */
  readonly chance: number;
}

const maxAttempts = 4;
const backoff = { baseMs: 100, maxMs: 2_000, jitter: 0.5 };
/** Many clients receive the same Retry-After; up to this share more keeps them from returning together. */
const spread = 0.25;

/** How long to wait before trying again; undefined: the outcome stands. */
export function retryInMs(tried: RequestAttempt): number | undefined {
  const { attempt, chance, remainingMs } = tried;
  if (attempt >= maxAttempts || !mayRepeat(tried)) return undefined;

  const askedMs = retryAfterMs(tried);
  const delayMs = askedMs === undefined ? backoffMs(attempt, backoff, chance) : askedMs * (1 + spread * chance);
  return delayMs < remainingMs ? delayMs : undefined;
}

function mayRepeat({ outcome, isWrite }: RequestAttempt): boolean {
  if (outcome.kind === "unanswered") return outcome.passing && !(isWrite && outcome.mayHaveArrived);
  const { status, headers } = outcome;
  if (status === 429) return true;
  if (isWrite) return status === 503 && headers["retry-after"] !== undefined;
  return status >= 502 && status <= 504;
}

/** Seconds or a date. */
function retryAfterMs({ outcome, wallMs }: RequestAttempt): number | undefined {
  const value = outcome.kind === "answered" ? outcome.headers["retry-after"] : undefined;
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - wallMs);
}
