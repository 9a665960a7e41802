import { join } from "node:path";
import type { LoadedConfig } from "../config/index.ts";
import { type Ledger, ledgerWriter, observeLedger, openFileLedger } from "../ledger/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";

export interface LedgerOptions {
  readonly loaded: Pick<LoadedConfig, "config">;
  /** The process' own: it holds the name under which it writes. */
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Opens this process' part of the ledger, as configured. */
export async function openLedger({ loaded, directory, clock, random, log, metrics }: LedgerOptions): Promise<Ledger> {
  return openFileLedger({
    directory: loaded.config.ledger.dir ?? join(directory, "ledger"),
    writer: await ledgerWriter(join(directory, "ledger-writer"), random),
    clock,
    log,
    observer: observeLedger(metrics),
  });
}
