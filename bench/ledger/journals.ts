import { type FileLedger, type Ledger, openFileLedger } from "../../src/ledger/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { machineMs } from "../locks/machine-time.ts";
import { sample } from "./sample.ts";

export const clock = systemClock();

/** Callers that each wait for their event to be durable before they append the next. */
const callers = 256;

export function openJournal(directory: string): Promise<FileLedger> {
  // As a process with a single writer: what others have written is none of this.
  return openFileLedger({ directory, writer: "w-bench", clock, headsEveryMs: 1_000_000_000 });
}

/** Events per second, each answered when durable. Numbers go on from `first`. */
export async function append(ledger: Ledger, first: number, count: number): Promise<number> {
  let next = first;
  const startedAt = machineMs();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < first + count) await ledger.append(sample(next++));
    }),
  );
  return (1_000 * count) / (machineMs() - startedAt);
}
