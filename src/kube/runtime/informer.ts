import type { Backoff, Clock, Random } from "../../time/index.ts";
import { type KubeClient, KubeError, type ListQuery } from "../client.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../object.ts";
import { type ChangeHandler, type IndexFunction, ObjectCache } from "./object-cache.ts";
import { errorMessage, type ReportProblem } from "./problem.ts";
import { Reflector } from "./reflector.ts";
import { Subscribers } from "./subscribers.ts";

/**
 * A cache of all objects of one kind, kept current by a watch and read without a request. It may be slightly outdated: use it to
 * find work, and conditional writes to do it. The objects are those of the client, not copies, unless there is a `transform`.
 */
export interface Informer<T extends KubeObject, Index extends string = never> {
  get(ref: ObjectRef): T | undefined;
  list(): readonly T[];
  byIndex(name: Index, key: string): readonly T[];
  /** Calls `handler` for all present objects (as ADDED) and for each later change, until the returned function is called. */
  subscribe(handler: ChangeHandler<T>): () => void;
  readonly hasSynced: boolean;
  /** Resolves after the first list; rejects with `aborted` when stopped before. */
  readonly synced: Promise<void>;
}

export interface InformerOptions<T extends KubeObject, Index extends string = never> {
  readonly client: KubeClient;
  readonly type: ResourceType<T>;
  readonly query?: ListQuery;
  /** Returns the object as it is cached, without fields that no reader needs. Must depend on the object alone. */
  readonly transform?: (object: T) => T;
  readonly indexes?: Readonly<Record<Index, IndexFunction<T>>>;
  readonly clock: Clock;
  readonly random: Random;
  /** Stops the informer and its timers. */
  readonly signal: AbortSignal;
  readonly problem: ReportProblem;
  /** A watch without event or bookmark for this time is opened again. Servers send a bookmark about once a minute. */
  readonly silenceMs?: number;
  /** The delay between watches while they fail. */
  readonly backoff?: Backoff;
}

/** Starts to watch `type` at once. */
export function informer<T extends KubeObject, Index extends string = never>(
  options: InformerOptions<T, Index>,
): Informer<T, Index> {
  const { type, signal, problem, query = {}, silenceMs = 90_000, backoff = defaultBackoff } = options;
  const { transform = (object: T) => object } = options;
  const about = type.plural;
  const subscribers = new Subscribers<T>((error) => {
    problem({ kind: "handler-failed", about, message: `a handler failed: ${errorMessage(error)}`, error });
  });
  const brokenIndexes = new Set<string>();
  const cache = new ObjectCache<T, Index>({
    indexes: options.indexes ?? ({} as Record<Index, IndexFunction<T>>),
    changed: (event, object, previous) => subscribers.notify(event, object, previous),
    indexFailed(index, error) {
      if (brokenIndexes.has(index)) return;
      brokenIndexes.add(index);
      problem({ kind: "index-failed", about, message: `index "${index}" failed: ${errorMessage(error)}`, error });
    },
  });
  const sync = new FirstSync(about, signal);
  const reflector = new Reflector<T>(
    { ...options, query, silenceMs, backoff },
    {
      replace(objects, version) {
        cache.replace(objects.map(transform), version);
        sync.reached();
      },
      put: (object) => cache.put(transform(object)),
      remove: (object) => cache.remove(transform(object)),
    },
  );
  void reflector.run();

  return {
    get: (ref) => cache.get(ref),
    list: () => cache.list(),
    byIndex: (name, key) => cache.byIndex(name, key),
    subscribe: (handler) => subscribers.add(handler, cache.list()),
    get hasSynced() {
      return sync.isReached;
    },
    synced: sync.promise,
  };
}

const defaultBackoff: Backoff = { baseMs: 100, maxMs: 30_000, jitter: 0.5 };

/** The moment at which an informer has received its first list. */
class FirstSync {
  isReached = false;
  readonly promise: Promise<void>;
  #resolve = () => {};

  constructor(what: string, signal: AbortSignal) {
    this.promise = new Promise((resolve, reject) => {
      const abort = () => reject(new KubeError("aborted", `the informer of ${what} was stopped before it had synced`));
      this.#resolve = () => {
        signal.removeEventListener("abort", abort);
        resolve();
      };
      if (signal.aborted) abort();
      else signal.addEventListener("abort", abort, { once: true });
    });
    // Callers need not await it, and an unhandled rejection would end the process.
    this.promise.catch(() => {});
  }

  reached(): void {
    this.isReached = true;
    this.#resolve();
  }
}
