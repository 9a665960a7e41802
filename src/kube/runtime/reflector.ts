import { type Backoff, backoffMs, type Clock, type Random, sleep } from "../../time/index.ts";
import { type KubeClient, KubeError, type ListQuery, type WatchEvent } from "../client.ts";
import type { KubeObject, ResourceType } from "../object.ts";
import { versionOf } from "./object-cache.ts";
import { errorMessage, type ProblemKind, type ReportProblem } from "./problem.ts";
import { SilenceTimer } from "./silence-timer.ts";

/** Receives the objects of a reflector. */
export interface Mirror<T> {
  /** Receives the complete list as of `version`. Changes after it follow when the promise, if any, has resolved. */
  replace(objects: readonly T[], version: bigint): void | Promise<void>;
  put(object: T): void;
  remove(object: T): void;
  /** Receives a version without a change of an object: the mirror has every change up to it. */
  progress?(version: bigint): void;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly type: ResourceType<T>;
  readonly query: ListQuery;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly problem: ReportProblem;
  readonly silenceMs: number;
  readonly backoff: Backoff;
}

/**
 * Keeps a mirror equal to the server's objects, through all failures: one list, then watches that continue where the last one
 * ended, and another list only when the server cannot continue from there.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #mirror: Mirror<T>;
  /** The mirror has every change up to this version, which never decreases. */
  #version = 0n;
  #mustList = true;
  #isWatching = false;
  /** The kinds of problems that were reported since the last success. */
  readonly #reported = new Set<ProblemKind>();

  constructor(options: ReflectorOptions<T>, mirror: Mirror<T>) {
    this.#options = options;
    this.#mirror = mirror;
  }

  /** Whether a watch is open, or being opened, after the list. False during the delay after a failed one. */
  get isWatching(): boolean {
    return this.#isWatching;
  }

  /** Runs until the signal aborts. */
  async run(): Promise<void> {
    const { clock, random, signal, backoff } = this.#options;
    let pauseMs = 0;
    for (let failures = 1; !signal.aborted; failures++) {
      const { livedMs, error } = await this.#listAndWatch();
      if (signal.aborted) return;

      // A stream that lasted longer than the delay before it resets the backoff; one that is closed at once does not.
      if (livedMs > Math.max(pauseMs, minLivedMs)) failures = 1;
      if (error !== undefined) this.#handleError(error);
      pauseMs = backoffMs(isRefusal(error) ? Number.POSITIVE_INFINITY : failures, backoff, random.fraction());
      await sleep(clock, pauseMs, signal).catch(() => {});
    }
  }

  /** Returns how long the watch worked, and the error that ended it, if any. */
  async #listAndWatch(): Promise<{ readonly livedMs: number; readonly error?: unknown }> {
    const { clock } = this.#options;
    const stream: Stream = { openedAt: undefined, hasEvents: false };
    const livedMs = () => (stream.openedAt === undefined ? 0 : clock.now() - stream.openedAt);
    try {
      if (this.#mustList) await this.#list();
      stream.openedAt = clock.now();
      await this.#watch(stream);
      if (livedMs() > minLivedMs) this.#reported.clear();
      return { livedMs: livedMs() };
    } catch (error) {
      // A slow response that is an error does not count as a working stream.
      return { livedMs: stream.hasEvents ? livedMs() : 0, error };
    }
  }

  async #list() {
    const { client, type, query, signal } = this.#options;
    const { items, resourceVersion } = await client.list(type, query, { signal });
    if (signal.aborted) return;

    const version = BigInt(resourceVersion);
    // From a server replica that lags behind: this list would revert objects to older versions.
    if (version < this.#version) {
      const message = `the list is of version ${version}, older than ${this.#version}, which was seen before; if the server was restored from a backup, restart this process`;
      throw new KubeError("unavailable", message);
    }
    this.#version = version;
    this.#mustList = false;
    const replaced = this.#mirror.replace(items, version);
    if (replaced !== undefined) await replaced;
  }

  async #watch(stream: Stream) {
    const { client, type, query, clock, signal, silenceMs } = this.#options;
    // A signal that aborted during the list calls no listener any more.
    if (signal.aborted) return;
    const dropped = new AbortController();
    const drop = () => dropped.abort();
    // Not a problem by itself: an API server sends no bookmark while its etcd reports no progress.
    const silence = new SilenceTimer(clock, silenceMs, drop);
    signal.addEventListener("abort", drop);
    this.#isWatching = true;
    try {
      const from = { ...query, resourceVersion: String(this.#version) };
      for await (const event of client.watch(type, from, { signal: dropped.signal })) {
        if (dropped.signal.aborted) return;
        silence.reset();
        if (!stream.hasEvents) this.#reported.clear();
        stream.hasEvents = true;
        this.#apply(event);
      }
    } finally {
      this.#isWatching = false;
      silence.stop();
      signal.removeEventListener("abort", drop);
    }
  }

  #apply(event: WatchEvent<T>) {
    const version = event.type === "BOOKMARK" ? BigInt(event.resourceVersion) : versionOf(event.object);
    // A stream is in order of versions, so this event was received before; applying it could restore a deleted object.
    if (version <= this.#version) return;
    this.#version = version;
    if (event.type === "BOOKMARK") return this.#mirror.progress?.(version);
    if (event.type === "DELETED") this.#mirror.remove(event.object);
    else this.#mirror.put(event.object);
  }

  #handleError(error: unknown) {
    const code = error instanceof KubeError ? error.code : "unavailable";
    // The version is too old, or not understood by this server: continue with a list.
    if (code === "gone" || code === "invalid") this.#mustList = true;
    if (code === "forbidden" || code === "invalid" || code === "unavailable") {
      this.#report(code, errorMessage(error), error);
    }
  }

  #report(kind: ProblemKind, message: string, error?: unknown) {
    if (this.#reported.has(kind)) return;
    this.#reported.add(kind);
    this.#options.problem({
      kind,
      about: this.#options.type.plural,
      message,
      ...(error === undefined ? {} : { error }),
    });
  }
}

/** A watch that ends sooner does not count as one that worked. */
const minLivedMs = 1_000;

interface Stream {
  openedAt: number | undefined;
  hasEvents: boolean;
}

/** Whether the server refused the request, which an early retry would not change. */
function isRefusal(error: unknown): boolean {
  return error instanceof KubeError && (error.code === "forbidden" || error.code === "invalid");
}
