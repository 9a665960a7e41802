import { Agenda, Appointment, type Backoff, type Clock, type Random, sleep } from "../../time/index.ts";
import type { KubeObject } from "../object.ts";
import { soonest } from "./decision.ts";
import type { Informer } from "./informer.ts";
import { isOnlyStallChange } from "./only-stall-change.ts";
import { errorMessage, type ReportProblem } from "./problem.ts";
import { type WorkOutcome, WorkQueue } from "./work-queue.ts";

/** A source of keys to reconcile. */
export interface KeySource {
  readonly synced: Promise<void>;
  /** Calls `add` for each key that may need work, existing ones first, until the returned function is called. */
  feed(add: (key: string) => void): () => void;
}

/**
 * Returns the keys of each changed object, of its current and its previous version. A change that only reports a stall wakes
 * no key: otherwise each report would cut short the backoff that it describes.
 */
export function keysFrom<T extends KubeObject, Index extends string>(
  informer: Informer<T, Index>,
  keysOf: (object: T) => readonly string[],
): KeySource {
  return {
    synced: informer.synced,
    feed: (add) =>
      informer.subscribe((_event, object, previous) => {
        if (previous && isOnlyStallChange(previous, object)) return;
        const keys = new Set(keysOf(object));
        if (previous) for (const key of keysOf(previous)) keys.add(key);
        for (const key of keys) add(key);
      }),
  };
}

/** A source without keys: work does not begin before it has synced. */
export function onlySynced({ synced }: Pick<KeySource, "synced">): KeySource {
  return { synced, feed: () => () => {} };
}

/** Observes keys that keep failing, so that their state can be reported. Its functions must not throw. */
export interface StallWatch {
  /** An attempt failed with `error`; the next one is due in `nextAttemptInMs`, or when the object changes. */
  failed(key: string, error: unknown, nextAttemptInMs?: number): void;
  /** An attempt succeeded. Returns in how many milliseconds `key` has to be reconciled again, if at all. */
  succeeded(key: string): number | undefined;
}

/** Nothing was attempted: whether attempts fail remains as it was. `inMs`: when to reconcile again without an event. */
export interface Skipped {
  readonly kind: "skipped";
  readonly inMs: number;
}

export interface ControllerOptions {
  /** The name of the controller in reported problems. */
  readonly name: string;
  readonly sources: readonly KeySource[];
  /**
   * Reconciles the object of `key`. Returns in how many milliseconds to reconcile again without an event, if at all, or that it
   * attempted nothing; an error is retried with backoff. Never runs twice at a time for one key. Ignoring `signal` delays the
   * shutdown.
   */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<number | undefined | Skipped>;
  readonly clock: Clock;
  readonly random: Random;
  readonly problem: ReportProblem;
  readonly stalls?: StallWatch;
  /** The maximum number of keys at a time; stuck ones do not count. Default 4. */
  readonly concurrency?: number;
  readonly backoff?: Backoff;
  /** A call that takes longer is reported as stuck, and no longer counts for `concurrency`. Default 2 minutes. */
  readonly stuckAfterMs?: number;
}

