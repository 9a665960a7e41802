import { type KubeClient, type KubeObject, nameHash, namespaces, Reflector } from "../../kube/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { type Clock, Pacer, type Random, sleep } from "../../time/index.ts";
import { rowTypes } from "../rows/index.ts";
import { type Row, type RowKind, rowKinds } from "../wire.ts";
import { ChangeLog, type RowRef } from "./change-log.ts";
import { LiveRows } from "./live-rows.ts";
import { beatFrame, ChangeBatch, resetFrame, Viewer } from "./viewers.ts";

export interface LiveOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The namespace by whose uid servers are told apart. */
  readonly namespace: string;
  /** So many failures before acting, and a person has to look: the policy's setting. */
  readonly maxConsecutiveFailures: number;
}

/** Changes are collected for so long before they are sent, so that a storm is a few events per second. */
const coalesceMs = 100;
/** More changes at once are no news but another state: every viewer reads its rows again. */
const maxBatchRows = 1_000;
const beatMs = 1_500;
/** How often the server is asked whether it answers. A page calls data old after 5 s. */
const probeMs = 1_000;
/** Work on many rows at once lets others run after so long. */
const sliceMs = 5;
/** A reader from another replica may be ahead of this one for a moment. */
const catchUpMs = 2_000;

/** The rows while they have readers: filled by one watch per kind, until `stop`. */
export class LiveProjection {
  readonly rows: LiveRows;
  /** Resolves when the rows are complete. */
  readonly synced: Promise<void>;
  /** The latest problem of a watch, in a sentence. */
  problem: string | undefined;
  readonly #options: LiveOptions;
  readonly #stop = new AbortController();
  readonly #pacer: Pacer;
  readonly #viewers = new Set<Viewer>();
  readonly #changed = new Map<string, RowRef>();
  #log = new ChangeLog("");
  #reflectors: readonly Reflector<KubeObject>[] = [];
  /** The rows that change while one change of an object is taken in. */
  #touched: RowRef[] = [];
  #isSynced = false;
  #currentAtMs = 0;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#pacer = new Pacer(options.clock);
    this.rows = new LiveRows(options.maxConsecutiveFailures, (kind, key) => this.#touched.push({ kind, key }));
    this.synced = this.#start();
    // Readers wait for it with a limit of their own.
    this.synced.catch(() => {});
  }

  get version(): string {
    return this.#log.version;
  }

