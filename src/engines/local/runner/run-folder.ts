import { constants } from "node:fs";
import { open, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { allTasks, type PipelineSpec, type PipelineTask } from "../pipeline/spec.ts";
import type { Attempt, StepEnd, StepRecord, Stop } from "../schedule/run-snapshot.ts";
import { type Files, ignoreAbsence } from "./files.ts";

/** The run to which a folder belongs. */
export interface RunRecord {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly target: string;
  /** The names of each task's steps, in order. Older records do not have them. */
  readonly steps?: Readonly<Record<string, readonly string[]>>;
}

/** The maximum length of one result. */
const maxResultBytes = 4_096;

/**
 * The state of a run on disk:
 *
 *     runs/UID/run.json                     the owner of the run; written before anything else
 *              closed                       no process of it is alive, and its end is in the API server
 *              TASK.ATTEMPT/attempt.json    when it began
 *                           stop.json       the order to stop, and why; written before the signal
 *                           scratch/        HOME, TMPDIR and working directory of its steps
 *                           results/NAME
 *                           steps/INDEX/    belongs to the step: script, secrets, lock, started, exit, head, tail, rest
 *                                  end.json how it ended
 *                                  output   its output, without secrets
 */
export class RunFolder {
  readonly path: string;
  readonly #files: Files;

  constructor(dataDir: string, uid: string, files: Files) {
    // The uid comes from the API server and becomes part of a path.
    if (!/^[A-Za-z0-9-]{1,128}$/.test(uid)) throw new TypeError(`${JSON.stringify(uid)} is not a uid`);
    this.path = join(dataDir, "runs", uid);
    this.#files = files;
  }

  async create(record: RunRecord): Promise<void> {
    await this.#files.makeDirectory(this.path);
    await this.#files.write(join(this.path, "run.json"), JSON.stringify(record));
  }

  async record(): Promise<RunRecord | undefined> {
    return await readJson<RunRecord>(join(this.path, "run.json"));
  }

  /** Returns when the run was closed; undefined if it is open. */
  async closedAt(): Promise<number | undefined> {
    return await readTime(join(this.path, "closed"));
  }

  /** Keeps the output, and removes the files that steps left behind. */
  async close(): Promise<void> {
    for (const attempt of await this.#attemptFolders()) {
      // A step can leave files that cannot be removed. The target must become free anyway.
      await this.#files.remove(join(attempt, "scratch")).catch(() => {});
    }
    await this.#files.write(join(this.path, "closed"), "");
  }

  async remove(): Promise<void> {
    await this.#files.remove(this.path);
  }

  attempt(task: string, number: number): string {
    return join(this.path, `${task}.${number}`);
  }

  step(task: string, attempt: number, index: number): string {
    return join(this.attempt(task, attempt), "steps", String(index));
  }

  async beginAttempt(task: string, number: number, startedAt: number): Promise<void> {
    const path = this.attempt(task, number);
    for (const part of ["scratch", "results", "steps"]) await this.#files.makeDirectory(join(path, part));
    // Last: an attempt without it has not begun.
    await this.#files.write(join(path, "attempt.json"), JSON.stringify({ startedAt }));
  }

  /** The folder of a step records that the step is to run; its wrapper records whether it did. */
  async beginStep(task: string, attempt: number, index: number): Promise<void> {
    await this.#files.makeDirectory(this.step(task, attempt, index));
  }

  async noteStop(task: string, attempt: number, stop: Stop): Promise<void> {
    await this.#files.write(join(this.attempt(task, attempt), "stop.json"), JSON.stringify(stop));
  }

  /** Reads all attempts of the tasks of `pipeline`. */
  async attempts(pipeline: PipelineSpec): Promise<Map<string, readonly Attempt[]>> {
    const found = new Map<string, readonly Attempt[]>();
    const there = new Set(await listNames(this.path));
    for (const task of allTasks(pipeline)) {
      const attempts: Attempt[] = [];
      while (there.has(`${task.name}.${attempts.length}`)) {
        const attempt = await this.#attempt(task, attempts.length);
        if (!attempt) break;
        attempts.push(attempt);
      }
      if (attempts.length > 0) found.set(task.name, attempts);
    }
    return found;
  }

  /** Lists the folders of all steps that have begun, or were about to. */
  async stepFolders(): Promise<readonly string[]> {
    const folders: string[] = [];
    for (const attempt of await this.#attemptFolders()) {
      for (const index of await listNames(join(attempt, "steps"))) folders.push(join(attempt, "steps", index));
    }
    return folders;
  }

  /** Lists the folders of the steps whose end is not recorded. */
  async unfinishedSteps(): Promise<readonly string[]> {
    const unfinished: string[] = [];
    for (const folder of await this.stepFolders()) {
      if (!(await readJson(join(folder, "end.json")))) unfinished.push(folder);
    }
    return unfinished;
  }

  async #attemptFolders(): Promise<readonly string[]> {
    return (await listNames(this.path)).filter((name) => /\.\d+$/.test(name)).map((name) => join(this.path, name));
  }

  async #attempt(task: PipelineTask, number: number): Promise<Attempt | undefined> {
    const path = this.attempt(task.name, number);
    const begun = await readJson<{ startedAt: number }>(join(path, "attempt.json"));
    if (!begun) return undefined;

    const stop = await readJson<Stop>(join(path, "stop.json"));
    const count = (await listNames(join(path, "steps"))).length;
    const steps: StepRecord[] = [];
    for (let index = 0; index < count; index++) steps.push(await readStepRecord(join(path, "steps", String(index))));
    const isDone = steps.length === task.taskSpec.steps.length && steps.every(({ end }) => end);
    const results = isDone ? await readResults(join(path, "results"), task) : {};
    return { ...begun, ...(stop && { stop }), steps, results };
  }
}

