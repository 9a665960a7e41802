import { describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { Chance } from "../../../test/sim/chance.ts";
import type { KubeObject, ResourceType } from "../object.ts";
import { Controller, type ControllerOptions, keysFrom } from "./controller.ts";
import { informer } from "./informer.ts";
import type { Problem } from "./problem.ts";

describe("a controller", () => {
  it("is ready and starts to work when all its informers have synced", async () => {
    const { control, source } = setUp();
    const [slow, fast] = [source(), source()];
    const { controller, started } = control({ sources: [slow, fast] });
    fast.sync();
    fast.add("a");
    await settle();
    expect([controller.isReady, started]).toEqual([false, []]);

    slow.sync();
    await controller.ready;
    await settle();

    expect([controller.isReady, started]).toEqual([true, ["a"]]);
  });

  it("is never ready when an informer was stopped before it had synced", async () => {
    const { control, source } = setUp();
    const broken = source();
    const { controller } = control({ sources: [broken] });

    broken.fail(new Error("stopped"));

    await expect(controller.ready).rejects.toThrow("stopped");
    expect(controller.isReady).toBe(false);
  });

  it("reconciles the keys of the current and the previous object for each change", async () => {
    const { clock, random, control, cluster } = setUp();
    const client = cluster.client();
    const stop = new AbortController();
    const informed = informer({ client, type: things, clock, random, signal: stop.signal, problem() {} });
    const { started } = control({ sources: [keysFrom(informed, ({ data }) => [data.owner])] });
    const object = (owner: string) => ({ metadata: { name: "a", namespace: "default" }, data: { owner } });

    await client.create(things, object("ann"));
    await settle();
    await client.update(things, object("bob"));
    await settle();
    await client.delete(things, { namespace: "default", name: "a" });
    await settle();

    expect(started).toEqual(["ann", "bob", "ann", "bob"]);
    stop.abort();
  });

  it("works on at most the maximum number of keys at a time, and never twice on one key", async () => {
    const { control } = setUp();
    const { controller, started, end } = control({ concurrency: 2, waits: true });
    await settle();

    for (const key of ["a", "a", "b", "c"]) controller.add(key);
    await settle();
    controller.add("a");
    await settle();
    expect(started).toEqual(["a", "b"]);
    end("a");
    await settle();
    expect(started).toEqual(["a", "b", "c"]);
    end("b");
    await settle();

    expect(started).toEqual(["a", "b", "c", "a"]);
  });

  it("reconciles again after the delay that reconcile returns", async () => {
    const { clock, control } = setUp();
    const { controller, started } = control({ reconcile: async () => 5_000 });
    controller.add("a");
    await settle();

    await clock.advance(4_999);
    expect(started).toEqual(["a"]);
    await clock.advance(11);

    expect(started).toEqual(["a", "a"]);
  });

  it("lets other work of the process run while a key is requeued without a delay", async () => {
    const { control, clock } = setUp();
    const { controller, started } = control({ reconcile: async () => 0 });

    controller.add("a");
    await settle();
    expect(started).toHaveLength(1);
    await clock.advance(100);

    expect(started.length).toBeLessThanOrEqual(11);
  });

  it("retries a failed key with growing delays, and reports each failure", async () => {
    const { clock, control, problems } = setUp();
    const reconcile = async (key: string) => {
      if (key === "bad") throw new Error("no");
      return undefined;
    };
    const { controller, started } = control({ reconcile, backoff: { baseMs: 100, maxMs: 10_000, jitter: 0 } });

    controller.add("bad");
    controller.add("good");
    await clock.advance(1_600);

    expect(started.filter((key) => key === "good")).toHaveLength(1);
    expect(started.filter((key) => key === "bad")).toHaveLength(5);
    expect(problems).toHaveLength(5);
    expect(problems[0]).toMatchObject({ kind: "reconcile-failed", about: "test", key: "bad", message: "no" });
  });

  it("treats a synchronous throw and an invalid delay as failures", async () => {
    const { control, problems } = setUp();
    const { controller } = control({
      reconcile(key) {
        if (key === "sync") throw new Error("at once");
        return Promise.resolve(Number.NaN);
      },
    });

    controller.add("sync");
    controller.add("nan");
    await settle();

    expect(problems.map(({ message }) => message)).toEqual(["at once", "reconcile returned an invalid delay: NaN ms"]);
  });

  it("continues with other keys while any number of keys is stuck, and reports each once", async () => {
    const { clock, control, problems } = setUp();
    const { controller, started, end } = control({ concurrency: 2, waits: true, stuckAfterMs: 60_000 });
    for (const key of ["a", "b", "c"]) controller.add(key);
    await clock.advance(59_000);
    expect(started).toEqual(["a", "b"]);

    await clock.advance(2_000);
    controller.add("a");
    await settle();

    expect(started).toEqual(["a", "b", "c"]);
    expect(problems.map(({ kind, key }) => `${kind} ${key}`).sort()).toEqual([
      "reconcile-stuck a",
      "reconcile-stuck b",
    ]);
    end("a");
    await settle();
    expect(started).toEqual(["a", "b", "c", "a"]);
  });
});

describe("a controller that is stopped", () => {
  it("starts nothing new and waits for running calls", async () => {
    const { clock, control, source } = setUp();
    const keys = source();
    keys.sync();
    const { controller, started, signals, end } = control({ sources: [keys], concurrency: 1, waits: true });
    await settle();
    keys.add("a");
    keys.add("b");
    await settle();

    const stopped = controller.stop({ deadlineMs: 10_000 });
    keys.add("c");
    await clock.advance(5_000);
    end("a");

    expect(await stopped).toEqual([]);
    expect(started).toEqual(["a"]);
    expect(signals.get("a")?.aborted).toBe(false);
    expect(controller.isReady).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });

  it("aborts calls after the deadline, and returns the keys of those that still run", async () => {
    const { clock, control, problems } = setUp();
    const { controller } = control({
      reconcile: (key, signal) =>
        new Promise((_, reject) => {
          if (key === "polite") signal.addEventListener("abort", () => reject(new Error("stopped")));
        }),
    });
    controller.add("polite");
    controller.add("deaf");
    await settle();

    const stopped = controller.stop({ deadlineMs: 10_000, graceMs: 500 });
    await clock.advance(10_500);

    expect(await stopped).toEqual(["deaf"]);
    expect(problems).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("never starts when it was stopped before its informers had synced", async () => {
    const { control, source } = setUp();
    const keys = source();
    const { controller, started } = control({ sources: [keys] });
    keys.add("a");

    expect(await controller.stop({ deadlineMs: 1_000 })).toEqual([]);
    keys.sync();
    await settle();

    expect([started, controller.isReady]).toEqual([[], false]);
  });
});

interface Thing extends KubeObject {
  readonly data: { readonly owner: string };
}

const things: ResourceType<Thing> = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

function setUp() {
  const clock = new ManualClock();
  const random = new Chance(1);
  const problems: Problem[] = [];
  return { clock, random, problems, source, control, cluster: testCluster({ clock, random }) };

  /** `waits`: a run lasts until `end(key)`. */
  function control({ waits, ...options }: Partial<ControllerOptions> & { readonly waits?: boolean } = {}) {
    const started: string[] = [];
    const signals = new Map<string, AbortSignal>();
    const ends = new Map<string, () => void>();
    const { reconcile = async () => undefined } = options;
    const controller = new Controller({
      ...{ name: "test", sources: [], clock, random },
      problem: (problem) => problems.push(problem),
      ...options,
      reconcile(key, signal) {
        started.push(key);
        signals.set(key, signal);
        if (!waits) return reconcile(key, signal);
        return new Promise((resolve) => ends.set(key, () => resolve(undefined)));
      },
    });
    return { controller, started, signals, end: (key: string) => ends.get(key)?.() };
  }
}

/** Keys by hand. */
function source() {
  let hasSynced = false;
  let sync = () => {};
  let fail: (error: Error) => void = () => {};
  let add: ((key: string) => void) | undefined;
  const synced = new Promise<void>((resolve, reject) => {
    sync = resolve;
    fail = reject;
  });
  return {
    get hasSynced() {
      return hasSynced;
    },
    synced,
    feed(listener: (key: string) => void) {
      add = listener;
      return () => {
        add = undefined;
      };
    },
    add: (key: string) => add?.(key),
    fail,
    sync() {
      hasSynced = true;
      sync();
    },
  };
}
