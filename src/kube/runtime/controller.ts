import { Agenda, Appointment, type Backoff, type Clock, type Random, sleep } from "../../time/index.ts";
import type { KubeObject } from "../object.ts";
import type { Informer } from "./informer.ts";
import { isOnlyStallChange } from "./only-stall-change.ts";
import { messageOf, type ReportProblem } from "./problem.ts";
import { type WorkOutcome, WorkQueue } from "./work-queue.ts";

/** Something that says which keys to look at. */
export interface KeySource {
  readonly synced: Promise<void>;
  /** Calls `add` for each key that may need work, those known already first, until the returned function is called. */
  feed(add: (key: string) => void): () => void;
}

/**
 * The keys that a change of an object concerns: of the object as it is, and as it was. A report that work on the object is
 * stalled wakes no key: otherwise each report would cut the backoff short that it describes.
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

/** What metrics are made of. Closed lists and numbers alone, no names. Must not throw. */
export interface ControllerEvents {
  /** How many keys wait for their turn. */
  readonly queueDepth?: (depth: number) => void;
  readonly reconciled?: (outcome: WorkOutcome["kind"], durationMs: number) => void;
  /** How many runs are stuck at the moment. */
  readonly stuck?: (count: number) => void;
}

/** Follows keys that keep failing, so that it can be explained what they wait for. Its functions must not throw. */
export interface StallWatch {
  /** An attempt failed with `error`; the next one is due in `nextAttemptInMs`, or when another program asks for it. */
  failed(key: string, error: unknown, nextAttemptInMs?: number): void;
  /** An attempt succeeded. Returns in how many milliseconds `key` has to be reconciled again, if at all. */
  succeeded(key: string): number | undefined;
}

export interface ControllerOptions {
  /** For reports. */
  readonly name: string;
  readonly sources: readonly KeySource[];
  /**
   * Looks at what `key` names and does what is to be done. Returns in how many milliseconds to look again without being
   * woken, if at all; a throw is tried again with backoff. Never runs twice at a time for one key. Whoever ignores
   * `signal` holds up the shutdown.
   */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<number | undefined>;
  readonly clock: Clock;
  readonly random: Random;
  readonly problem: ReportProblem;
  readonly events?: ControllerEvents;
  readonly stalls?: StallWatch;
  /** Keys worked on at a time; stuck ones do not count. Default 4. */
  readonly concurrency?: number;
  readonly backoff?: Backoff;
  /** A run of this length is reported, and no longer stands in the way of other keys. Default 2 minutes. */
  readonly stuckAfterMs?: number;
}

/** Turns changes into calls of `reconcile`, from its making (but not before its sources have synced) until `stop`. */
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
  #allEnded = () => {};

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
    // Nobody has to wait for it, and a rejection nobody hears of would end the process.
    this.ready.catch(() => {});
  }

  get isReady(): boolean {
    return this.#state === "running";
  }

  /** Has `key` looked at soon, for reasons the sources cannot know. */
  add(key: string): void {
    this.#queue.add(key);
  }

  /**
   * Begins nothing new and waits for what is running. After `deadlineMs` the rest is told through its signal and given
   * `graceMs` to listen. Returns the keys that are running all the same.
   */
  async stop({ deadlineMs, graceMs = 1_000 }: StopOptions): Promise<readonly string[]> {
    this.#state = "stopped";
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#queue.stop();
    this.#options.events?.queueDepth?.(0);
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

  /** Not within the change that woke us: others may belong to it, and a handler of an informer must not wait for work. */
  #startWorkSoon() {
    this.#options.events?.queueDepth?.(this.#queue.depth);
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
    const { clock, events } = this.#options;
    const run = new Run(clock.now(), () => this.#isStuck(key, run));
    this.#running.set(key, run);
    this.#agenda.put(run.appointment, run.startedAt + this.#stuckAfterMs);
    events?.queueDepth?.(this.#queue.depth);

    const { outcome, error } = await this.#outcomeOf(key, run.abort.signal);

    this.#agenda.remove(run.appointment);
    this.#running.delete(key);
    if (run.stuck) this.#countStuck(-1);
    events?.reconciled?.(outcome.kind, clock.now() - run.startedAt);
    const retryInMs = this.#queue.finish(key, outcome);
    if (retryInMs !== undefined) this.#options.stalls?.failed(key, error, retryInMs);
    if (this.#running.size === 0) this.#allEnded();
    this.#startWork();
  }

  async #outcomeOf(key: string, signal: AbortSignal): Promise<{ outcome: WorkOutcome; error?: unknown }> {
    const { reconcile, stalls } = this.#options;
    try {
      const wantedInMs = await reconcile(key, signal);
      const inMs = sooner(wantedInMs, stalls?.succeeded(key));
      if (inMs === undefined) return { outcome: { kind: "done" } };
      if (!Number.isFinite(inMs)) throw new TypeError(`reconcile wants to look again in ${inMs} ms`);
      return { outcome: { kind: "again", inMs } };
    } catch (error) {
      // Who was told to stop and does so has not failed.
      if (!signal.aborted) this.#report("reconcile-failed", key, messageOf(error), error);
      return { outcome: { kind: "failed" }, error };
    }
  }

  #isStuck(key: string, run: Run) {
    run.stuck = true;
    this.#countStuck(+1);
    this.#report("reconcile-stuck", key, `still running after ${this.#stuckAfterMs} ms; its key waits for it`);
    this.#startWork();
  }

  #countStuck(change: 1 | -1) {
    this.#stuck += change;
    this.#options.events?.stuck?.(this.#stuck);
  }

  #report(kind: "reconcile-failed" | "reconcile-stuck", key: string, message: string, error?: unknown) {
    const { problem, name } = this.#options;
    problem({ kind, about: name, key, message, ...(error === undefined ? {} : { error }) });
  }

  /** Whether all that is running ended in time. */
  async #endWithin(ms: number): Promise<boolean> {
    if (this.#running.size === 0) return true;
    const enough = new AbortController();
    this.#allEnded = () => enough.abort();
    await sleep(this.#options.clock, ms, enough.signal).catch(() => {});
    return this.#running.size === 0;
  }
}

function sooner(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

export interface StopOptions {
  readonly deadlineMs: number;
  readonly graceMs?: number;
}

const defaultBackoff: Backoff = { baseMs: 200, maxMs: 300_000, jitter: 0.2 };

/** One call of `reconcile`. */
class Run {
  readonly startedAt: number;
  readonly abort = new AbortController();
  readonly appointment: Appointment;
  stuck = false;

  constructor(startedAt: number, due: () => void) {
    this.startedAt = startedAt;
    this.appointment = new Appointment({ due });
  }
}
