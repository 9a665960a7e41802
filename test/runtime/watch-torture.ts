import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { serveApi } from "../../src/apiserver/http/serve.ts";
import { freezeJson } from "../../src/apiserver/json/parse-json.ts";
import { openLogStore } from "../../src/apiserver/log/open-log-store.ts";
import type { Change, ObjectStore } from "../../src/apiserver/object-store.ts";
import { httpClient } from "../../src/kube/http/http-client.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import type { informer as realInformer } from "../../src/kube/runtime/informer.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { Dice } from "../chaos/dice.ts";
import { recordingLogger } from "../doubles/recording-logger.ts";
import { type Network, startTcpProxy, type TcpProxy } from "../services/tcp-proxy.ts";
import { Delivered, type Pause, type Thing, Truth, things } from "./watch-checks.ts";

/** What is under torture, so that it can be broken on purpose. */
export interface Suspects {
  readonly informer: typeof realInformer;
  /** What the server serves from. */
  readonly store?: (real: ObjectStore) => ObjectStore;
}

export interface TortureOptions {
  readonly seed: number;
  readonly seconds: number;
  /** Goes on until the server hung up on so many readers that had stopped to read, however long that takes. */
  readonly fallBehind?: number;
}

export interface TortureResult {
  readonly violations: readonly string[];
  readonly writes: number;
  readonly delivered: number;
  readonly streams: number;
  /** Lists beyond the first of each informer: the server had forgotten what it was asked to continue from. */
  readonly relists: number;
  readonly cuts: number;
  /** Readers that the server had no more room to wait for. */
  readonly fellBehind: number;
}

type Reader = (typeof readers)[number];

const readers = ["steady", "steady", "slow", "stubborn"] as const;
const clock = systemClock();
const random = systemRandom();
const token = "torture-token";
const namespace = "default";
const names = Array.from({ length: 12 }, (_, i) => `thing-${i}`);
/** So short that a reader that pauses for a moment exceeds the server's limits, and then its history. */
const paddings = ["", "x".repeat(500), "x".repeat(100_000)];
const history = { changes: 1_500, characters: 24_000_000 };
const settleWithinMs = 20_000;

/**
 * Writers at full speed, informers over real HTTP through networks that break and with readers that stop to read, and a
 * server that forgets history. Every stream must be a run of what happened without a gap, every listener must receive a
 * consistent sequence, and in the end every informer holds what the store holds.
 */
