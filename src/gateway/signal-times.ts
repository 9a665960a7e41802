import type { Signal } from "../resources/index.ts";

/**
 * A signal whose times do not lie in the future: a beginning in the future counts as now, and an end in the future is
 * dropped, so that it counts as now, too. Otherwise one payload that ends in the year 9999 would suppress every later
 * firing of its series, and one that begins then could never be ended. Times compare as text.
 */
export function withinReceipt(signal: Signal, receivedAt: string): Signal {
  const isPast = signal.endedAt === undefined || signal.endedAt <= receivedAt;
  if (signal.firingAt <= receivedAt && isPast) return signal;
  const { endedAt: _, ...rest } = signal;
  const firingAt = signal.firingAt <= receivedAt ? signal.firingAt : receivedAt;
  return isPast ? { ...signal, firingAt } : { ...rest, firingAt };
}

/**
 * For fingerprints without the source: signals of two sources may then be one incident, and their series must not be
 * mistaken for each other. A series can only be ended by the source that reported it.
 */
export function withSourceInSeries(signal: Signal): Signal {
  return { ...signal, series: `${signal.source}\n${signal.series}` };
}
