import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { withoutSecrets } from "../../telemetry/index.ts";
import { sleep } from "../../time/index.ts";
import { LineSplitter } from "../output/line-splitter.ts";
import { type FollowStepsOptions, isWantedStep } from "../output/step-line.ts";
import { listSteps, readText, type StepFolder } from "./logs.ts";

export interface FollowLogsOptions extends FollowStepsOptions {
  readonly dataDir: string;
  readonly runUid: string;
  /** Aborts when no further step will begin. */
  readonly runEnded: AbortSignal;
}

/** The interval of reads. No notification of changes works on every file system. */
const pollMs = 100;

/** Prints the output of a local run's steps while they run, and of steps that begin later. */
export async function followLogs(options: FollowLogsOptions): Promise<void> {
  const { dataDir, runUid, filter, clock, signal, runEnded } = options;
  const readers = new Map<string, StepReader>();
  try {
    while (!signal.aborted) {
      // Read before the files: a read that begins after the end of the run is complete.
      const isLast = runEnded.aborted;
      for (const step of await listSteps(dataDir, runUid)) {
        if (!isWantedStep(step, filter)) continue;
        const reader = readers.get(step.path) ?? new StepReader(step, options);
        readers.set(step.path, reader);
        await reader.read();
      }
      if (isLast) return;
      await sleep(clock, pollMs, AbortSignal.any([signal, runEnded])).catch(() => {});
    }
  } finally {
    for (const reader of readers.values()) await reader.close();
  }
}

/** Reads the output of one step as it grows. */
class StepReader {
  readonly #step: StepFolder;
  readonly #options: FollowLogsOptions;
  readonly #splitter = new LineSplitter();
  /** The first part of the output. The file stays open, because the engine removes it when the step ends. */
  #head: FileHandle | undefined;
  #secrets: readonly string[] = [];
  #raw: Buffer[] = [];
  #bytes = 0;
  #isFirst = true;
  #hasEnded = false;

  constructor(step: StepFolder, options: FollowLogsOptions) {
    this.#step = step;
    this.#options = options;
  }

  async read(): Promise<void> {
    if (this.#hasEnded) return;
    this.#head ??= await this.#open();
    const output = await readText(join(this.#step.path, "output"));
    if (this.#head) await this.#print(this.#splitter.take(await this.#readMore(this.#head)));
    if (output === undefined) return;
    this.#hasEnded = true;
    if (!(await this.#isTooOld())) await this.#printRest(output);
    await this.close();
  }

  async close(): Promise<void> {
    await this.#head?.close();
    this.#head = undefined;
  }

  /** Whether the step ended before the wanted time. Its lines have no times of their own. */
  async #isTooOld(): Promise<boolean> {
    const { sinceMs } = this.#options.filter;
    if (sinceMs === undefined || this.#head) return false;
    return (await stat(join(this.#step.path, "output"))).mtimeMs < sinceMs;
  }

  /** Without the list of secrets, no output is shown before the engine has redacted it, at the end of the step. */
  async #open(): Promise<FileHandle | undefined> {
    const secrets = await readText(join(this.#step.path, "secrets"));
    if (secrets === undefined) return undefined;
    this.#secrets = JSON.parse(secrets) as readonly string[];
    return await open(join(this.#step.path, "head"), constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  }

  async #readMore(head: FileHandle): Promise<Buffer> {
    const { size } = await head.stat();
    const wanted = Buffer.alloc(Math.max(0, size - this.#bytes));
    const { bytesRead } = await head.read(wanted, 0, wanted.length, this.#bytes);
    this.#bytes += bytesRead;
    const chunk = wanted.subarray(0, bytesRead);
    this.#raw.push(chunk);
    return chunk;
  }

  /** Prints the output after the first part; all output if the step ended before its first part was read. */
  async #printRest(output: string): Promise<void> {
    const shown = withoutSecrets(Buffer.concat(this.#raw).toString("utf8"), this.#secrets);
    const unfinished = this.#splitter.end();
    if (output.startsWith(shown)) {
      const rest = output.slice(shown.length);
      const begun = unfinished.map((line) => withoutSecrets(line, this.#secrets)).join("");
      await this.#print(linesIn(`${begun}${rest}`));
    } else {
      await this.#print([...unfinished, "(the complete output: interlock logs)"]);
    }
  }

  async #print(lines: readonly string[]): Promise<void> {
    const { filter, print } = this.#options;
    const wanted = this.#isFirst && filter.tail !== undefined ? takeLast(lines, filter.tail) : lines;
    if (lines.length > 0) this.#isFirst = false;
    const { task, attempt, step } = this.#step;
    for (const line of wanted) await print({ task, attempt, step, text: withoutSecrets(line, this.#secrets) });
  }
}

function takeLast(lines: readonly string[], count: number): readonly string[] {
  return count === 0 ? [] : lines.slice(-count);
}

function linesIn(text: string): readonly string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
