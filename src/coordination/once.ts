import type { ClaimOptions, Claims, CompleteOutcome, Effect, NewClaim } from "./claims.ts";
import type { Key } from "./key.ts";
import type { Holder } from "./locks.ts";

export interface OnceOptions extends ClaimOptions {
  /** What makes a second run of the work harmless. Without anything, `at-least-once` is the honest answer. */
  readonly effect: Effect;
  /** When work that threw is tried again. Default 1 min. */
  readonly retryAfterMs?: number;
  /** Is this an error that trying again will not change? Then nobody tries again while it is remembered. */
  readonly isPermanent?: (error: unknown) => boolean;
}

/** `ran`: here, now, by this caller or one that it joined; `recorded` says whether others will know. */
export type OnceOutcome =
  | { readonly kind: "ran"; readonly result: string; readonly recorded: CompleteOutcome }
  | { readonly kind: "done"; readonly result: string; readonly atMs: number }
  | { readonly kind: "in-flight"; readonly holder: Holder | undefined; readonly retryAfterMs: number }
  | { readonly kind: "failed"; readonly error: string; readonly atMs: number };

/** An error is kept for people to read, not to be parsed. */
const longestError = 4_096;

type Work = (claim: NewClaim) => Promise<string | undefined>;

/**
 * Runs `work` unless it was done before or is under way elsewhere. Callers of one key in this process join one run.
 * What `work` returns is remembered as the result; what it throws gives the claim back and is thrown on.
 */
export function once(claims: Claims, key: Key, options: OnceOptions, work: Work): Promise<OnceOutcome> {
  // `|` is in no key. Another payload must not join: it is refused by the claim.
  return claims.share(`${key}|${options.payloadHash ?? ""}`, () => claimAndRun(claims, key, options, work));
}

async function claimAndRun(claims: Claims, key: Key, options: OnceOptions, work: Work): Promise<OnceOutcome> {
  const claim = await claims.claim(key, options);
  if (claim.state !== "new") {
    const { state: kind, ...facts } = claim;
    return { kind, ...facts } as OnceOutcome;
  }

  // Whatever goes wrong below, a claim that nobody settles must not be kept alive by its renewal.
  await using held = claim;
  let result: string;
  try {
    // A crash here lets the lease of the claim lapse, and the work is tried again.
    result = (await work(held)) ?? "";
  } catch (error) {
    // What the work threw is what the caller must see; a store that refuses the failure says so through its events.
    await held.fail(failureOf(error, options)).catch(() => undefined);
    throw error;
  }
  return { kind: "ran", result, recorded: await held.complete(result) };
}

function failureOf(error: unknown, { retryAfterMs = 60_000, isPermanent }: OnceOptions) {
  return isPermanent?.(error) ? { permanent: String(error).slice(0, longestError) } : { retryAfterMs };
}
