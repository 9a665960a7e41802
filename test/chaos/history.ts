import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * What happened, as each process saw it. `at` is CLOCK_MONOTONIC in ms: one clock for all processes of a machine, so
 * that their histories can be merged and compared.
 */
export type HistoryEvent = { readonly at: number } & (
  | LeaseEvent
  | { readonly event: "refused"; readonly worker: string; readonly key: string; readonly code: string }
  /** The event loop of the worker did not run from `from` to `at`: it was stopped, or had no processor. */
  | { readonly event: "stalled"; readonly worker: string; readonly from: number }
  | Effect
  | FaultEvent
  | { readonly event: "healed"; readonly fault: Fault; readonly worker?: string }
);

/** Something was broken on purpose: for a moment, or until it is `healed`. */
export interface FaultEvent {
  readonly event: "fault";
  readonly fault: Fault;
  /** Undefined: for all. */
  readonly worker?: string;
  readonly key?: string;
  /** The server may have forgotten leases that last so long. */
  readonly forgotMs?: number;
}

/** What a holder knows of its lease. `lease` names the lease, not the process. */
export type LeaseEvent = { readonly worker: string; readonly lease: string; readonly key: string } & (
  | { readonly event: "granted"; readonly fence: string; readonly ttlMs: number; readonly endsAt: number }
  /** By the lease's own `remainingMs()` it now ends at `endsAt`. */
  | { readonly event: "extended"; readonly endsAt: number }
  /** The lease's signal aborted: `closed` by the process itself, or lost. */
  | { readonly event: "lost"; readonly closed: boolean; readonly why: string }
  /** `release` is about to be called. */
  | { readonly event: "releasing" }
  | { readonly event: "released"; readonly outcome: "released" | "lost" | "unknown" }
);

/** Something a holder did to the resource. Written by the resource in the order of arrival. */
export interface Effect {
  readonly event: "effect";
  readonly worker: string;
  readonly lease: string;
  readonly key: string;
  readonly fence: string;
  readonly accepted: boolean;
}

export type Fault =
  | "holder killed"
  | "waiter killed"
  | "holder stopped"
  | "waiter stopped"
  | "black hole"
  | "connection cut"
  | "slow replies"
  | "slow network"
  | "one-byte chunks"
  | "server restarted"
  | "server stopped"
  | "lock deleted"
  | "scripts flushed";

/** Milliseconds of CLOCK_MONOTONIC. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** One process' history as a file of JSON lines. Written at once, so that SIGKILL takes nothing away. */
export class Journal {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "a");
  }

  write(event: HistoryEvent): void {
    writeSync(this.#file, `${JSON.stringify(event)}\n`);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** The histories of all processes as one, in the order of time. */
export function mergedHistory(paths: readonly string[]): HistoryEvent[] {
  const events = paths.flatMap((path) => readFileSync(path, "utf8").split("\n").filter(Boolean).map(parsed));
  return events.sort((a, b) => a.at - b.at);
}

function parsed(line: string): HistoryEvent {
  return JSON.parse(line) as HistoryEvent;
}
