import { backoffMs } from "../../time/index.ts";
import type { HttpResponse } from "./read-response.ts";
import type { NoResponse } from "./send-request.ts";

export interface RequestAttempt {
  readonly outcome: HttpResponse | NoResponse;
  /** A write is repeated only when the server certainly did nothing. */
  readonly isWrite: boolean;
  /** 1 is the first attempt. */
  readonly attempt: number;
  readonly remainingMs: number;
  readonly wallMs: number;
  /** In [0, 1). */
  readonly chance: number;
}

const maxAttempts = 4;
const backoff = { baseMs: 100, maxMs: 2_000, jitter: 0.5 };
/** Many clients receive the same Retry-After: up to this fraction is added, so that they do not return together. */
const spread = 0.25;

/** Returns the delay before the next attempt; undefined if the outcome is final. */
export function retryInMs(request: RequestAttempt): number | undefined {
  const { attempt, chance, remainingMs } = request;
  if (attempt >= maxAttempts || !mayRepeat(request)) return undefined;

  const askedMs = retryAfterMs(request);
  const delayMs = askedMs === undefined ? backoffMs(attempt, backoff, chance) : askedMs * (1 + spread * chance);
  return delayMs < remainingMs ? delayMs : undefined;
}

function mayRepeat({ outcome, isWrite }: RequestAttempt): boolean {
  if (outcome.kind === "no-response") return outcome.isTransient && !(isWrite && outcome.mayHaveArrived);
  const { status, headers } = outcome;
  if (status === 429) return true;
  if (isWrite) return status === 503 && headers["retry-after"] !== undefined;
  return status >= 502 && status <= 504;
}

/** Seconds or a date. */
function retryAfterMs({ outcome, wallMs }: RequestAttempt): number | undefined {
  const value = outcome.kind === "response" ? outcome.headers["retry-after"] : undefined;
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - wallMs);
}
