import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunRecord } from "./runner/run-folder.ts";

/** The output of one step. */
export interface StepLog {
  readonly task: string;
  /** Counted from 1; more than one if the task was tried again. */
  readonly attempt: number;
  /** Its name; for a run of an older version its place among the steps of the task, counted from 1. */
  readonly step: string;
  /** Undefined while the step runs: secrets are taken out at its end. */
  readonly text?: string;
}

/** The output of the steps of a run, in the order of its tasks, attempts and steps. Empty for an unknown run. */
export async function readLogs(dataDir: string, runUid: string): Promise<readonly StepLog[]> {
  const logs: StepLog[] = [];
  for (const { path, ...step } of await listSteps(dataDir, runUid)) {
    const text = await readText(join(path, "output"));
    logs.push({ ...step, ...(text !== undefined && { text }) });
  }
  return logs;
}

/** A step that has begun, or is about to, and its folder. */
export interface StepFolder extends Omit<StepLog, "text"> {
  readonly path: string;
}

/** The steps of a run in the order of its tasks, attempts and steps. Empty for an unknown run. */
export async function listSteps(dataDir: string, runUid: string): Promise<readonly StepFolder[]> {
  if (!/^[A-Za-z0-9-]{1,128}$/.test(runUid)) return [];
  const run = join(dataDir, "runs", runUid);
  const { steps = {} } = (await recordIn(run)) ?? {};
  const found: StepFolder[] = [];
  for (const { name, task, attempt } of await attemptsIn(run, Object.keys(steps))) {
    for (const index of await listSorted(join(run, name, "steps"))) {
      const step = steps[task]?.[Number(index)] ?? String(Number(index) + 1);
      found.push({ task, attempt: attempt + 1, step, path: join(run, name, "steps", index) });
    }
  }
  return found;
}

async function recordIn(run: string): Promise<RunRecord | undefined> {
  const text = await readText(join(run, "run.json"));
  return text === undefined ? undefined : JSON.parse(text);
}

/** The folders of attempts, by the place of their task in the pipeline. */
async function attemptsIn(run: string, order: readonly string[]) {
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

/** The text of a file of a run; undefined if there is none, or no longer. */
export async function readText(file: string): Promise<string | undefined> {
  return await readFile(file, "utf8").catch(() => undefined);
}
