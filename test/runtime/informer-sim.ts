import type { KubeClient, KubeObject, ResourceType, WatchEvent } from "../../src/kube/index.ts";
import type { informer as realInformer } from "../../src/kube/runtime/informer.ts";
import type { ChangeEvent } from "../../src/kube/runtime/object-cache.ts";
import { ApiServer, namespace } from "../sim/kube-network.ts";
import { Network } from "../sim/network.ts";
import { Process, settled, World } from "../sim/world.ts";

export interface InformerSimResult {
  readonly steps: number;
  readonly writes: number;
  readonly delivered: number;
  readonly lists: number;
  readonly violation: string | undefined;
}

interface Thing extends KubeObject {
  readonly data: { readonly colour: string; readonly count: string };
}

const things: ResourceType<Thing> = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const names = ["a", "b", "c", "d"];
const colours = ["red", "green", "blue"];
const fewestSteps = 220;

/**
 * Writers at full speed on a few names, one informer behind a bad network. While it lasts, what the informer reports must
 * be a story that did happen; when it is over, the informer, its index and its listener must know what the store holds.
 */
export async function simulateInformer(
  seed: number,
  informer: typeof realInformer,
  faults = new Map<string, number>(),
): Promise<InformerSimResult> {
  const world = new World(seed, faults);
  const { chance } = world;
  const server = new ApiServer(world);
  const process = new Process(world, "informer", { offsetMs: 0, rate: 1 + chance.between(-0.01, 0.01) });
  const streams = new Streams(world, server, process);
  const truth = new Truth(server);
  const story = new Story(truth);
  const stop = new AbortController();
  const informed = informer({
    client: streams.client(),
    type: things,
    query: { namespace },
    indexes: { colour: ({ data }: Thing) => [data.colour] },
    clock: process.clock,
    random: chance,
    signal: stop.signal,
    problem: () => {},
    silenceMs: 2_500,
    backoff: { baseMs: 20, maxMs: 800, jitter: 0.5 },
  });
  informed.subscribe((event, object, previous) => story.receive(event, object, previous));

  let peace = false;
  let writes = 0;
  // In some seeds the history is kept, so that nothing at all may be missing from the story.
  const compacts = chance.happens(0.6);
  const rush = chance.between(4, 60);
  const writer = (name: string) => {
    const client = server.clientOf(new Process(world, name, { offsetMs: 0, rate: 1 }));
    const write = () => {
      if (peace) return;
      writes++;
      void writeSomething(client, world).catch(() => {});
      world.in(chance.between(0.5, rush), write);
    };
    write();
  };
  const strike = () => {
    if (peace) return;
    const kind = chance.whole(0, compacts ? 5 : 3);
    if (kind === 0) {
      world.struck("pause");
      process.pause(chance.between(1, 2_000));
    } else if (kind === 1) {
      world.struck("watches dropped");
      server.cluster.dropWatches();
    } else if (kind <= 3) {
      world.struck("stream gone silent");
      streams.mute();
    } else {
      world.struck("history compacted");
      server.cluster.compact();
    }
    world.in(chance.between(5, 300), strike);
  };

  try {
    await truth.begin();
    for (const name of ["w1", "w2", "w3"]) writer(name);
    world.in(20, strike);
    while (world.steps < fewestSteps) await world.run(world.now + 20, story.check);
    peace = true;
    server.heal();
    streams.heal();
    await world.run(world.now + 12_000, story.check);

    await story.compareWith(informed.list());
    for (const colour of colours) {
      const expected = informed.list().filter(({ data }) => data.colour === colour);
      if (!sameObjects(expected, informed.byIndex("colour", colour))) {
        throw new Violation(
          `index ${colour} is ${titles(informed.byIndex("colour", colour))}, not ${titles(expected)}`,
        );
      }
    }
    if (streams.lists === 1) story.mustBeComplete(streams.listedVersion);
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { steps: world.steps, writes, delivered: story.delivered, lists: streams.lists, violation: error.message };
  } finally {
    stop.abort();
    await truth.end();
  }
  return { steps: world.steps, writes, delivered: story.delivered, lists: streams.lists, violation: undefined };
}

