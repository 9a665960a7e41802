import type { Key } from "../key.ts";
import type { Holder } from "../locks/locks.ts";
import type { ClaimOptions, Claims, CompleteOutcome, Effect, NewClaim } from "./claims.ts";

export interface OnceOptions extends ClaimOptions {
  /** The reason why a second run of the work is harmless; `at-least-once` if there is none. */
  readonly effect: Effect;
  /** The delay before work that threw is retried. Default 1 min. */
  readonly retryAfterMs?: number;
  /** Whether a retry cannot change this error. The work is then not retried while the claim is stored. */
  readonly isPermanent?: (error: unknown) => boolean;
}

/** `ran`: the work ran now, for this caller or one that shares its run; `recorded`: whether its result was stored for later callers. */
export type OnceOutcome =
  | { readonly kind: "ran"; readonly result: string; readonly recorded: CompleteOutcome }
  | { readonly kind: "done"; readonly result: string; readonly atMs: number }
  | { readonly kind: "in-flight"; readonly holder: Holder | undefined; readonly retryAfterMs: number }
  | { readonly kind: "failed"; readonly error: string; readonly atMs: number };

/** A stored error is for display, not for parsing. */
const maxErrorLength = 4_096;

type Work = (claim: NewClaim) => Promise<string | undefined>;

/**
 * Runs `work` unless it was done before or is running in another process. Callers of one key in this process share one run.
 * The result of `work` is stored; an error of `work` releases the claim and is rethrown.
 */
export function once(claims: Claims, key: Key, options: OnceOptions, work: Work): Promise<OnceOutcome> {
  // `|` occurs in no key. A caller with another payload must not share the run: its claim is rejected.
  return claims.share(`${key}|${options.payloadHash ?? ""}`, () => claimAndRun(claims, key, options, work));
}

async function claimAndRun(claims: Claims, key: Key, options: OnceOptions, work: Work): Promise<OnceOutcome> {
  const claim = await claims.claim(key, options);
  if (claim.state !== "new") {
    const { state: kind, ...facts } = claim;
    return { kind, ...facts } as OnceOutcome;
  }

  // If anything fails below, the claim must not be renewed forever.
  await using held = claim;
  let result: string;
  try {
    // After a crash here the lease of the claim expires, and the work is retried.
    result = (await work(held)) ?? "";
  } catch (error) {
    // The caller must get the error of the work; a failed settlement is reported by the events.
    await held.fail(toFailure(error, options)).catch(() => undefined);
    throw error;
  }
  return { kind: "ran", result, recorded: await held.complete(result) };
}

function toFailure(error: unknown, { retryAfterMs = 60_000, isPermanent }: OnceOptions) {
  return isPermanent?.(error) ? { permanent: String(error).slice(0, maxErrorLength) } : { retryAfterMs };
}