/** Calls `reconcile` for the keys of its sources, from the moment when all have synced until `stop`. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  readonly #agenda: Agenda;
  readonly #concurrency: number;
  readonly #stuckAfterMs: number;
  readonly #running = new Map<string, Run>();
  #stuck = 0;
  #isStarting = false;
  #state: "syncing" | "running" | "stopped" = "syncing";
  readonly #unsubscribe: readonly (() => void)[];
  #onAllEnded = () => {};

  /** Resolves when all sources have synced and work begins; rejects when one of them was stopped before. */
  readonly ready: Promise<void>;

  constructor(options: ControllerOptions) {
    const { clock, random, sources, concurrency = 4, backoff = defaultBackoff, stuckAfterMs = 120_000 } = options;
    this.#options = options;
    this.#concurrency = concurrency;
    this.#stuckAfterMs = stuckAfterMs;
    this.#agenda = new Agenda(clock, 100, { background: true });
    this.#queue = new WorkQueue({ clock, random, backoff, ready: () => this.#startWorkSoon() });
    this.#unsubscribe = sources.map((source) => source.feed((key) => this.add(key)));
    this.ready = Promise.all(sources.map(({ synced }) => synced)).then(() => this.#begin());
    // Callers need not await it, and an unhandled rejection would end the process.
    this.ready.catch(() => {});
  }

  get isReady(): boolean {
    return this.#state === "running";
  }

  /** Queues `key` for a reason that is not in the sources. */
  add(key: string): void {
    this.#queue.add(key);
  }

  /**
   * Starts nothing new and waits for running calls. After `deadlineMs` the rest is aborted by its signal and has `graceMs` to
   * end. Returns the keys whose calls still run.
   */
  async stop({ deadlineMs, graceMs = 1_000 }: StopOptions): Promise<readonly string[]> {
    this.#state = "stopped";
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#queue.stop();
    if (!(await this.#endWithin(deadlineMs))) {
      for (const { abort } of this.#running.values()) abort.abort();
      await this.#endWithin(graceMs);
    }
    for (const { appointment } of this.#running.values()) this.#agenda.remove(appointment);
    return [...this.#running.keys()];
  }

  #begin() {
    if (this.#state !== "syncing") return;
    this.#state = "running";
    this.#startWork();
  }

  /** Starts work after the current change: other changes may belong to it, and an informer's handler must not block. */
  #startWorkSoon() {
    if (this.#isStarting) return;
    this.#isStarting = true;
    void Promise.resolve().then(() => {
      this.#isStarting = false;
      this.#startWork();
    });
  }

  #startWork() {
    if (this.#state !== "running") return;
    while (this.#running.size - this.#stuck < this.#concurrency) {
      const key = this.#queue.take();
      if (key === undefined) return;
      void this.#run(key);
    }
  }

  async #run(key: string) {
    const run = new Run(() => this.#markStuck(key, run));
    this.#running.set(key, run);
    this.#agenda.put(run.appointment, this.#options.clock.now() + this.#stuckAfterMs);

    const { outcome, error } = await this.#reconcile(key, run.abort.signal);

    this.#agenda.remove(run.appointment);
    this.#running.delete(key);
    if (run.stuck) this.#stuck--;
    const retryInMs = this.#queue.finish(key, outcome);
    if (retryInMs !== undefined) this.#options.stalls?.failed(key, error, retryInMs);
    if (this.#running.size === 0) this.#onAllEnded();
    this.#startWork();
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<{ outcome: WorkOutcome; error?: unknown }> {
    const { reconcile, stalls } = this.#options;
    try {
      const result = await reconcile(key, signal);
      if (typeof result === "object") return { outcome: result };
      const inMs = soonest(result, stalls?.succeeded(key));
      if (inMs === undefined) return { outcome: { kind: "done" } };
      if (!Number.isFinite(inMs)) throw new TypeError(`reconcile returned an invalid delay: ${inMs} ms`);
      return { outcome: { kind: "again", inMs } };
    } catch (error) {
      // A call that ends because it was aborted has not failed.
      if (!signal.aborted) this.#report("reconcile-failed", key, errorMessage(error), error);
      return { outcome: { kind: "failed" }, error };
    }
  }

  #markStuck(key: string, run: Run) {
    run.stuck = true;
    this.#stuck++;
    this.#report("reconcile-stuck", key, `still running after ${this.#stuckAfterMs} ms; its key waits for it`);
    this.#startWork();
  }

  #report(kind: "reconcile-failed" | "reconcile-stuck", key: string, message: string, error?: unknown) {
    const { problem, name } = this.#options;
    problem({ kind, about: name, key, message, ...(error === undefined ? {} : { error }) });
  }

  /** Waits for running calls. Returns whether all ended in time. */
  async #endWithin(ms: number): Promise<boolean> {
    if (this.#running.size === 0) return true;
    const enough = new AbortController();
    this.#onAllEnded = () => enough.abort();
    await sleep(this.#options.clock, ms, enough.signal).catch(() => {});
    return this.#running.size === 0;
  }
}

export interface StopOptions {
  readonly deadlineMs: number;
  readonly graceMs?: number;
}

const defaultBackoff: Backoff = { baseMs: 200, maxMs: 300_000, jitter: 0.2 };

/** One call of `reconcile`. */
class Run {
  readonly abort = new AbortController();
  readonly appointment: Appointment;
  stuck = false;

  constructor(due: () => void) {
    this.appointment = new Appointment({ due });
  }
}
