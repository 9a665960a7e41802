import { setNewest } from "../kube/index.ts";

export interface IgnoredSignalsOptions {
  /** Repeats within this time get no row of their own. */
  readonly windowMs: number;
  /** Rows of one sender in one window. One more row represents all further signals. */
  readonly maxRowsPerSender: number;
  /** Senders and rows in memory. Above the limit the oldest is removed, and gets a new row when it repeats. */
  readonly maxEntries: number;
}

/** Signals without effect that agree in these fields share a row. */
export interface IgnoredSignal {
  readonly source: string;
  readonly sender: string | undefined;
  /** Absent for a part of a payload that is no signal. */
  readonly fingerprint?: string;
  readonly because: string;
}

/** `collapsed`: the number of signals since the last row that got no row, without this one. */
export type RowDecision =
  | { readonly do: "record"; readonly collapsed: number }
  | { readonly do: "record-overflow" }
  | { readonly do: "count" };

interface IgnoredCount {
  recordedAtMs: number;
  collapsed: number;
}

interface SenderRows {
  windowStartMs: number;
  rows: number;
}

/**
 * Decides which signals without effect get a ledger row, so that a flood of them does not flood the ledger: the first of
 * each sender, reason and fingerprint in a window, up to a limit per sender.
 */
export class IgnoredSignals {
  readonly #options: IgnoredSignalsOptions;
  readonly #entries = new Map<string, IgnoredCount>();
  readonly #senders = new Map<string, SenderRows>();

  constructor(options: IgnoredSignalsOptions) {
    this.#options = options;
  }

  decide(signal: IgnoredSignal, nowMs: number): RowDecision {
    const { windowMs, maxRowsPerSender, maxEntries } = this.#options;
    const key = signalKey(signal);
    const entry = this.#entries.get(key);
    if (entry && nowMs - entry.recordedAtMs < windowMs) {
      entry.collapsed++;
      return { do: "count" };
    }
    const sender = this.#ensureRows(`${signal.source}/${signal.sender ?? ""}`, nowMs);
    if (sender.rows > maxRowsPerSender) return { do: "count" };
    sender.rows++;
    if (sender.rows > maxRowsPerSender) return { do: "record-overflow" };
    setNewest(this.#entries, [key, { recordedAtMs: nowMs, collapsed: 0 }], maxEntries);
    return { do: "record", collapsed: entry?.collapsed ?? 0 };
  }

  /** Call when the row was not stored, so that the next such signal is recorded. */
  forget(signal: IgnoredSignal): void {
    this.#entries.delete(signalKey(signal));
  }

  #ensureRows(sender: string, nowMs: number): SenderRows {
    const known = this.#senders.get(sender);
    if (known && nowMs - known.windowStartMs < this.#options.windowMs) return known;
    const rows = { windowStartMs: nowMs, rows: 0 };
    setNewest(this.#senders, [sender, rows], this.#options.maxEntries);
    return rows;
  }
}

/** Times are removed from the reason, because they differ from signal to signal. */
function signalKey({ source, sender = "", fingerprint = "", because }: IgnoredSignal): string {
  const reason = because.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, "TIME");
  return JSON.stringify([source, sender, fingerprint, reason]);
}
