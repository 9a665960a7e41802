import { sleep } from "../../time/index.ts";
import type { LedgerDatabase } from "../database/ledger-database.ts";
import type { FileLedger } from "../file/file-ledger.ts";
import { type Ledger, LedgerError } from "../ledger.ts";
import { type Lag, Shipper, type ShipperOptions } from "./shipper.ts";

export interface ShippedLedgerOptions extends Omit<ShipperOptions, "journal"> {
  readonly ledger: FileLedger;
  readonly database: LedgerDatabase;
}

export interface ShippedLedger extends Ledger {
  lag(): Lag;
}

/** How long the database may delay the end of the process. */
const closeWithinMs = 2_000;

/** A ledger whose rows go from its files to a database, by themselves. Closes both. */
export function shippedLedger({ ledger, database, clock, ...rest }: ShippedLedgerOptions): ShippedLedger {
  const shipper = new Shipper({ journal: ledger.journal, database, clock, ...rest });
  let closing: Promise<void> | undefined;

  async function close() {
    await shipper.stop({ withinMs: closeWithinMs });
    await ledger.close();
    // A frozen database never responds, not even to a close.
    const giveUp = new AbortController();
    const closed = database.close().catch(() => {});
    await Promise.race([closed, sleep(clock, closeWithinMs, giveUp.signal, { background: true }).catch(() => {})]);
    giveUp.abort();
  }

  return {
    append(event) {
      if (!closing) return ledger.append(event);
      return Promise.reject(new LedgerError("closed", "the ledger is closed"));
    },
    close() {
      closing ??= close();
      return closing;
    },
    lag: () => shipper.lag(),
  };
}
