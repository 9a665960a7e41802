import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** What one step said. */
export interface StepLog {
  readonly task: string;
  /** Counted from 1; more than one if the task was tried again. */
  readonly attempt: number;
  /** Its place among the steps of the task, counted from 1. */
  readonly step: number;
  /** Undefined while the step runs: secrets are taken out at its end. */
  readonly text?: string;
}

/** What the steps of a run said, in the order of tasks' names, attempts and steps. Empty if nothing is known of it. */
export async function readLogs(dataDir: string, runUid: string): Promise<readonly StepLog[]> {
  if (!/^[A-Za-z0-9-]{1,128}$/.test(runUid)) return [];
  const run = join(dataDir, "runs", runUid);
  const logs: StepLog[] = [];
  for (const name of await sorted(run)) {
    const [, task, attempt] = /^(.+)\.(\d+)$/.exec(name) ?? [];
    if (task === undefined) continue;
    for (const index of await sorted(join(run, name, "steps"))) {
      const text = await readFile(join(run, name, "steps", index, "output"), "utf8").catch(() => undefined);
      logs.push({ task, attempt: Number(attempt) + 1, step: Number(index) + 1, ...(text !== undefined && { text }) });
    }
  }
  return logs;
}

async function sorted(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}
