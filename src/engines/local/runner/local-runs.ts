import { iso, refOf, refOfKey } from "../../../kube/index.ts";
import type { Clock } from "../../../time/index.ts";
import { patchAtVersion } from "../../patch-at-version.ts";
import { type PipelineRun, pipelineRuns, succeededCondition } from "../../tekton/pipeline-run.ts";
import { isLocal, localFinalizer } from "../local-marks.ts";
import { checkPipeline } from "../pipeline/read-pipeline.ts";
import { directoryAnnotation, pipelineRunStatus, refusedStatus } from "../status/pipeline-run-status.ts";
import { type CarryOutOptions, carryOut } from "./carry-out.ts";
import { runOutcome } from "./local-metrics.ts";
import { OpenRun } from "./open-run.ts";
import { TaskRuns, writeRunStatus } from "./publish.ts";
import { stepNames, toRunRecord, toRunWorld } from "./read-run.ts";
import { RunFolder, type RunRecord, runFolders } from "./run-folder.ts";

export interface LocalRunsOptions extends Omit<CarryOutOptions, "nowMs"> {
  readonly directory: { readonly path: string; readonly id: string };
  /** How many finished runs keep their output. */
  readonly keptRuns: number;
}

/** Runs without a runner are given up this long after their time. */
const foreignGraceMs = 10 * 60_000;

/** How often a run of another data directory is looked at. */
const foreignLookMs = 60_000;

/** All local runs, as one runner carries them out. */
export class LocalRuns {
  readonly #options: LocalRunsOptions;
  readonly #open = new Map<string, OpenRun>();
  /** Keys of runs that wait for a target. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #nowMs: () => number;

  constructor(options: LocalRunsOptions) {
    this.#options = options;
    this.#nowMs = steadyTime(options.clock);
  }

  /** Finds what an earlier runner left. Returns the keys to look at, whether or not their objects still exist. */
  async recover(): Promise<readonly string[]> {
    const keys: string[] = [];
    for (const folder of await runFolders(this.#options.directory.path, this.#options.files)) {
      if ((await folder.closedAt()) !== undefined) continue;
      const record = await folder.record();
      // Whose it is was written before anything else, so nothing of it ever began.
      if (!record) await folder.remove();
      else keys.push(runKey(this.#openRun(record).record));
    }
    return keys;
  }

  /** Steps supervised now. */
  get stepsAlive(): number {
    return [...this.#open.values()].reduce((sum, run) => sum + run.stepsAlive, 0);
  }

  /** Resolves when no step is supervised any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#open.values()].map((run) => run.idle()));
  }

  /** Reconciles the run called `key`. Returns in how many milliseconds to look again, if at all. */
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
    if (!isOurs) return await this.#foreign(run, runner);
    if (deletionTimestamp || isOver(run)) {
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

    // Ours from here on for every other run of this target, before we wait for anything.
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
   * Writes down, for this version of the run alone, that this directory runs it, and since when. Before that nothing is
   * done, so a run that was cancelled, deleted or taken by another runner meanwhile is not begun.
   */
  async #claim(run: PipelineRun): Promise<PipelineRun | undefined> {
    const { client, directory } = this.#options;
    const now = this.#nowMs();
    const world = { ...toRunWorld(run, new Map(), now), startedAt: now };
    const nothingYet = { actions: [], tasks: new Map(), run: { kind: "running" } } as const;
    const status = pipelineRunStatus(run, world, nothingYet, directory.id);
    const outcome = await writeRunStatus(client, run, status);
    return outcome.kind === "updated" ? outcome.object : undefined;
  }

  /** A run that we have begun, now or before a crash. */
  async #continue(run: PipelineRun): Promise<number | undefined> {
    const open = this.#open.get(run.metadata.uid ?? "") ?? this.#openRun(toRunRecord(run));
    if (!(await open.folder.record())) {
      if (run.status?.childReferences?.length) return await this.#recordIsGone(run, open);
      await open.folder.create({ ...open.record, steps: stepNames(run) });
    }
    const outcome = await carryOut(run, open, { ...this.#options, nowMs: this.#nowMs });
    if (outcome.kind === "running") return outcome.requeueAfterMs;
    this.#options.metrics.runEnded(runOutcome(outcome.run));
    return await this.#finish(outcome.run, open);
  }

  /** Its end is in the API server, and nothing of it is alive. */
  async #finish(run: PipelineRun, open: OpenRun | undefined): Promise<number | undefined> {
    const { client } = this.#options;
    const { finalizers = [] } = run.metadata;
    // Before the finalizer is removed: a client that waits for that may create the next run of this target, which should start at once.
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
    await this.#forgetOldest();
  }

  async #forgetOldest() {
    const { directory, files, keptRuns } = this.#options;
    const folders = await runFolders(directory.path, files);
    // Some more than that: to look at all of them for each one that ends would be a waste.
    if (folders.length <= keptRuns * 1.1 + this.#open.size) return;
    const all = await Promise.all(folders.map(async (folder) => ({ folder, at: await folder.closedAt() })));
    const closed = all.filter(({ at }) => at !== undefined);
    closed.sort((a, b) => Number(a.at) - Number(b.at));
    for (const { folder } of closed.slice(0, Math.max(0, closed.length - keptRuns))) await folder.remove();
  }

  /** The object of the run is gone, or going: ends its processes. The target stays taken until that is done. */
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
    for (let left = await open.folder.unfinishedSteps(); left.length > 0; left = await open.folder.unfinishedSteps()) {
      this.#options.abandon.throwIfAborted();
      for (const folder of left) {
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

  /** Two runners on one API server must share a data directory; and what its own runner does not end, ends some time. */
  async #foreign(run: PipelineRun, runner: string | undefined): Promise<number | undefined> {
    // An end is written when nothing is alive any more, so any runner may release a run that has one.
    if (isOver(run)) return run.metadata.deletionTimestamp ? await this.#finish(run, undefined) : undefined;
    const { startedAt, timeouts } = toRunWorld(run, new Map(), this.#nowMs());
    const givenUpAt = startedAt + timeouts.pipelineMs + foreignGraceMs;
    if (timeouts.pipelineMs > 0 && this.#nowMs() >= givenUpAt) {
      const message = `its data directory (${runner}) has not answered since its time was up; something of it may be running`;
      return await this.#refuse(run, "PipelineRunTimeout", message);
    }
    this.#options.log.warn("local run belongs to another data directory", { run: run.metadata.uid, directory: runner });
    return foreignLookMs;
  }

  async #recordIsGone(run: PipelineRun, open: OpenRun): Promise<number | undefined> {
    this.#open.delete(open.record.uid);
    const message = `${open.folder.path} is gone; something of the run may still be running`;
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

/** The wall clock as it was when we began, and from then on without jumps: times of one run are compared with it. */
function steadyTime(clock: Clock): () => number {
  const offset = clock.wallMs() - clock.now();
  return () => Math.round(clock.now() + offset);
}

function isOver(run: PipelineRun): boolean {
  return ["True", "False"].includes(succeededCondition(run.status)?.status ?? "");
}

function runKey({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`;
}