/** Lists the folders of all runs. */
export async function listRunFolders(dataDir: string, files: Files): Promise<readonly RunFolder[]> {
  return (await listNames(join(dataDir, "runs"))).map((uid) => new RunFolder(dataDir, uid, files));
}

/** Reads the record of a step from its folder. */
export async function readStepRecord(folder: string): Promise<StepRecord> {
  const end = await readJson<StepEnd>(join(folder, "end.json"));
  const startedAt = await readTime(join(folder, "started"));
  const pid =
    startedAt === undefined ? undefined : Number.parseInt(await readFile(join(folder, "started"), "utf8"), 10);
  return { ...(end && { end }), ...(startedAt !== undefined && { startedAt }), ...(pid !== undefined && { pid }) };
}

async function readResults(path: string, { taskSpec }: PipelineTask): Promise<Record<string, string>> {
  const results: Record<string, string> = {};
  for (const { name } of taskSpec.results ?? []) {
    const value = await readResult(join(path, name));
    if (value !== undefined) results[name] = value;
  }
  return results;
}

/** Reads one result. A step can create any kind of file: links are not followed, and a pipe is not waited for. */
async function readResult(file: string): Promise<string | undefined> {
  try {
    await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) return undefined;
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(maxResultBytes + 1), 0, maxResultBytes + 1, 0);
    return bytesRead > maxResultBytes ? undefined : buffer.toString("utf8", 0, bytesRead);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ELOOP", "ENXIO", "EISDIR"].includes(code)) return undefined;
    throw error;
  }
}

/** Returns when a file was written, in milliseconds since 1970; undefined if it does not exist. */
export async function readTime(file: string): Promise<number | undefined> {
  const found = await stat(file).catch(ignoreAbsence);
  return found && Math.round(found.mtimeMs);
}

async function readJson<T>(file: string): Promise<T | undefined> {
  const text = await readFile(file, "utf8").catch(ignoreAbsence);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

async function listNames(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(ignoreAbsence)) ?? [];
}
