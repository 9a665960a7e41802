import { readdir, readFile } from "node:fs/promises";
import { type Clock, sleep } from "../time/index.ts";
import { hasLockHolders, signalLockHolders } from "./lock-holders.ts";
import { ProcessError, sendSignal } from "./run-child.ts";

export interface KillAllOptions {
  /** The folder whose lock all of them hold. */
  readonly folder: string;
  /** `NAME=value` in the environment of all of them; undefined where no process can escape. */
  readonly mark: string | undefined;
  readonly clock: Clock;
}

const maxAttempts = 100;
const attemptsWithoutPause = 10;
const pauseMs = 50;
/** A process has no environment for a moment while it executes another program, so one empty search proves nothing. */
const requiredEmptySearches = 2;
const betweenSearchesMs = 10;

/** Kills all processes of a run, in any session. A process may fork during a search, so the search is repeated. */
export async function killAll({ folder, mark, clock }: KillAllOptions): Promise<void> {
  let emptySearches = 0;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const marked = mark === undefined ? [] : await findMarked(mark);
    if (marked.length === 0 && !(await hasLockHolders(folder))) {
      emptySearches++;
      if (mark === undefined || emptySearches === requiredEmptySearches) return;
      await sleep(clock, betweenSearchesMs);
      continue;
    }
    emptySearches = 0;
    for (const pid of marked) sendSignal(pid, "SIGKILL");
    await signalLockHolders(folder, "SIGKILL");
    if (attempt > attemptsWithoutPause) await sleep(clock, pauseMs);
  }
  throw new ProcessError(`processes survive SIGKILL (${folder})`);
}

async function findMarked(mark: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    // Processes end during the search, those of other users are not readable, and zombies have no environment.
    const environment = await readFile(`/proc/${name}/environ`, "latin1").catch(() => "");
    if (`\0${environment}`.includes(`\0${mark}\0`)) found.push(Number(name));
  }
  return found;
}