  stop(): void {
    this.#stop.abort();
    for (const viewer of this.#viewers) viewer.end();
  }

  /** Adds a viewer, which gets what changed after the version `after`, then every change. */
  join(kinds: readonly RowKind[], after: string | undefined): { readonly viewer: Viewer; leave(): void } {
    const viewer = new Viewer(kinds);
    this.#viewers.add(viewer);
    viewer.sendIfIdle(this.#beat());
    void this.synced.then(() => this.#catchUp(viewer, after)).catch(() => {});
    const leave = () => {
      this.#viewers.delete(viewer);
      viewer.end();
    };
    return { viewer, leave };
  }

  nowMs(): number {
    return this.#options.clock.now();
  }

  /** Lets other work run if this took long since `sinceMs`; returns the time from which to count again. */
  async breathe(sinceMs: number): Promise<number> {
    const { clock } = this.#options;
    if (clock.now() - sinceMs < sliceMs) return sinceMs;
    await this.#pacer.turn();
    return clock.now();
  }

  async #start(): Promise<void> {
    const { client, clock, random, log, namespace } = this.#options;
    const { signal } = this.#stop;
    const server = await client.get(namespaces, { name: namespace }, { signal }).catch(() => undefined);
    this.#log = new ChangeLog(server?.metadata.uid ? nameHash(server.metadata.uid).slice(0, 8) : "");
    const problem = (found: { readonly about: string; readonly message: string }) => {
      this.problem = `${found.about}: ${found.message}`;
      log.warn("console watch failed", found);
    };
    const around = { client, clock, random, signal, problem, silenceMs: 90_000, backoff };
    const first = rowKinds.map((kind) => this.#follow(kind, around));
    this.#reflectors = first.map(({ reflector }) => reflector);
    await Promise.all(first.map(({ listed }) => listed));
    this.#isSynced = true;
    this.problem = undefined;
    void this.#repeat(probeMs, () => this.#probe());
    void this.#repeat(beatMs, async () => this.#sendBeat());
  }

  #follow(kind: RowKind, around: Omit<ConstructorParameters<typeof Reflector<KubeObject>>[0], "type" | "query">) {
    let isListed = () => {};
    const listed = new Promise<void>((resolve) => {
      isListed = resolve;
    });
    const reflector = new Reflector<KubeObject>(
      { ...around, type: rowTypes[kind].type, query: {} },
      {
        replace: async (objects, version) => {
          await this.#replace(kind, objects, version);
          isListed();
        },
        put: (object) => this.#takeIn(kind, versionOf(object), () => this.rows.put(kind, object)),
        remove: (object) => this.#takeIn(kind, versionOf(object), () => this.rows.remove(kind, keyOf(object))),
        progress: (version) => this.#log.advance(kind, version),
      },
    );
    void reflector.run();
    return { reflector, listed };
  }

  /** Takes in a whole list, in slices. Only what differs from the rows before is a change. */
  async #replace(kind: RowKind, objects: readonly KubeObject[], version: bigint): Promise<void> {
    const { byKey } = this.rows.kind(kind);
    const present = new Set<string>();
    const touched: RowRef[] = [];
    let sinceMs = this.#options.clock.now();
    const step = async (change: () => void) => {
      this.#touched = touched;
      change();
      sinceMs = await this.breathe(sinceMs);
      return this.#stop.signal.aborted;
    };
    for (const object of objects) {
      const key = keyOf(object);
      present.add(key);
      // The version is the first value of a packed row.
      if (byKey.get(key)?.packed.startsWith(`["${object.metadata.resourceVersion}"`)) continue;
      if (await step(() => this.rows.put(kind, object))) return;
    }
    for (const key of [...byKey.keys()]) {
      if (!present.has(key) && (await step(() => this.rows.remove(kind, key)))) return;
    }
    if (this.#log.hasBegun(kind)) return this.#publish(kind, version, touched);
    this.#log.begin(kind, { reached: version, latest: latestVersion(objects) });
  }

  #takeIn(kind: RowKind, version: bigint, change: () => void) {
    const touched: RowRef[] = [];
    this.#touched = touched;
    change();
    this.#publish(kind, version, touched);
  }

  #publish(kind: RowKind, version: bigint, touched: readonly RowRef[]) {
    if (touched.length === 0) return this.#log.advance(kind, version);
    this.#log.add(kind, version, touched);
    if (!this.#isSynced) return;
    if (this.#changed.size === 0) {
      this.#options.clock.after(coalesceMs, () => this.#flush(), { background: true });
    }
    for (const ref of touched) this.#changed.set(`${ref.kind} ${ref.key}`, ref);
  }

  #flush() {
    const refs = [...this.#changed.values()];
    this.#changed.clear();
    const viewers = [...this.#viewers].filter(({ isCaughtUp }) => isCaughtUp);
    if (refs.length === 0 || viewers.length === 0 || this.#stop.signal.aborted) return;
    const reset = () => resetFrame(this.version);
    if (refs.length > maxBatchRows) {
      const frame = reset();
      for (const viewer of viewers) viewer.send(frame, reset);
      return;
    }
    const batch = new ChangeBatch(this.version, refs, (ref) => this.find(ref));
    for (const viewer of viewers) {
      const frame = batch.frame(viewer.kinds);
      if (frame) viewer.send(frame, reset);
    }
  }

  find({ kind, key }: RowRef): Row | undefined {
    const entry = this.rows.kind(kind).byKey.get(key);
    return entry && this.rows.row(kind, entry);
  }

  /** Sends what changed after `after`. Without a version, a viewer wants what changes from now on. */
  async #catchUp(viewer: Viewer, after: string | undefined): Promise<void> {
    const { clock } = this.#options;
    let missed = after === undefined ? [] : this.#log.since(after);
    for (const endMs = clock.now() + catchUpMs; missed === "ahead" && clock.now() < endMs; ) {
      await sleep(clock, coalesceMs, this.#stop.signal, { background: true });
      missed = this.#log.since(after ?? "");
    }
    const reset = () => resetFrame(this.version);
    // Changes that wait to be sent together are among the missed ones, and must not come twice.
    this.#flush();
    viewer.isCaughtUp = true;
    if (typeof missed === "string" || missed.length > maxBatchRows) return viewer.send(reset(), reset);
    const frame = new ChangeBatch(this.version, missed, (ref) => this.find(ref)).frame(viewer.kinds);
    if (frame) viewer.send(frame, reset);
  }

  /** The rows are current if every watch is open and the server answers. */
  async #probe() {
    const { client, namespace } = this.#options;
    const askedAtMs = client.serverNowMs();
    const isAnswered = await client.get(namespaces, { name: namespace }, { signal: this.#stop.signal }).then(
      () => true,
      // A server that refuses does answer.
      (error: { readonly code?: string }) => error.code === "forbidden",
    );
    if (isAnswered && this.#reflectors.every(({ isWatching }) => isWatching)) this.#currentAtMs = askedAtMs;
  }

  #sendBeat() {
    if (this.#viewers.size === 0) return;
    const frame = this.#beat();
    for (const viewer of this.#viewers) viewer.sendIfIdle(frame);
  }

  #beat(): Uint8Array {
    const beat = {
      serverTime: new Date(this.#options.client.serverNowMs()).toISOString(),
      currentAt: new Date(this.#currentAtMs).toISOString(),
    };
    const isPublished = this.#isSynced && this.#changed.size === 0;
    return beatFrame(beat, isPublished ? this.version : undefined);
  }

  async #repeat(everyMs: number, work: () => Promise<void>) {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await work();
      await sleep(clock, everyMs, signal, { background: true }).catch(() => {});
    }
  }
}

const backoff = { baseMs: 100, maxMs: 5_000, jitter: 0.5 };

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function latestVersion(objects: readonly KubeObject[]): bigint {
  let latest = 0n;
  for (const object of objects) {
    const version = versionOf(object);
    if (version > latest) latest = version;
  }
  return latest;
}

function versionOf({ metadata }: KubeObject): bigint {
  return BigInt(metadata.resourceVersion ?? 0);
}
