import { CoordinationError } from "../../src/coordination/errors.ts";
import { type Key, keyOf } from "../../src/coordination/key.ts";
import { memoryWatermarks } from "../../src/coordination/memory/memory-watermarks.ts";
import {
  openWatermark,
  type Watermark,
  type WatermarkRecord,
  type WatermarkStore,
} from "../../src/coordination/watermarks/watermarks.ts";

type Open = typeof openWatermark;

/** An implementation with one thing wrong: in the store, or in what moves the watermark. */
export interface WatermarkMutant {
  readonly store?: () => WatermarkStore;
  /** Every process has its own data. */
  readonly apart?: boolean;
  readonly open?: Open;
}

export const storeMutants: Readonly<Record<string, WatermarkMutant>> = {
  "keeps watermarks in each process": { apart: true },
  "writes without looking at the revision": { store: writingBlindly },
  "writes a beginning over another": { store: beginningBlindly },
  "ignores fences": {
    store: () => {
      const store = memoryWatermarks();
      return {
        ...store,
        read: async (key) => withFence(await store.read(key), 0n),
        write: (key, next, expected) => store.write(key, { ...next, fence: 0n }, expected),
      };
    },
  },
  "compares fences as floating point numbers": { store: () => comparingFences((fence) => BigInt(Number(fence))) },
  "compares fences as text": { store: () => comparingFences((fence) => BigInt(`${fence}`.padEnd(30, "0"))) },
  "has one watermark for all streams": {
    store: () => {
      const store = memoryWatermarks();
      const all = (key: Key) => keyOf(key.split(":")[0] as string);
      return {
        ...store,
        read: (key) => store.read(all(key)),
        write: (key, ...rest) => store.write(all(key), ...rest),
      };
    },
  },
  "cuts ids at a separator": {
    store: () => {
      const store = memoryWatermarks();
      return {
        ...store,
        async write(key, { cursor, fence }, expected) {
          const { updatedAt, id } = cursor;
          const kept = { updatedAt, ...(id !== undefined && { id: id.split("|")[0] as string }) };
          return store.write(key, { cursor: kept, fence }, expected);
        },
      };
    },
  },
  "has a watermark before there is one": {
    store: () => {
      const store = memoryWatermarks();
      const epoch = { cursor: { updatedAt: "1970-01-01T00:00:00.000Z" }, fence: 0n, revision: "absent" };
      return { ...store, read: async (key) => (await store.read(key)) ?? epoch };
    },
  },
};

export const logicMutants: Readonly<Record<string, WatermarkMutant>> = {
  "resets to now at every start": {
    open: async (store, key, options) => {
      const { revision = "absent" } = (await store.read(key)) ?? {};
      const cursor = { updatedAt: options.serverDate.toISOString() };
      await store.write(key, { cursor, fence: options.fence ?? 0n }, revision);
      return openWatermark(store, key, options);
    },
  },
  "writes its beginning down only with the first advance": {
    open: (store, key, options) => openWatermark(lazy(store), key, options),
  },
  "always begins now": { open: (store, key, options) => openWatermark(store, key, { ...options, from: "now" }) },
  "takes no answer for no watermark": { open: (store, key, options) => openWatermark(failOpen(store), key, options) },
  "takes a removed watermark for a new one": {
    open: (store, key, options) => openWatermark(reviving(store), key, options),
  },
  "gives up when another was faster": {
    open: (store, key, options) => openWatermark(giveUp(store), key, options),
  },
  "moves over unfinished items": advancing(({ items, ...poll }) => ({
    ...poll,
    items: items.map((item) => ({ ...item, finished: true })),
  })),
  "moves up to the server's own time": advancing(({ serverDate, overlapMs, ...poll }) => ({
    ...poll,
    overlapMs,
    serverDate: new Date(serverDate.getTime() + overlapMs),
  })),
  "reads times without their offset": advancing(({ items, ...poll }) => ({
    ...poll,
    items: items.map((item) => ({ ...item, updatedAt: item.updatedAt.replace(/(Z|[+-]\d\d:?\d\d)$/, "Z") })),
  })),
  "moves on although there are more pages": advancing((poll) => ({ ...poll, more: false })),
  "asks without an overlap": {
    open: async (store, key, options) => {
      const watermark = await openWatermark(store, key, options);
      return { ...plain(watermark), queryFrom: () => watermark.record.cursor.updatedAt };
    },
  },
  // As seed 002 does. Either overlap alone still covers items that become visible late; without both, nothing does.
  "has no overlap at all": { open: (store, key, options) => openWatermark(store, key, { ...options, overlapMs: 0 }) },
};

