import { join } from "node:path";
import { openDirectory } from "../../src/disk/index.ts";
import {
  type LedgerDatabase,
  ledgerDatabase,
  openFileLedger,
  postgresStore,
  shippedLedger,
  sqliteStore,
} from "../../src/ledger/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { writeLine } from "../durability/write-line.ts";

export interface MortalShipperPlan {
  readonly directory: string;
  /** PostgreSQL; a file in the directory without it. */
  readonly url?: string;
  /** Stands in the ids of its events. */
  readonly life: number;
  /** Kills itself at this step of shipping; steps are counted before and after each call to the database and the disk. */
  readonly diesAt: number;
}

// A process that appends a few events, ships them, and kills itself on the way. Prints `kept ID` for each acknowledged
// event and `survived` if it got to the end.
const { directory, url, life, diesAt } = JSON.parse(process.argv[2] ?? "") as MortalShipperPlan;
process.stdin.once("data", () => void main());

let steps = 0;
async function step<T>(work: () => Promise<T>): Promise<T> {
  if (++steps === diesAt) process.kill(process.pid, "SIGKILL");
  const result = await work();
  if (++steps === diesAt) process.kill(process.pid, "SIGKILL");
  return result;
}

async function main() {
  const clock = systemClock();
  const ledger = await openFileLedger({
    directory,
    writer: "w-1",
    clock,
    limits: { segmentBytes: 1_000 },
    openDisk: async (path, clock) => {
      const disk = await openDirectory(path, clock);
      return { ...disk, remove: (name) => step(() => disk.remove(name)) };
    },
  });
  const database = mortal(ledgerDatabase(url ? postgresStore({ url }) : sqliteStore(join(directory, "ledger.sqlite"))));
  const shipped = shippedLedger({ ledger, database, clock, random: systemRandom(), log: silentLogger });
  for (let i = 1; i <= 12; i++) {
    const id = `life-${life}/${i}`;
    await shipped.append({ id, type: "run.created", at: new Date().toISOString(), facts: { life } });
    writeLine(`kept ${id}`);
  }
  await shipped.close();
  writeLine("survived");
  process.exit(0);
}

function mortal(database: LedgerDatabase): LedgerDatabase {
  return {
    ...database,
    head: (...call) => step(() => database.head(...call)),
    add: (rows) => step(() => database.add(rows)),
  };
}
