import { join } from "node:path";
import { type Logger, limitLog } from "../../../telemetry/index.ts";
import type { Clock } from "../../../time/index.ts";
import { readOutput } from "../steps/output.ts";
import type { Launch, Processes } from "../steps/processes.ts";
import { removeRawOutput, supervise } from "../steps/supervise.ts";
import type { Files } from "./files.ts";
import type { LocalMetrics } from "./local-metrics.ts";
import type { TaskRuns } from "./publish.ts";
import { type RunFolder, type RunRecord, readStepRecord } from "./run-folder.ts";

export interface StepTools {
  readonly processes: Processes;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: LocalMetrics;
  readonly graceMs: number;
  /** Aborts when the runner stops and leaves its steps to the next one. */
  readonly abandon: AbortSignal;
}

export interface StepToRun {
  readonly folder: string;
  /** Called only if the step has to be started. */
  readonly launch: () => Promise<Launch>;
  /** The values to redact in the output. Undefined if they are unknown: then the output is not kept. */
  readonly secrets: readonly string[] | undefined;
}

/** A run that may have processes: from its claim by this runner until its end is recorded on disk and in the API server. */
export class OpenRun {
  readonly record: RunRecord;
  readonly folder: RunFolder;
  readonly taskRuns: TaskRuns;
  /** The last status that was written to the API server, and when, by the monotonic clock. */
  published: { readonly text: string; readonly at: number } | undefined;
  /** Present while the run is being ended because its object was deleted. */
  eviction: Promise<void> | undefined;
  readonly #tools: StepTools;
  readonly #changed: () => void;
  readonly #failures: ReturnType<typeof limitLog>;
  /** Steps that this process supervises, by their folder. */
  readonly #steps = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();

  constructor(
    { record, folder, taskRuns }: Pick<OpenRun, "record" | "folder" | "taskRuns">,
    tools: StepTools,
    changed: () => void,
  ) {
    this.record = record;
    this.folder = folder;
    this.taskRuns = taskRuns;
    this.#tools = tools;
    this.#changed = changed;
    this.#failures = limitLog(tools.clock, 60_000);
  }

  /** Runs a step to its end, once. Safe to repeat. */
  supervise(step: StepToRun): void {
    if (this.#steps.has(step.folder)) return;
    const stop = new AbortController();
    const ended = this.#runToEnd(step, stop.signal).then(
      () => this.#forget(step.folder),
      (error) => this.#failed(step.folder, error),
    );
    this.#steps.set(step.folder, { stop, ended });
  }

  /** Stops a supervised step. Safe to repeat. */
  stop(folder: string): void {
    this.#steps.get(folder)?.stop.abort();
  }

  /** The number of supervised steps. */
  get stepsAlive(): number {
    return this.#steps.size;
  }

  /** Resolves when no step is supervised any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#steps.values()].map(({ ended }) => ended));
  }

  async #runToEnd({ folder, launch, secrets }: StepToRun, stop: AbortSignal) {
    const { files, log, metrics } = this.#tools;
    const stubborn = () => log.error("step survives SIGKILL", { run: this.record.uid, folder });
    const adopted = () => metrics.stepAdopted();
    const end = await supervise({ ...this.#tools, folder, launch, stop, stubborn, adopted });
    const output = secrets
      ? await readOutput(folder, secrets)
      : "(not kept: the run was deleted while the engine was stopped)\n";
    // The output first: a step with an end is not supervised again. The raw output is removed last.
    await files.write(join(folder, "output"), output);
    await files.write(join(folder, "end.json"), JSON.stringify(end));
    metrics.stepEnded(end, (await readStepRecord(folder)).startedAt);
    await removeRawOutput(folder);
  }

  #forget(folder: string) {
    this.#steps.delete(folder);
    this.#changed();
  }

  #failed(folder: string, error: unknown) {
    const { abandon, clock, log } = this.#tools;
    if (abandon.aborted) return;
    const unreported = this.#failures(String(error));
    if (unreported !== undefined) {
      log.error("step supervision failed", { run: this.record.uid, folder, error, unreported });
    }
    // Retried after a delay: the cause can be a full disk.
    clock.after(2_000, () => this.#forget(folder), { background: true });
  }
}
