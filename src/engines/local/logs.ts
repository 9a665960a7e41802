import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunRecord } from "./runner/run-folder.ts";

/** The output of one step. */
export interface StepLog {
  readonly task: string;
  /** Counted from 1; greater than 1 for a retry of the task. */
  readonly attempt: number;
  /** The name of the step; for a run of an older version its position in the task, counted from 1. */
  readonly step: string;
  /** Undefined while the step runs: secrets are redacted at its end. */
  readonly text?: string;
}

/** Reads the output of a run, in the order of its tasks, attempts and steps. Empty for an unknown run. */
export async function readLogs(dataDir: string, runUid: string): Promise<readonly StepLog[]> {
  const logs: StepLog[] = [];
  for (const { path, ...step } of await listSteps(dataDir, runUid)) {
    const text = await readText(join(path, "output"));
    logs.push({ ...step, ...(text !== undefined && { text }) });
  }
  return logs;
}

/** A step that has begun, or is about to begin, and its folder. */
export interface StepFolder extends Omit<StepLog, "text"> {
  readonly path: string;
}

/** Lists the steps of a run, in the order of its tasks, attempts and steps. Empty for an unknown run. */
export async function listSteps(dataDir: string, runUid: string): Promise<readonly StepFolder[]> {
  if (!/^[A-Za-z0-9-]{1,128}$/.test(runUid)) return [];
  const run = join(dataDir, "runs", runUid);
  const { steps = {} } = (await readRecord(run)) ?? {};
  const found: StepFolder[] = [];
  for (const { name, task, attempt } of await listAttempts(run, Object.keys(steps))) {
    for (const index of await listSorted(join(run, name, "steps"))) {
      const step = steps[task]?.[Number(index)] ?? String(Number(index) + 1);
      found.push({ task, attempt: attempt + 1, step, path: join(run, name, "steps", index) });
    }
  }
  return found;
}

async function readRecord(run: string): Promise<RunRecord | undefined> {
  const text = await readText(join(run, "run.json"));
  return text === undefined ? undefined : JSON.parse(text);
}

/** Lists the folders of attempts, in the order of the tasks in the pipeline. */
async function listAttempts(run: string, order: readonly string[]) {
  const found = (await listSorted(run)).flatMap((name) => {
    const [, task, attempt] = /^(.+)\.(\d+)$/.exec(name) ?? [];
    return task === undefined ? [] : [{ name, task, attempt: Number(attempt) }];
  });
  return found.sort((a, b) => order.indexOf(a.task) - order.indexOf(b.task));
}

async function listSorted(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

/** Reads a file of a run; undefined if it cannot be read, for example because it was removed meanwhile. */
export async function readText(file: string): Promise<string | undefined> {
  return await readFile(file, "utf8").catch(() => undefined);
}