async function writeSomething(client: KubeClient, { chance }: World) {
  const name = chance.pick(names);
  const object = { metadata: { name, namespace }, data: { colour: chance.pick(colours), count: chance.id() } };
  const kind = chance.whole(0, 9);
  if (kind <= 3) await client.create(things, object);
  else if (kind <= 7) await client.update(things, object);
  else await client.delete(things, { name, namespace });
}

/** What the informer reaches the server by: lists of the simulation kit, and streams that bring bookmarks or fall silent. */
class Streams {
  lists = 0;
  listedVersion = 0;
  readonly #world: World;
  readonly #server: ApiServer;
  readonly #process: Process;
  readonly #network: Network;
  readonly #open = new Set<{ mute: boolean }>();
  readonly #bookmarks: boolean;
  readonly #again: boolean;

  constructor(world: World, server: ApiServer, process: Process) {
    this.#world = world;
    this.#server = server;
    this.#process = process;
    this.#network = new Network(world, { timeoutMs: 1_500, timedOut: () => new Error("not used for calls") });
    this.#bookmarks = world.chance.happens(0.5);
    this.#again = world.chance.happens(0.3);
  }

  client(): KubeClient {
    const client = this.#server.clientOf(this.#process);
    return {
      ...client,
      list: async (type, query, call) => {
        const list = await client.list(type, query, call);
        this.lists++;
        this.listedVersion = Number(list.resourceVersion);
        return list;
      },
      watch: <T extends KubeObject>(...[type, query, call]: Parameters<KubeClient["watch"]>) =>
        this.#deliver(
          this.#server.cluster.client().watch(type, query, call) as AsyncIterable<WatchEvent<T>>,
          call?.signal,
        ),
    };
  }

  /** From now on the open streams bring nothing more, and do not end either. */
  mute(): void {
    for (const stream of this.#open) stream.mute = true;
  }

  heal(): void {
    this.#network.heal();
  }

  async *#deliver<T>(events: AsyncIterable<WatchEvent<T>>, signal?: AbortSignal): AsyncIterable<WatchEvent<T>> {
    const { chance } = this.#world;
    const stream = { mute: false };
    const aborted = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
    this.#open.add(stream);
    let last: WatchEvent<T> | undefined;
    try {
      for await (const event of this.#withBookmarks(events)) {
        await new Promise<void>((resolve) => {
          this.#world.in(this.#network.delay(), () => this.#process.handle(resolve));
        });
        if (stream.mute) await aborted;
        if (signal?.aborted) return;
        yield event;
        // A proxy that repeats itself: known already, and perhaps no longer true.
        if (this.#again && last && chance.happens(0.05)) {
          this.#world.struck("event repeated");
          yield last;
        }
        last = event;
      }
      if (stream.mute) await aborted;
    } finally {
      this.#open.delete(stream);
    }
  }

  /** After an event, now and then, that everything up to it was sent. */
  async *#withBookmarks<T>(events: AsyncIterable<WatchEvent<T>>): AsyncIterable<WatchEvent<T>> {
    for await (const event of events) {
      yield event;
      if (!this.#bookmarks || event.type === "BOOKMARK" || !this.#world.chance.happens(0.2)) continue;
      this.#world.struck("bookmark");
      const { resourceVersion } = (event.object as KubeObject).metadata;
      yield { type: "BOOKMARK", resourceVersion: resourceVersion as string };
    }
  }
}

/** Everything that happened, from a watch without faults. */
class Truth {
  readonly events: { readonly type: string; readonly title: string; readonly version: number }[] = [];
  readonly happened = new Set<string>();
  readonly #client: KubeClient;
  readonly #stop = new AbortController();
  #following: Promise<void> | undefined;

  constructor(server: ApiServer) {
    this.#client = server.cluster.client("truth");
  }

  async begin(): Promise<void> {
    this.#following = this.#follow();
    await settled();
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }

