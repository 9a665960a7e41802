import { setTimeout as wait } from "node:timers/promises";
import type { Change, ObjectStore } from "../../src/apiserver/object-store.ts";
import type { Informer, KubeClient, KubeObject, ListQuery, ResourceType, WatchEvent } from "../../src/kube/index.ts";
import type { ChangeEvent } from "../../src/kube/runtime/object-cache.ts";

export interface Thing extends KubeObject {
  readonly data: { readonly count: string; readonly padding: string };
}

export const things: ResourceType<Thing> = {
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

/** Every change that the store made, in order, recorded by the store itself. */
export class Truth {
  /** `ADDED thing-1 <uid>@<version>` */
  readonly lines: string[] = [];
  readonly #versions: number[] = [];
  readonly #states = new Set<string>();
  readonly #watching: { stop(): void } | undefined;

  constructor(store: ObjectStore) {
    this.#watching = store.watch(things.plural, store.revision, (change) => {
      const { object, revision } = change.entry;
      this.lines.push(`${typeOf(change)} ${title(object)}`);
      this.#versions.push(revision);
      if (change.do === "put") this.#states.add(title(object));
    });
  }

  /** Where in `lines` a stream has to go on that has seen everything up to `version`. */
  after(version: number): number {
    let low = 0;
    let high = this.#versions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#versions[middle] as number) <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  wasSo(object: KubeObject): boolean {
    return this.#states.has(title(object));
  }

  close(): void {
    this.#watching?.stop();
  }
}

function typeOf({ do: kind, previous }: Change): WatchEvent<KubeObject>["type"] {
  if (kind === "delete") return "DELETED";
  return previous ? "MODIFIED" : "ADDED";
}

/** Called after each event of a stream; the next one is not read before it is over. */
export type Pause = () => Promise<unknown> | undefined;

/** The events that one informer got and reported, both compared with the truth as they arrive. */
export class Delivered {
  received = 0;
  lists = 0;
  streams = 0;
  readonly #truth: Truth;
  readonly #who: string;
  readonly #violations: string[] = [];
  readonly #known = new Map<string, Thing>();
  readonly #gone = new Set<string>();
  #informer: Informer<Thing> | undefined;

  constructor(truth: Truth, who: string) {
    this.#truth = truth;
    this.#who = who;
  }

  get failed(): boolean {
    return this.#violations.length > 0;
  }

  violations(): readonly string[] {
    return this.#violations.slice(0, 5).map((what) => `${this.#who}: ${what}`);
  }

  /** `client`, with an ear on its lists and streams, and a reader that now and then does not read. */
  listening(client: KubeClient, pauses: () => Pause): KubeClient {
    const list = async <T extends KubeObject>(type: ResourceType<T>, query?: ListQuery, call?: object) => {
      const found = await client.list(type, query, call);
      this.lists++;
      return found;
    };
    return {
      ...client,
      list,
      watch: (type, query, call) =>
        this.#stream(client.watch(type, query, call), Number(query.resourceVersion), pauses()),
    };
  }

  /** A stream must be what happened after `from`, from the first event on, without a gap. */
  async *#stream<T extends KubeObject>(
    events: AsyncIterable<WatchEvent<T>>,
    from: number,
    pause: Pause,
  ): AsyncIterable<WatchEvent<T>> {
    this.streams++;
    let next = this.#truth.after(from);
    for await (const event of events) {
      if (event.type === "BOOKMARK") {
        if (this.#truth.after(Number(event.resourceVersion)) > next) this.#fail(`a bookmark skips ${this.#line(next)}`);
      } else {
        const line = `${event.type} ${title(event.object)}`;
        if (line !== this.#line(next)) this.#fail(`a stream from ${from} brought ${line}, not ${this.#line(next)}`);
        next++;
      }
      await pause();
      yield event;
    }
  }

  follow(informer: Informer<Thing>): void {
    this.#informer = informer;
    informer.subscribe((event, object, previous) => this.#receive(event, object, previous));
  }

  /** Each object's versions only grow; what is deleted never comes back; a new object of a name is another object. */
  #receive(event: ChangeEvent, object: Thing, previous: Thing | undefined) {
    this.received++;
    const { name = "", uid = "" } = object.metadata;
    const known = this.#known.get(name);
    const fail = (why: string) => this.#fail(`delivered ${event} ${title(object)}: ${why}`);
    if (previous !== known) fail(`before it was ${known && title(known)}, not ${previous && title(previous)}`);
    if (this.#gone.has(uid)) fail("it was deleted before");
    if (event === "ADDED" && known) fail("there is one already");
    if (event !== "ADDED" && known?.metadata.uid !== uid) fail(`known was ${known?.metadata.uid}`);
    if (event === "MODIFIED" && known && version(object) <= version(known)) fail("no newer than what is known");
    if (event !== "DELETED" && !this.#truth.wasSo(object)) fail("it never was like that");

    if (event !== "DELETED") return void this.#known.set(name, object);
    this.#known.delete(name);
    this.#gone.add(uid);
  }

  /** Waits until the informer knows what the store holds; throws what differs when patience is over. */
  async settle(store: ObjectStore, patience: () => boolean): Promise<void> {
    const stored = [...store.list(things.plural)].map(({ object }) => title(object)).sort();
    const differs = () => {
      const listed = (this.#informer?.list() ?? []).map(title).sort();
      const delivered = [...this.#known.values()].map(title).sort();
      if (stored.join() !== listed.join()) return `stored is ${stored}, the informer has ${listed}`;
      return stored.join() === delivered.join() ? undefined : `stored is ${stored}, delivered was ${delivered}`;
    };
    while (differs() && patience()) await wait(20);
    const difference = differs();
    if (difference) this.#fail(difference);
  }

  #line(index: number): string {
    return this.#truth.lines[index] ?? "nothing";
  }

  #fail(what: string) {
    this.#violations.push(what);
  }
}

function title({ metadata }: KubeObject): string {
  return `${metadata.name} ${metadata.uid}@${metadata.resourceVersion}`;
}

function version({ metadata }: KubeObject): number {
  return Number(metadata.resourceVersion);
}