interface Poll {
  readonly items: Parameters<Watermark["advance"]>[0];
  readonly serverDate: Date;
  readonly overlapMs: number;
  readonly more: boolean;
}

/** Polls are altered before they move the watermark. */
function advancing(alter: (poll: Poll) => Poll): WatermarkMutant {
  return {
    open: async (store, key, options) => {
      const watermark = await openWatermark(store, key, options);
      const { overlapMs = 60_000 } = options;
      return {
        ...plain(watermark),
        get record() {
          return watermark.record;
        },
        advance(items, serverDate, { more = false } = {}) {
          const poll = alter({ items, serverDate, overlapMs, more });
          return watermark.advance(poll.items, poll.serverDate, { more: poll.more });
        },
      };
    },
  };
}

/** A plain object that can be spread: a getter keeps its value elsewhere. */
function plain(watermark: Watermark): Watermark {
  return {
    key: watermark.key,
    record: watermark.record,
    queryFrom: () => watermark.queryFrom(),
    advance: (...args) => watermark.advance(...args),
  };
}

function withFence(record: WatermarkRecord | undefined, fence: bigint): WatermarkRecord | undefined {
  return record && { ...record, fence };
}

function writingBlindly(): WatermarkStore {
  const store = memoryWatermarks();
  return {
    ...store,
    async write(key, next) {
      const { revision = "absent" } = (await store.read(key)) ?? {};
      return store.write(key, next, revision);
    },
  };
}

function beginningBlindly(): WatermarkStore {
  const store = memoryWatermarks();
  return {
    ...store,
    async write(key, next, expected) {
      const outcome = await store.write(key, next, expected);
      if (expected !== "absent" || outcome.kind !== "conflict" || !outcome.current) return outcome;
      return store.write(key, next, outcome.current.revision);
    },
  };
}

/** Compares what `seen` makes of fences. */
function comparingFences(seen: (fence: bigint) => bigint): WatermarkStore {
  const records = new Map<Key, WatermarkRecord>();
  let writes = 0;
  return {
    guarantee: "process",
    read: async (key) => records.get(key),
    async write(key, next, expected) {
      const current = records.get(key);
      if (current && seen(current.fence) > seen(next.fence)) return { kind: "stale", fence: current.fence };
      if ((current?.revision ?? "absent") !== expected) return { kind: "conflict", current };
      const record = { ...next, revision: `${++writes}` };
      records.set(key, record);
      return { kind: "written", record };
    },
  };
}

function lazy(store: WatermarkStore): WatermarkStore {
  let pending: WatermarkRecord | undefined;
  return {
    ...store,
    read: async (key) => (await store.read(key)) ?? pending,
    async write(key, next, expected) {
      if (expected !== "absent") return store.write(key, next, pending === undefined ? expected : "absent");
      pending = { ...next, revision: "pending" };
      return { kind: "written", record: pending };
    },
  };
}

function failOpen(store: WatermarkStore): WatermarkStore {
  return {
    ...store,
    read: (key) => store.read(key).catch(() => undefined),
    write: (key, next, expected) =>
      store.write(key, next, expected).catch(() => ({ kind: "written", record: { ...next, revision: "?" } })),
  };
}

function reviving(store: WatermarkStore): WatermarkStore {
  return {
    ...store,
    async write(key, next, expected) {
      const outcome = await store.write(key, next, expected);
      if (outcome.kind !== "conflict" || outcome.current) return outcome;
      return { kind: "written", record: { ...next, revision: "revived" } };
    },
  };
}

function giveUp(store: WatermarkStore): WatermarkStore {
  return {
    ...store,
    async write(key, next, expected) {
      const outcome = await store.write(key, next, expected);
      if (outcome.kind === "conflict" && expected !== "absent")
        throw new CoordinationError("lost", "another writer was faster");
      return outcome;
    },
  };
}
