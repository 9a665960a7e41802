import { iso, patchAtVersion, refOf, refOfKey } from "../../../kube/index.ts";
import type { Clock } from "../../../time/index.ts";
import { type PipelineRun, pipelineRuns, succeededCondition } from "../../tekton/pipeline-run.ts";
import { isLocal, localFinalizer } from "../local-marks.ts";
import { checkPipeline } from "../pipeline/read-pipeline.ts";
import { directoryAnnotation, pipelineRunStatus, refusedStatus } from "../status/pipeline-run-status.ts";
import { type CarryOutOptions, carryOut } from "./carry-out.ts";
import { runOutcome } from "./local-metrics.ts";
import { OpenRun } from "./open-run.ts";
import { TaskRuns, writeRunStatus } from "./publish.ts";
import { listStepNames, toRunRecord, toRunSnapshot } from "./read-run.ts";
import { listRunFolders, RunFolder, type RunRecord } from "./run-folder.ts";

export interface LocalRunsOptions extends Omit<CarryOutOptions, "nowMs"> {
  readonly directory: { readonly path: string; readonly id: string };
  /** The number of finished runs whose output is kept. */
  readonly keptRuns: number;
}

/** A run of another data directory is failed this long after its timeout. */
const foreignGraceMs = 10 * 60_000;

/** The interval of checks of a run of another data directory. */
const foreignCheckMs = 60_000;

/** All runs of one local runner. */
export class LocalRuns {
  readonly #options: LocalRunsOptions;
  readonly #open = new Map<string, OpenRun>();
  /** Keys of runs that wait for a target. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #nowMs: () => number;

  constructor(options: LocalRunsOptions) {
    this.#options = options;
    this.#nowMs = monotonicWallTime(options.clock);
  }

  /** Opens the unfinished runs of an earlier runner. Returns their keys, even if their objects do not exist any more. */
  async recover(): Promise<readonly string[]> {
    const keys: string[] = [];
    for (const folder of await listRunFolders(this.#options.directory.path, this.#options.files)) {
      if ((await folder.closedAt()) !== undefined) continue;
      const record = await folder.record();
      // The record is written before anything else, so no step of this run ever began.
      if (!record) await folder.remove();
      else keys.push(runKey(this.#openRun(record).record));
    }
    return keys;
  }

  /** The number of supervised steps. */
  get stepsAlive(): number {
    return [...this.#open.values()].reduce((sum, run) => sum + run.stepsAlive, 0);
  }

  /** Resolves when no step is supervised any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#open.values()].map((run) => run.idle()));
  }

  /** Reconciles the run with this key. Returns the delay of the next reconciliation, if one is needed. */
  async reconcile(key: string): Promise<number | undefined> {
    const run = await this.#options.client.get(pipelineRuns, refOfKey(key));
    for (const open of this.#open.values()) {
      if (runKey(open.record) === key && open.record.uid !== run?.metadata.uid) this.#evict(open);
    }
    if (!run || !isLocal(run)) return undefined;
    return await this.#reconcileRun(run);
  }

  async #reconcileRun(run: PipelineRun): Promise<number | undefined> {
    const { uid = "", deletionTimestamp } = run.metadata;
    const open = this.#open.get(uid);
    const runner = run.status?.annotations?.[directoryAnnotation];
    const isOurs = runner === undefined || runner === this.#options.directory.id;
    if (!isOurs) return await this.#reconcileForeign(run, runner);
    if (deletionTimestamp || hasEnded(run)) {
      const isAlive = open && (await open.folder.unfinishedSteps()).length > 0;
      return isAlive ? this.#evict(open) : await this.#finish(run, open);
    }
    if (run.spec.status === "PipelineRunPending") return undefined;
    if (runner === undefined) return await this.#begin(run);
    return await this.#continue(run);
  }

  /** Begins a run that no runner has begun yet. */
  async #begin(run: PipelineRun): Promise<number | undefined> {
    const reading = checkPipeline(run.spec.pipelineSpec);
    if (reading.kind === "invalid")
      return await this.#refuse(run, "PipelineValidationFailed", reading.problems.join("; "));
    if (run.spec.status)
      return await this.#refuse(run, "Cancelled", `PipelineRun "${run.metadata.name}" was cancelled`);

    const record = toRunRecord(run);
    const other = [...this.#open.values()].find(
      ({ record: { target, uid } }) => target === record.target && uid !== record.uid,
    );
    if (other) return await this.#wait(run, record, other.record);

    // Before the first await: from here on, every other run of this target waits.
    this.#openRun(record);
    const claimed = await this.#claim(run).catch((error) => {
      this.#open.delete(record.uid);
      throw error;
    });
    if (claimed) {
      this.#options.metrics.runBegun();
      return await this.#continue(claimed);
    }
    this.#open.delete(record.uid);
    return 0;
  }