  stored(): Promise<readonly Thing[]> {
    return this.#client.list(things, { namespace }).then(({ items }) => items);
  }

  /** Nothing is written between two steps of the world, and this catches up within one. */
  async #follow() {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const { resourceVersion } = await this.#client.list(things, { namespace });
      try {
        for await (const event of this.#client.watch(things, { namespace, resourceVersion }, { signal })) {
          if (event.type === "BOOKMARK") continue;
          const { title, version } = describe(event.object);
          this.events.push({ type: event.type, title, version });
          this.happened.add(title);
        }
      } catch {
        // Compacted: everything before was seen, so the next list continues without a gap.
      }
    }
  }
}

/** The events of a listener, checked one by one. */
class Story {
  delivered = 0;
  readonly #truth: Truth;
  readonly #known = new Map<string, Thing>();
  readonly #added = new Set<string>();
  readonly #received: { readonly type: ChangeEvent; readonly title: string; readonly version: number }[] = [];
  readonly #newest = new Map<string, number>();
  #broken: Violation | undefined;

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  /** Throws what went wrong since the last step: a handler that threw would only be reported. */
  readonly check = () => {
    if (this.#broken) throw this.#broken;
  };

  receive(event: ChangeEvent, object: Thing, previous: Thing | undefined): void {
    this.delivered++;
    const { name, uid, version, title } = describe(object);
    const known = this.#known.get(name);
    const fail = (why: string) => {
      this.#broken ??= new Violation(`${event} ${title}: ${why}`);
    };
    if (previous !== known) fail("the previous object is not the one reported before");
    if (version < (this.#newest.get(name) ?? 0)) fail("older than the version reported before");
    if (event === "ADDED") {
      if (known) fail("is there already");
      if (this.#added.has(uid)) fail("was added before");
      this.#added.add(uid);
    } else if (known?.metadata.uid !== uid) fail(`known was ${known?.metadata.uid}`);
    else if (event === "MODIFIED" && version <= describe(known).version) fail("no newer than what is known");
    if (event !== "DELETED" && !this.#truth.happened.has(title)) fail("never happened");

    this.#newest.set(name, version);
    if (event === "DELETED") this.#known.delete(name);
    else this.#known.set(name, object);
    this.#received.push({ type: event, title, version });
  }

  async compareWith(listed: readonly Thing[]): Promise<void> {
    const stored = await this.#truth.stored();
    if (!sameObjects(stored, listed)) throw new Violation(`stored ${titles(stored)}, informer ${titles(listed)}`);
    const delivered = [...this.#known.values()];
    if (!sameObjects(stored, delivered))
      throw new Violation(`stored ${titles(stored)}, delivered ${titles(delivered)}`);
  }

  /** For a run with one list, of `version`: since then, each event was reported once and in the order in which it happened. */
  mustBeComplete(version: number): void {
    const line = ({ type, title }: { readonly type: string; readonly title: string }) => `${type} ${title}`;
    const happened = this.#truth.events.filter((event) => event.version > version).map(line);
    const received = this.#received.filter((event) => event.version > version).map(line);
    const gap = happened.findIndex((event, i) => event !== received[i]);
    if (gap !== -1) throw new Violation(`${happened[gap]} happened, delivered was ${received[gap]}`);
    if (received.length > happened.length)
      throw new Violation(`${received[happened.length]} was delivered, but did not happen`);
  }
}

class Violation extends Error {}

function describe(object: Thing) {
  const { name = "", uid = "", resourceVersion = "0" } = object.metadata;
  return { name, uid, version: Number(resourceVersion), title: `${name} ${uid}@${resourceVersion}` };
}

function titles(objects: readonly Thing[]): string {
  return objects.map((object) => describe(object).title).join(", ") || "nothing";
}

function sameObjects(a: readonly Thing[], b: readonly Thing[]): boolean {
  const texts = (objects: readonly Thing[]) => objects.map((object) => JSON.stringify(object)).sort();
  return texts(a).join() === texts(b).join();
}