export async function torture(suspects: Suspects, options: TortureOptions): Promise<TortureResult> {
  const { seed, seconds, fallBehind = 0 } = options;
  const dice = new Dice(seed);
  const directory = mkdtempSync(join(tmpdir(), "interlock-torture-"));
  const store = await openLogStore({ directory, parse: freezeJson, clock, history });
  const log = recordingLogger();
  const served = await serveApi({
    store: suspects.store?.(store) ?? store,
    clock,
    random,
    tokens: { admin: token },
    acceptPlainTokens: true,
    log,
  });
  const truth = new Truth(store);
  const port = Number(new URL(served.url).port);
  const proxies: TcpProxy[] = [];
  const stop = new AbortController();
  const until = clock.now() + seconds * 1_000;
  const cutOff = () => log.events.filter(({ event }) => event === "watcher cut off").length;
  const isOver = () => clock.now() >= until && cutOff() >= fallBehind;

  const watched: Delivered[] = [];
  for (const reader of readers) {
    // A proxy takes in whatever the server sends. Who is to be too slow for the server is connected to it directly.
    const proxy = reader === "stubborn" ? undefined : await startTcpProxy(port);
    if (proxy) proxies.push(proxy);
    const delivered = new Delivered(truth, `${reader} reader ${watched.length + 1}`);
    const turmoil = { dice: new Dice(dice.seed()), isOver };
    const client = delivered.listening(clientAt(proxy?.port ?? port), pauses(reader, cutOff, turmoil));
    delivered.follow(
      suspects.informer({
        client,
        type: things,
        query: { namespace },
        clock,
        random,
        signal: stop.signal,
        problem: () => {},
        // A client that does not read receives nothing either. It must not hang up before the server does.
        silenceMs: reader === "stubborn" ? 3_600_000 : 1_500,
        backoff: { baseMs: 10, maxMs: 200, jitter: 0.5 },
      }),
    );
    watched.push(delivered);
  }

  let cuts = 0;
  const breaking = proxies.map((proxy) =>
    breakNetwork(proxy, { dice: new Dice(dice.seed()), isOver, cut: () => cuts++ }),
  );
  const writing = [1, 2, 3, 4].map(() => writeFast(clientAt(port), { dice: new Dice(dice.seed()), isOver }));
  const compacting = forgetHistory(store, { dice: new Dice(dice.seed()), isOver });
  const writes = await Promise.all(writing);
  await Promise.all([...breaking, compacting]);

  const settleBy = clock.now() + settleWithinMs;
  const patience = () => clock.now() < settleBy && !watched.some((delivered) => delivered.failed);
  try {
    await Promise.all(watched.map((delivered) => delivered.settle(store, patience)));
    return {
      violations: watched.flatMap((delivered) => delivered.violations()),
      writes: writes.reduce((sum, count) => sum + count, 0),
      delivered: watched.reduce((sum, { received }) => sum + received, 0),
      streams: watched.reduce((sum, { streams }) => sum + streams, 0),
      relists: watched.reduce((sum, { lists }) => sum + lists - 1, 0),
      cuts,
      fellBehind: cutOff(),
    };
  } finally {
    stop.abort();
    truth.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await served.close();
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

function clientAt(port: number): KubeClient {
  const connection = { url: `http://127.0.0.1:${port}`, credentials: { token } };
  const limits = { connectMs: 1_000, headersMs: 1_000, callMs: 2_000, pageSize: 5 };
  return httpClient({ connection, clock, random, limits });
}

interface Turmoil {
  readonly dice: Dice;
  readonly isOver: () => boolean;
}

/** One write after the other, as fast as they are answered. Returns how many took effect. */
async function writeFast(client: KubeClient, { dice, isOver }: Turmoil): Promise<number> {
  let written = 0;
  while (!isOver()) {
    const name = dice.pick(names);
    const data = { count: String(written), padding: dice.pick(paddings) };
    const object: Thing = { metadata: { name, namespace }, data };
    const outcome = dice.chance(0.3)
      ? await client.delete(things, { namespace, name })
      : dice.chance(0.5)
        ? await client.create(things, object)
        : await client.update(things, object);
    if (outcome.kind === "created" || outcome.kind === "updated" || outcome.kind === "deleted") written++;
  }
  return written;
}

async function breakNetwork(proxy: TcpProxy, { dice, isOver, cut }: Turmoil & { cut(): void }) {
  while (!isOver()) {
    await wait(dice.between(50, 500));
    const mode = dice.pick(["cut", "cut", "cut", "black-hole", "one-byte", "delay"] as const);
    cut();
    const network: Network = mode === "delay" ? { mode, ms: dice.between(1, 100) } : { mode };
    proxy.become(network);
    await wait(mode === "cut" ? dice.between(0, 50) : dice.between(0, 600));
    proxy.become({ mode: "pass" });
  }
}

async function forgetHistory(store: ObjectStore, { dice, isOver }: Turmoil) {
  while (!isOver()) {
    await wait(dice.between(300, 1_500));
    // A watcher still gets its pending events; one that reconnects later does not.
    store.compact(store.revision);
  }
}

/** How long the reader of a stream leaves what has arrived unread. Its socket is paused then, and the server keeps the rest. */
function pauses(reader: Reader, cutOff: () => number, { dice, isOver }: Turmoil): () => Pause {
  switch (reader) {
    case "steady":
      return () => () => undefined;
    case "slow":
      return () => () => (dice.chance(0.02) ? wait(dice.between(0, 300)) : dice.chance(0.2) ? turn() : undefined);
    case "stubborn":
      return () => {
        let events = dice.whole(1, 20);
        return () => (--events === 0 ? untilCutOff(cutOff, isOver) : undefined);
      };
  }
}

/** Reads nothing more until the server has run out of room for it: a matter of how much is written, not of how fast. */
async function untilCutOff(cutOff: () => number, isOver: () => boolean) {
  const before = cutOff();
  while (cutOff() === before && !isOver()) await wait(10);
}

/** A store that does not send some changes to watchers: the mistake of a server that loses events. */
export function forgetful(real: ObjectStore): ObjectStore {
  let changes = 0;
  return spoilt(real, (resource, revision, changed) =>
    real.watch(resource, revision, (change) => {
      if (resource === "configmaps" && ++changes % 100 === 0) return;
      changed(change);
    }),
  );
}

/** A store that lets every watcher continue from anywhere, as if nothing in between had happened. */
export function oblivious(real: ObjectStore): ObjectStore {
  return spoilt(real, (resource, revision, changed) => {
    return real.watch(resource, Math.max(revision, real.compactedRevision), changed);
  });
}

/** A store that sends its history in the wrong order. */
export function backwards(real: ObjectStore): ObjectStore {
  return spoilt(real, (resource, revision, changed) => {
    const past: Change[] = [];
    let isPast = true;
    const watching = real.watch(resource, revision, (change) => (isPast ? void past.push(change) : changed(change)));
    isPast = false;
    for (const change of past.reverse()) changed(change);
    return watching;
  });
}

function spoilt(real: ObjectStore, watch: ObjectStore["watch"]): ObjectStore {
  return {
    get revision() {
      return real.revision;
    },
    get compactedRevision() {
      return real.compactedRevision;
    },
    get: (resource, namespace, name) => real.get(resource, namespace, name),
    list: (resource, namespace) => real.list(resource, namespace),
    write: (key, decide) => real.write(key, decide),
    watch,
    compact: (revision) => real.compact(revision),
    close: () => real.close(),
  };
}