  /**
   * Writes to exactly this version of the run that this directory runs it, and since when. No step is started before, so a run
   * that was cancelled, deleted or claimed by another runner meanwhile is not begun.
   */
  async #claim(run: PipelineRun): Promise<PipelineRun | undefined> {
    const { client, directory } = this.#options;
    const now = this.#nowMs();
    const snapshot = { ...toRunSnapshot(run, new Map(), now), startedAt: now };
    const nothingYet = { actions: [], tasks: new Map(), run: { kind: "running" } } as const;
    const status = pipelineRunStatus(run, snapshot, nothingYet, directory.id);
    const outcome = await writeRunStatus(client, run, status);
    return outcome.kind === "updated" ? outcome.object : undefined;
  }

  /** Continues a run that this directory has begun, possibly before a crash. */
  async #continue(run: PipelineRun): Promise<number | undefined> {
    const open = this.#open.get(run.metadata.uid ?? "") ?? this.#openRun(toRunRecord(run));
    if (!(await open.folder.record())) {
      if (run.status?.childReferences?.length) return await this.#failWithoutRecord(run, open);
      await open.folder.create({ ...open.record, steps: listStepNames(run) });
    }
    const outcome = await carryOut(run, open, { ...this.#options, nowMs: this.#nowMs });
    if (outcome.kind === "running") return outcome.requeueAfterMs;
    this.#options.metrics.runEnded(runOutcome(outcome.run));
    return await this.#finish(outcome.run, open);
  }

  /** Closes a run whose end is in the API server and whose steps have ended. */
  async #finish(run: PipelineRun, open: OpenRun | undefined): Promise<number | undefined> {
    const { client } = this.#options;
    const { finalizers = [] } = run.metadata;
    // Before the finalizer is removed: a client that waits for that may create the next run of this target.
    if (open) {
      await open.idle();
      await this.#close(open);
    }
    if (finalizers.includes(localFinalizer)) {
      const rest = finalizers.filter((finalizer) => finalizer !== localFinalizer);
      const patch = patchAtVersion(run, { metadata: { finalizers: rest.length > 0 ? rest : null } });
      const outcome = await client.patch(pipelineRuns, refOf(run), patch);
      if (outcome.kind === "conflict") return 0;
    }
    return undefined;
  }

  async #close(open: OpenRun) {
    await open.folder.close();
    this.#open.delete(open.record.uid);
    const waiting = this.#waiting.get(open.record.target) ?? [];
    this.#waiting.delete(open.record.target);
    for (const key of waiting) this.#options.wake(key);
    await this.#removeOldest();
  }

  async #removeOldest() {
    const { directory, files, keptRuns } = this.#options;
    const folders = await listRunFolders(directory.path, files);
    // A tenth more is tolerated, so that not every end of a run reads all folders.
    if (folders.length <= keptRuns * 1.1 + this.#open.size) return;
    const all = await Promise.all(folders.map(async (folder) => ({ folder, at: await folder.closedAt() })));
    const closed = all.filter(({ at }) => at !== undefined);
    closed.sort((a, b) => Number(a.at) - Number(b.at));
    for (const { folder } of closed.slice(0, Math.max(0, closed.length - keptRuns))) await folder.remove();
  }

  /** Ends the processes of a run whose object is deleted, or being deleted. Until then, other runs of its target wait. */
  #evict(open: OpenRun): undefined {
    open.eviction ??= this.#endAll(open).catch((error) => {
      open.eviction = undefined;
      if (this.#options.abandon.aborted) return;
      this.#options.log.error("ending a local run failed", { run: open.record.uid, error });
      this.#options.clock.after(2_000, () => this.#options.wake(runKey(open.record)), { background: true });
    });
  }

  async #endAll(open: OpenRun) {
    this.#options.log.info("local run deleted, ending it", { run: open.record.uid, name: open.record.name });
    for (;;) {
      const unfinished = await open.folder.unfinishedSteps();
      if (unfinished.length === 0) break;
      this.#options.abandon.throwIfAborted();
      for (const folder of unfinished) {
        open.supervise({ folder, secrets: undefined, launch: () => Promise.reject(new Error("the run was deleted")) });
        open.stop(folder);
      }
      await open.idle();
    }
    this.#options.metrics.runEnded("deleted");
    await this.#close(open);
    this.#options.wake(runKey(open.record));
  }

  async #wait(run: PipelineRun, record: RunRecord, other: RunRecord): Promise<undefined> {
    const waiting = this.#waiting.get(record.target) ?? new Set();
    this.#waiting.set(record.target, waiting.add(runKey(record)));
    const message = `waits for the run ${other.name} (${other.uid}) on the same target: not all of its processes have ended`;
    if (succeededCondition(run.status)?.message === message) return;
    const { uid, target } = record;
    this.#options.log.warn("local run waits for its target", { run: uid, target, other: other.uid });
    const lastTransitionTime = iso(this.#nowMs());
    const condition = { type: "Succeeded", status: "Unknown", reason: "Started", message, lastTransitionTime } as const;
    await writeRunStatus(this.#options.client, run, { ...run.status, conditions: [condition] });
  }

  /** Leaves a run of another data directory alone, and fails it some time after its timeout if its own runner did not end it. */
  async #reconcileForeign(run: PipelineRun, runner: string | undefined): Promise<number | undefined> {
    // The end is written after the last process has ended, so any runner may then remove the finalizer.
    if (hasEnded(run)) return run.metadata.deletionTimestamp ? await this.#finish(run, undefined) : undefined;
    const { startedAt, timeouts } = toRunSnapshot(run, new Map(), this.#nowMs());
    const failAt = startedAt + timeouts.pipelineMs + foreignGraceMs;
    if (timeouts.pipelineMs > 0 && this.#nowMs() >= failAt) {
      const message = `no runner of its data directory (${runner}) ended it after its timeout; its processes may still be running`;
      return await this.#refuse(run, "PipelineRunTimeout", message);
    }
    this.#options.log.warn("local run belongs to another data directory", { run: run.metadata.uid, directory: runner });
    return foreignCheckMs;
  }

  async #failWithoutRecord(run: PipelineRun, open: OpenRun): Promise<number | undefined> {
    this.#open.delete(open.record.uid);
    const message = `${open.folder.path} is gone; processes of the run may still be running`;
    return await this.#refuse(run, "Failed", message);
  }

  async #refuse(run: PipelineRun, reason: string, message: string): Promise<number | undefined> {
    const status = refusedStatus(run, reason, message, this.#nowMs());
    const outcome = await writeRunStatus(this.#options.client, run, status);
    if (outcome.kind !== "updated") return 0;
    this.#options.metrics.runEnded("refused");
    return await this.#finish(outcome.object, undefined);
  }

  #openRun(record: RunRecord): OpenRun {
    const { client, directory, files, wake } = this.#options;
    const folder = new RunFolder(directory.path, record.uid, files);
    const open = new OpenRun({ record, folder, taskRuns: new TaskRuns(client) }, this.#options, () =>
      wake(runKey(record)),
    );
    this.#open.set(record.uid, open);
    return open;
  }
}

/** Returns a clock that starts at the wall time and does not jump, so that the times of a run can be compared. */
function monotonicWallTime(clock: Clock): () => number {
  const offset = clock.wallMs() - clock.now();
  return () => Math.round(clock.now() + offset);
}

function hasEnded(run: PipelineRun): boolean {
  return ["True", "False"].includes(succeededCondition(run.status)?.status ?? "");
}

function runKey({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`;
}
