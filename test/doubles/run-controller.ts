import {
  Controller,
  informer,
  type KubeClient,
  KubeError,
  type KubeObject,
  keysFrom,
  type ObjectRef,
  type ResourceType,
} from "../../src/kube/index.ts";
import type { Clock, Random } from "../../src/time/index.ts";

export interface DoubleOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace?: string;
  /** Called with everything that went wrong in the double itself. */
  readonly problem?: (message: string) => void;
}

/** A controller that stands in for a real one. */
export interface RunningDouble {
  /** Ends it, and everything that it runs. */
  stop(): Promise<void>;
}

/** One running run: its controller is the only writer of its status. */
export interface Activity {
  readonly uid: string;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

export interface RunDouble<T extends KubeObject> {
  readonly type: ResourceType<T>;
  /** Looks at a run; returns when to look again by itself. */
  look(run: T, activities: Activities): Promise<number | undefined>;
}

/** What is at work, by namespace and name of the run. */
export class Activities {
  readonly #byKey = new Map<string, Activity>();
  readonly #problem: (message: string) => void;

  constructor(problem: (message: string) => void) {
    this.#problem = problem;
  }

  of(run: KubeObject): Activity | undefined {
    const activity = this.#byKey.get(keyOf(run));
    return activity?.uid === run.metadata.uid ? activity : undefined;
  }

  begin(run: KubeObject, work: (signal: AbortSignal) => Promise<void>) {
    const stop = new AbortController();
    const ended = work(stop.signal).catch((error: unknown) => {
      // Whatever it wanted to write to is gone.
      if (error instanceof KubeError && error.code === "invalid") return;
      if (!stop.signal.aborted) this.#problem(error instanceof Error ? (error.stack ?? error.message) : String(error));
    });
    this.#byKey.set(keyOf(run), { uid: run.metadata.uid ?? "", stop, ended });
  }

  /** Stops what is at work under `key`, unless it is `uid`. */
  endOthers(key: string, uid?: string) {
    const activity = this.#byKey.get(key);
    if (activity && activity.uid !== uid) activity.stop.abort("gone");
  }

  async endAll() {
    const all = [...this.#byKey.values()];
    for (const { stop } of all) stop.abort("gone");
    await Promise.all(all.map(({ ended }) => ended));
  }
}

/** Runs a double on any client, in this process or over HTTP. */
export function runDouble<T extends KubeObject>(double: RunDouble<T>, options: DoubleOptions): RunningDouble {
  const { client, clock, random, namespace } = options;
  const report = options.problem ?? ((message: string) => console.error(message));
  const stop = new AbortController();
  const activities = new Activities(report);
  const runs = informer({
    ...{ client, type: double.type, clock, random, signal: stop.signal },
    ...(namespace && { query: { namespace } }),
    problem: ({ message }) => report(message),
  });
  const controller = new Controller({
    ...{ name: `double of ${double.type.plural}`, clock, random, concurrency: 64 },
    sources: [keysFrom(runs, (run) => [keyOf(run)])],
    problem: ({ message }) => report(message),
    backoff: { baseMs: 5, maxMs: 100, jitter: 0.2 },
    async reconcile(key) {
      const run = await client.get(double.type, refOf(key));
      activities.endOthers(key, run?.metadata.uid);
      return run && (await double.look(run, activities));
    },
  });
  return {
    async stop() {
      await controller.stop({ deadlineMs: 1_000 });
      await activities.endAll();
      stop.abort();
    },
  };
}

/** Changes the status of this very object: a run that took its name is left alone, and the write throws `invalid`. */
export async function writeStatus<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  object: T,
  status: object,
): Promise<T | undefined> {
  const { uid } = object.metadata;
  const patch = { merge: { metadata: { uid }, status } };
  const outcome = await client.patch(type, refOf(keyOf(object)), patch, { subresource: "status" });
  return outcome.kind === "updated" ? outcome.object : undefined;
}

/** As Kubernetes writes times: whole seconds. */
export function timeText(clock: Clock): string {
  return new Date(clock.wallMs()).toISOString().replace(/\.\d+Z$/, "Z");
}

function keyOf({ metadata: { namespace = "", name = "" } }: KubeObject): string {
  return `${namespace}/${name}`;
}

function refOf(key: string): ObjectRef {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}
