import { readdir, readFile } from "node:fs/promises";
import type { Processes } from "../../../engines/index.ts";
import { type Clock, sleep } from "../../../time/index.ts";

export interface Ending {
  /** With the lock that all of them hold. */
  readonly folder: string;
  /** `NAME=value` in the environment of all of them; undefined where no process can get away. */
  readonly mark: string | undefined;
  readonly processes: Processes;
  readonly clock: Clock;
}

const tries = 100;
const pauseMs = 50;
/** A process has no environment for a moment while it executes another program, so one empty search proves nothing. */
const emptySearches = 2;
const betweenSearchesMs = 10;

/** Ends all processes of a run, in any session. A process may fork during a search, so the search is repeated. */
export async function endAll({ folder, mark, processes, clock }: Ending): Promise<void> {
  let empty = 0;
  for (let attempt = 0; attempt < tries; attempt++) {
    const marked = mark === undefined ? [] : await markedWith(mark);
    if (marked.length === 0 && !(await processes.isAlive(folder))) {
      empty++;
      if (mark === undefined || empty === emptySearches) return;
      await sleep(clock, betweenSearchesMs);
      continue;
    }
    empty = 0;
    for (const pid of marked) kill(pid);
    await processes.signal(folder, "SIGKILL");
    if (attempt > 10) await sleep(clock, pauseMs);
  }
  throw new Error(`processes of the coding agent survive being killed (${folder})`);
}

async function markedWith(mark: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    // Processes end while we look, and those of others may not be looked at. The dead who are not buried have none.
    const environment = await readFile(`/proc/${name}/environ`, "latin1").catch(() => "");
    if (`\0${environment}`.includes(`\0${mark}\0`)) found.push(Number(name));
  }
  return found;
}

function kill(pid: number) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
