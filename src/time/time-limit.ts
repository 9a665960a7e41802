import type { Clock } from "./clock.ts";

/** A signal that aborts after `limitMs`, and as soon as `signal` does. Disposal cancels its timer. */
export function timeLimit(
  clock: Clock,
  limitMs: number,
  signal?: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const exceeded = new AbortController();
  const timer = clock.after(limitMs, () => exceeded.abort());
  return {
    signal: signal ? AbortSignal.any([signal, exceeded.signal]) : exceeded.signal,
    [Symbol.dispose]: () => timer.cancel(),
  };
}
