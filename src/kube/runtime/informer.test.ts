import { describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { Chance } from "../../../test/sim/chance.ts";
import { type KubeClient, KubeError, type WatchEvent } from "../client.ts";
import type { KubeObject, ResourceType } from "../object.ts";
import { type Informer, type InformerOptions, informer } from "./informer.ts";
import type { Problem } from "./problem.ts";

describe("an informer", () => {
  it("has the existing objects once it has synced, and later changes", async () => {
    const { cluster, follow, write, clock } = setUp();
    await write("a", "red");
    const { informed, changes } = follow();
    expect(informed.hasSynced).toBe(false);

    await informed.synced;
    await write("a", "blue");
    await write("b", "red");
    await cluster.client().delete(things, { namespace, name: "a" });
    await settle();

    expect(informed.hasSynced).toBe(true);
    expect(changes).toEqual(["ADDED a red", "MODIFIED a blue", "ADDED b red", "DELETED a blue"]);
    expect(informed.list().map(({ metadata }) => metadata.name)).toEqual(["b"]);
    expect(informed.get({ namespace, name: "a" })).toBeUndefined();
    expect(clock.pendingTimers).toBe(1);
  });

  it("finds objects by their current index keys only", async () => {
    const { follow, write } = setUp();
    const { informed } = follow();
    await write("a", "red");
    await write("b", "red");

    await write("a", "blue");
    await settle();

    expect(namesOf(informed.byIndex("colour", "red"))).toEqual(["b"]);
    expect(namesOf(informed.byIndex("colour", "blue"))).toEqual(["a"]);
    expect(informed.byIndex("colour", "green")).toEqual([]);
    expect(() => informed.byIndex("size" as "colour", "1")).toThrow('no index "size"');
  });

  it("returns the objects of its client, not copies", async () => {
    const { cluster, follow, write } = setUp();
    await write("a", "red");
    const { informed } = follow();

    await informed.synced;

    const ref = { namespace, name: "a" };
    expect(informed.get(ref)).toBe(await cluster.client().get(things, ref));
    expect(informed.byIndex("colour", "red")[0]).toBe(informed.get(ref));
  });

  it("caches transformed objects, from the list and from the watch", async () => {
    const { cluster, follow, write } = setUp();
    await write("a", "red");
    const { informed, changes } = follow({
      transform: (thing) => ({ ...thing, data: { colour: `${thing.data.colour}ish` } }),
    });

    await informed.synced;
    await write("a", "blue");
    await cluster.client().delete(things, { namespace, name: "a" });
    await write("b", "green");

    expect(changes).toEqual(["ADDED a redish", "MODIFIED a blueish", "DELETED a blueish", "ADDED b greenish"]);
    expect(namesOf(informed.byIndex("colour", "greenish"))).toEqual(["b"]);
  });

  it("sends a late subscriber all present objects, and nothing after it has unsubscribed", async () => {
    const { follow, write } = setUp();
    const { informed } = follow();
    await write("a", "red");
    await settle();
    const late: string[] = [];

    const leave = informed.subscribe((event, object) => void late.push(line(event, object)));
    await write("a", "blue");
    await settle();
    leave();
    await write("a", "green");
    await settle();

    expect(late).toEqual(["ADDED a red", "MODIFIED a blue"]);
  });

  it("reports an object that was deleted and created again with its name as two objects, though the watch missed both", async () => {
    const { cluster, follow, write, clock } = setUp();
    await write("a", "red");
    const { informed, changes } = follow();
    await informed.synced;
    const before = informed.get({ namespace, name: "a" });

    await cluster.client().delete(things, { namespace, name: "a" });
    await write("a", "red");
    cluster.compact();
    await clock.advance(1_000);

    expect(changes).toEqual(["ADDED a red", "DELETED a red", "ADDED a red"]);
    expect(informed.get({ namespace, name: "a" })?.metadata.uid).not.toBe(before?.metadata.uid);
  });

  it("continues where a stream ended, without another list", async () => {
    const { cluster, follow, write, clock, calls } = setUp();
    const { changes } = follow();
    await clock.advance(5_000);

    cluster.dropWatches();
    await write("a", "red");
    await clock.advance(1_000);

    expect(changes).toEqual(["ADDED a red"]);
    expect(calls.filter((call) => call === "list")).toHaveLength(1);
  });

  it("continues from the last bookmark", async () => {
    const { follow, clock, calls } = setUp({
      async *watch({ signal }) {
        yield { type: "BOOKMARK", resourceVersion: "5000" };
        await aborted(signal);
      },
    });
    follow({ silenceMs: 10_000 });

    await clock.advance(11_000);

    expect(calls).toEqual(["list", "watch 101", "watch 5000"]);
  });

  it("lists again when the version to continue from is gone", async () => {
    const { cluster, follow, write, clock, calls } = setUp();
    const { changes } = follow();
    await settle();

    cluster.compact();
    await write("a", "red");
    await clock.advance(1_000);

    expect(changes).toEqual(["ADDED a red"]);
    expect(calls.filter((call) => call === "list")).toHaveLength(2);
  });

  it("opens a new watch after too long a silence, which is no problem", async () => {
    const { follow, clock, calls, problems } = setUp({ watch: ({ signal }) => nothingUntil(signal) });
    follow({ silenceMs: 10_000 });

    await clock.advance(9_999);
    expect(calls).toEqual(["list", "watch 101"]);
    await clock.advance(30_000);

    expect(calls.length).toBeGreaterThanOrEqual(4);
    expect(problems).toEqual([]);
  });

  it("keeps a watch that receives an event within the time", async () => {
    const { follow, write, clock, calls } = setUp();
    follow({ silenceMs: 10_000 });

    for (let i = 0; i < 10; i++) {
      await clock.advance(9_000);
      await write("a", i % 2 ? "red" : "blue");
    }

    expect(calls).toEqual(["list", "watch 101"]);
  });

  it("watches with growing delays when the server closes each watch at once", async () => {
    const { follow, clock, calls } = setUp({
      async *watch() {
        yield { type: "BOOKMARK", resourceVersion: "5000" };
      },
    });
    follow();

    await clock.advance(60_000);

    expect(calls.length).toBeLessThan(15);
  });

  it("watches again soon after a watch that worked for long", async () => {
    const { cluster, follow, clock, calls } = setUp();
    follow();

    for (let i = 0; i < 10; i++) {
      await clock.advance(60_000);
      cluster.dropWatches();
      await clock.advance(200);
    }

    expect(calls).toHaveLength(12);
  });

  it("reports a refusal once, and retries slowly until it is allowed", async () => {
    const { cluster, follow, clock, calls, problems } = setUp();
    cluster.forbid("list", "configmaps");
    const { informed } = follow();

    await clock.advance(180_000);

    expect(informed.hasSynced).toBe(false);
    expect(calls.length).toBeLessThanOrEqual(180_000 / 15_000 + 1);
    expect(problems).toEqual([
      expect.objectContaining({
        kind: "forbidden",
        about: "configmaps",
        message: expect.stringContaining(
          'cannot list resource "configmaps" in API group "" in the namespace "default"',
        ),
      }),
    ]);
  });

  it("reports an outage once, and the next one again", async () => {
    let down = true;
    const { cluster, follow, write, clock, problems } = setUp({ failList: () => down });
    const { informed } = follow();
    await clock.advance(60_000);
    expect(problems.map(({ kind }) => kind)).toEqual(["unavailable"]);

    down = false;
    await clock.advance(60_000);
    await write("a", "red");
    expect(namesOf(informed.list())).toEqual(["a"]);
    down = true;
    cluster.compact();
    await clock.advance(60_000);

    expect(problems.map(({ kind }) => kind)).toEqual(["unavailable", "unavailable"]);
  });

  it("ignores a list that is older than its objects", async () => {
    const { cluster, follow, write, clock, problems, lag } = setUp();
    const { informed } = follow();
    await write("a", "red");
    await settle();

    lag(50);
    cluster.compact();
    await clock.advance(10_000);

    expect(namesOf(informed.list())).toEqual(["a"]);
    expect(problems).toEqual([expect.objectContaining({ message: expect.stringContaining("older than") })]);
    lag(0);
    await write("b", "red");
    await clock.advance(60_000);
    expect(namesOf(informed.list())).toEqual(["a", "b"]);
  });

  it("compares versions as integers, however long", async () => {
    const { follow } = setUp({
      async *watch({ signal }) {
        yield { type: "ADDED", object: thing("a", "old", "9") };
        yield { type: "ADDED", object: thing("a", "red", "9007199254740993") };
        yield { type: "MODIFIED", object: thing("a", "older", "9007199254740992") };
        yield { type: "MODIFIED", object: thing("a", "blue", "10000000000000000") };
        await aborted(signal);
      },
    });

    const { changes } = follow();
    await settle();

    expect(changes).toEqual(["ADDED a red", "MODIFIED a blue"]);
  });

  it("continues to call all handlers after one has thrown, and reports it once", async () => {
    const { follow, write, problems } = setUp();
    const { informed, changes } = follow();
    let calls = 0;
    informed.subscribe(() => {
      calls++;
      throw new Error("oh");
    });
    const failsLater: () => void = () => Promise.reject(new Error("later"));
    informed.subscribe(failsLater);

    for (const colour of ["red", "green", "blue"]) await write("a", colour);
    await settle();

    expect(changes).toEqual(["ADDED a red", "MODIFIED a green", "MODIFIED a blue"]);
    expect(calls).toBe(3);
    expect(problems.map(({ message }) => message)).toEqual(["a handler failed: oh", "a handler failed: later"]);
  });

  it("continues when an index function throws, and reports it once", async () => {
    const { follow, write, problems } = setUp();
    const colour = () => {
      throw new Error("colourless");
    };
    const { informed } = follow({ indexes: { colour } });

    await write("a", "red");
    await write("b", "red");
    await settle();

    expect(namesOf(informed.list())).toEqual(["a", "b"]);
    expect(informed.byIndex("colour", "red")).toEqual([]);
    expect(problems.map(({ kind }) => kind)).toEqual(["index-failed"]);
  });

  it.each(["before it has synced", "while it watches", "while it waits to try again"])(
    "leaves no timer when it is stopped %s",
    async (when) => {
      let down = false;
      const { follow, clock, write } = setUp({ failList: () => down });
      down = when === "while it waits to try again";
      const { informed, changes, stop } = follow();
      if (when !== "before it has synced") await settle();

      stop();
      await write("a", "red");
      await settle();

      expect(clock.pendingTimers).toBe(0);
      expect(changes).toEqual([]);
      if (when !== "while it watches") await expect(informed.synced).rejects.toMatchObject({ code: "aborted" });
    },
  );
});

interface Thing extends KubeObject {
  readonly data: { readonly colour: string };
}

interface Script {
  /** What a watch brings instead of what happens. */
  readonly watch?: (call: { readonly signal: AbortSignal }) => AsyncIterable<WatchEvent<Thing>>;
  readonly failList?: () => boolean;
}

const things: ResourceType<Thing> = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const namespace = "default";

function setUp(script: Script = {}) {
  const clock = new ManualClock();
  const random = new Chance(1);
  const cluster = testCluster({ clock, random });
  const calls: string[] = [];
  const problems: Problem[] = [];
  let lagging = 0;
  const direct = cluster.client();
  const client = {
    ...direct,
    async list(type, query, call) {
      calls.push("list");
      if (script.failList?.()) throw new KubeError("unavailable", "no answer");
      const list = await direct.list(type, query, call);
      return { ...list, resourceVersion: String(Number(list.resourceVersion) - lagging) };
    },
    watch(type, query, call) {
      calls.push(`watch ${query.resourceVersion}`);
      return script.watch?.({ signal: call?.signal as AbortSignal }) ?? direct.watch(type, query, call);
    },
  } as KubeClient;

  return {
    clock,
    cluster,
    calls,
    problems,
    lag(versions: number) {
      lagging = versions;
    },
    async write(name: string, colour: string) {
      const object = { metadata: { name, namespace }, data: { colour } };
      const { kind } = await direct.create(things, object);
      if (kind === "already-exists") await direct.update(things, object);
      await settle();
    },
    follow(options: Partial<InformerOptions<Thing, "colour">> = {}) {
      const abort = new AbortController();
      const changes: string[] = [];
      const informed: Informer<Thing, "colour"> = informer({
        ...{ client, type: things, query: { namespace }, clock, random, signal: abort.signal },
        indexes: { colour: ({ data }: Thing) => [data.colour] },
        problem: (problem) => problems.push(problem),
        ...options,
      });
      informed.subscribe((event, object) => void changes.push(line(event, object)));
      return { informed, changes, stop: () => abort.abort() };
    },
  };
}

function thing(name: string, colour: string, resourceVersion: string): Thing {
  return { metadata: { name, namespace, uid: `${name}-1`, resourceVersion }, data: { colour } };
}

function line(event: string, { metadata, data }: Thing): string {
  return `${event} ${metadata.name} ${data.colour}`;
}

function namesOf(objects: readonly Thing[]) {
  return objects.map(({ metadata }) => metadata.name);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

async function* nothingUntil(signal: AbortSignal): AsyncGenerator<never> {
  await aborted(signal);
  yield* [];
}
