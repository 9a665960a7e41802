import { openFileLedger } from "../../src/ledger/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { Dice } from "../chaos/dice.ts";
import { writeLine } from "./write-line.ts";

export interface LedgerWriterPlan {
  readonly directory: string;
  readonly writer: string;
  /** Part of the ids of its events, so that no life appends the same events as another. */
  readonly life: number;
  readonly seed: number;
}

// A process that appends events to the ledger as fast as it can until it is killed, and prints on stdout what it was
// answered: `open`, then `kept ID` for every event. It begins when stdin does.
const plan = JSON.parse(process.argv[2] ?? "") as LedgerWriterPlan;
process.stdin.once("data", () => void main());

async function main() {
  const { directory, writer, life, seed } = plan;
  const limits = { segmentBytes: 256 * 1024, waitingBytes: 1024 * 1024 };
  const ledger = await openFileLedger({ directory, writer, clock: systemClock(), limits, headsEveryMs: 20 });
  writeLine("open");
  const dice = new Dice(seed);
  let appended = 0;
  await Promise.all(Array.from({ length: 32 }, tellForEver));

  async function tellForEver() {
    for (;;) {
      const id = `${writer}/${life}/${++appended}`;
      const facts = { text: "é".repeat(dice.whole(0, 300)) };
      await ledger.append({ id, type: "execution.completed", at: new Date().toISOString(), facts });
      writeLine(`kept ${id}`);
    }
  }
}
