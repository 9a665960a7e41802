import { join } from "node:path";
import type { Logger } from "../../../telemetry/index.ts";
import type { Clock } from "../../../time/index.ts";
import { shownOutput } from "../steps/output.ts";
import type { Launch, Processes } from "../steps/processes.ts";
import { removeRawOutput, supervise } from "../steps/supervise.ts";
import type { Files } from "./files.ts";
import type { LocalMetrics } from "./local-metrics.ts";
import type { TaskRuns } from "./publish.ts";
import { type RunFolder, type RunRecord, stepRecord } from "./run-folder.ts";

export interface StepTools {
  readonly processes: Processes;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: LocalMetrics;
  readonly graceMs: number;
  /** The runner goes, and leaves its steps to the next one. */
  readonly abandon: AbortSignal;
}

export interface StepToRun {
  readonly folder: string;
  /** Asked for only if the step has to be started. */
  readonly launch: () => Promise<Launch>;
  /** The values that its output must not show. Undefined: they are unknown, so the output is not kept. */
  readonly secrets: readonly string[] | undefined;
}

/** A run of which something may be alive: from the moment it is ours until its end is written down everywhere. */
export class OpenRun {
  readonly record: RunRecord;
  readonly folder: RunFolder;
  readonly taskRuns: TaskRuns;
  /** The status last written to the API server, and when by our monotonic clock. */
  published: { readonly text: string; readonly at: number } | undefined;
  /** Set once the run is being ended because its object is gone. */
  eviction: Promise<void> | undefined;
  readonly #tools: StepTools;
  readonly #changed: () => void;
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
  }

  /** Runs a step once and to its end. Harmless to repeat. */
  supervise(step: StepToRun): void {
    if (this.#steps.has(step.folder)) return;
    const stop = new AbortController();
    const ended = this.#runToItsEnd(step, stop.signal).then(
      () => this.#forget(step.folder),
      (error) => this.#failed(step.folder, error),
    );
    this.#steps.set(step.folder, { stop, ended });
  }

  /** Ends a step that is supervised. Harmless to repeat. */
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

  async #runToItsEnd({ folder, launch, secrets }: StepToRun, stop: AbortSignal) {
    const { files, log, metrics } = this.#tools;
    const stubborn = () => log.error("step survives SIGKILL", { run: this.record.uid, folder });
    const adopted = () => metrics.stepAdopted();
    const end = await supervise({ ...this.#tools, folder, launch, stop, stubborn, adopted });
    const output = secrets
      ? await shownOutput(folder, secrets)
      : "(not kept: the run was deleted while the engine was stopped)\n";
    // The output first: a step with an end is not looked at again. And what it was made from last.
    await files.write(join(folder, "output"), output);
    await files.write(join(folder, "end.json"), JSON.stringify(end));
    metrics.stepEnded(end, (await stepRecord(folder)).startedAt);
    await removeRawOutput(folder);
  }

  #forget(folder: string) {
    this.#steps.delete(folder);
    this.#changed();
  }

  #failed(folder: string, error: unknown) {
    const { abandon, clock, log } = this.#tools;
    if (abandon.aborted) return;
    log.error("step supervision failed", { run: this.record.uid, folder, error });
    // It is supervised again, but not at once: a full disk does not recover by retries.
    clock.after(2_000, () => this.#forget(folder), { background: true });
  }
}
