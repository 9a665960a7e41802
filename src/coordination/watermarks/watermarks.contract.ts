import { describe, expect, it } from "vitest";
import { CoordinationError } from "../errors.ts";
import { type Key, keyOf } from "../key.ts";
import { openWatermark, type WatermarkStore } from "./watermarks.ts";

export interface WatermarksBackend {
  /** Connects one more process to the shared data. */
  connect(): Promise<WatermarkStore>;
  /** `openWatermark`, or what a mutant takes for it. */
  readonly open?: typeof openWatermark;
  stop(): Promise<void>;
}

export interface WatermarksCase {
  readonly name: string;
  run(world: WatermarksWorld): Promise<void>;
}

export interface WatermarksWorld {
  connect(): Promise<WatermarkStore>;
  readonly open: typeof openWatermark;
}

/** Runs every case against a backend made by `make`. */
export function watermarksContract(name: string, make: () => Promise<WatermarksBackend>): void {
  describe(`${name}: a watermark`, () => {
    for (const { name, run } of watermarksCases) {
      it(name, async () => {
        const backend = await make();
        try {
          await run({ connect: () => backend.connect(), open: backend.open ?? openWatermark });
        } finally {
          await backend.stop();
        }
      });
    }
  });
}

const key = keyOf("gitlab", "gitlab.example.com", 42, "notes");
const minute = 60_000;
const fromNow = { from: "now", overlapMs: minute } as const;

/** What every backend promises. Shared with the mutants, each of which must fail at least one of these. */
export const watermarksCases: readonly WatermarksCase[] = [
  {
    name: "does not exist before it is opened",
    async run({ connect }) {
      const store = await connect();

      expect(await store.read(key)).toBeUndefined();
    },
  },
  {
    name: "is stored when it is opened, before the first poll",
    async run({ connect, open }) {
      const [one, two] = [await connect(), await connect()];

      await open(one, key, { ...fromNow, serverDate: at("12:00:00") });

      expect((await two.read(key))?.cursor).toEqual({ updatedAt: "2025-02-19T12:00:00.000Z" });
    },
  },
  {
    name: "does not begin at another now when the process restarts before its first poll",
    async run({ connect, open }) {
      await open(await connect(), key, { ...fromNow, serverDate: at("12:00:00") });

      const reopened = await open(await connect(), key, { ...fromNow, serverDate: at("15:00:00") });

      expect(reopened.queryFrom()).toBe("2025-02-19T11:59:00.000Z");
    },
  },
  {
    name: "begins at its `from`",
    async run({ connect, open }) {
      const store = await connect();
      const serverDate = at("12:00:00");

      const hour = await open(store, keyOf("hour"), { from: 60 * minute, serverDate, overlapMs: 0 });
      const all = await open(store, keyOf("all"), { from: "all", serverDate, overlapMs: 0 });

      expect(hour.queryFrom()).toBe("2025-02-19T11:00:00.000Z");
      expect(all.queryFrom()).toBe("1970-01-01T00:00:00.000Z");
    },
  },
  {
    name: "has one start when two processes open it at once",
    async run({ connect, open }) {
      const [one, two] = [await connect(), await connect()];

      const opened = await Promise.all([
        open(one, key, { ...fromNow, serverDate: at("12:00:00") }),
        open(two, key, { ...fromNow, serverDate: at("12:30:00") }),
      ]);

      const stored = await one.read(key);
      expect(opened.map(({ record }) => record)).toEqual([stored, stored]);
    },
  },
  {
    name: "resumes where the last process stopped, after any time away",
    async run({ connect, open }) {
      const first = await open(await connect(), key, { ...fromNow, serverDate: at("12:00:00") });
      const outcome = await first.advance([finished("n1", "12:05:00")], at("12:10:00"));

      const next = await open(await connect(), key, { ...fromNow, serverDate: at("18:00:00") });

      expect(outcome).toMatchObject({ kind: "advanced", cursor: { updatedAt: "2025-02-19T12:09:00.000Z" } });
      expect(next.queryFrom()).toBe("2025-02-19T12:08:00.000Z");
    },
  },
  {
    name: "stops at the first unfinished item, and stores the last finished one",
    async run({ connect, open }) {
      const store = await connect();
      const watermark = await open(store, key, { ...fromNow, serverDate: at("12:00:00") });
      const items = [finished("n1", "12:05:00"), unfinished("n2", "12:06:00"), finished("n3", "12:07:00")];

      const outcome = await watermark.advance(items, at("12:30:00"));

      const cursor = { updatedAt: "2025-02-19T12:05:00.000Z", id: "n1" };
      expect(outcome).toEqual({ kind: "advanced", cursor, heldBy: "n2" });
      expect((await store.read(key))?.cursor).toEqual(cursor);
    },
  },
  {
    name: "stores an id unchanged, including special characters",
    async run({ connect, open }) {
      const store = await connect();
      const watermark = await open(store, key, { ...fromNow, serverDate: at("12:00:00") });
      const id = '|n:1|\n"ü" 😀';

      await watermark.advance([finished(id, "12:05:00"), unfinished("n2", "12:06:00")], at("12:30:00"));

      expect((await store.read(key))?.cursor.id).toBe(id);
    },
  },
  {
    name: "is compared as time and stored as UTC, for any offset of the source",
    async run({ connect, open }) {
      const store = await connect();
      const watermark = await open(store, key, { ...fromNow, serverDate: at("12:00:00") });
      // As text the second sorts before the first.
      const items = [
        { id: "n1", updatedAt: "2025-02-19T17:35:00.123456+05:30", finished: true },
        { id: "n2", updatedAt: "2025-02-19T07:06:00-0500", finished: false },
      ];

      await watermark.advance(items, at("12:30:00"));

      expect((await store.read(key))?.cursor).toEqual({ updatedAt: "2025-02-19T12:05:00.123Z", id: "n1" });
    },
  },
  {
    name: "does not go back when another process has moved it further",
    async run({ connect, open }) {
      const [one, two] = [await connect(), await connect()];
      const serverDate = at("12:00:00");
      const slow = await open(one, key, { ...fromNow, serverDate });
      const quick = await open(two, key, { ...fromNow, serverDate });
      await quick.advance([], at("12:30:00"));

      const outcome = await slow.advance([], at("12:10:00"));

      expect(outcome).toMatchObject({ kind: "unchanged", cursor: { updatedAt: "2025-02-19T12:29:00.000Z" } });
      expect((await one.read(key))?.cursor.updatedAt).toBe("2025-02-19T12:29:00.000Z");
    },
  },
  {
    name: "moves on from where another process has moved it",
    async run({ connect, open }) {
      const [one, two] = [await connect(), await connect()];
      const serverDate = at("12:00:00");
      const slow = await open(one, key, { ...fromNow, serverDate });
      const quick = await open(two, key, { ...fromNow, serverDate });
      await slow.advance([], at("12:10:00"));

      const outcome = await quick.advance([], at("12:30:00"));

      expect(outcome).toMatchObject({ kind: "advanced", cursor: { updatedAt: "2025-02-19T12:29:00.000Z" } });
      expect((await one.read(key))?.cursor.updatedAt).toBe("2025-02-19T12:29:00.000Z");
    },
  },
  {
    name: "is written by exactly one of many that build on the same revision",
    async run({ connect, open }) {
      const stores = [await connect(), await connect(), await connect(), await connect()];
      const { record } = await open(stores[0] as WatermarkStore, key, { ...fromNow, serverDate: at("12:00:00") });

      const writes = stores.map((store, i) =>
        store.write(key, { cursor: { updatedAt: `2025-02-19T12:0${i + 1}:00.000Z` }, fence: 0n }, record.revision),
      );
      const outcomes = await Promise.all(writes);

      const written = outcomes.filter(({ kind }) => kind === "written");
      expect(written).toHaveLength(1);
      expect(outcomes.filter(({ kind }) => kind === "conflict")).toHaveLength(3);
      expect(written[0]).toMatchObject({ record: await stores[0]?.read(key) });
    },
  },
  {
    name: "rejects a replaced poller at its next write",
    async run({ connect, open }) {
      const [one, two] = [await connect(), await connect()];
      const serverDate = at("12:00:00");
      const old = await open(one, key, { ...fromNow, serverDate, fence: 9n });
      const successor = await open(two, key, { ...fromNow, serverDate, fence: 10n });
      await successor.advance([], at("12:10:00"));

      const outcome = await old.advance([], at("12:30:00"));

      expect(outcome).toEqual({ kind: "stale", fence: 10n });
      expect(await two.read(key)).toMatchObject({ fence: 10n, cursor: { updatedAt: "2025-02-19T12:09:00.000Z" } });
    },
  },
  {
    name: "compares large fences exactly",
    async run({ connect, open }) {
      const store = await connect();
      const serverDate = at("12:00:00");
      const large = 2n ** 60n;
      const old = await open(store, key, { ...fromNow, serverDate, fence: large });
      await (await open(store, key, { ...fromNow, serverDate, fence: large + 1n })).advance([], at("12:10:00"));

      expect(await old.advance([], at("12:30:00"))).toEqual({ kind: "stale", fence: large + 1n });
      expect((await store.read(key))?.fence).toBe(large + 1n);
    },
  },
  {
    name: "is not opened for a replaced poller",
    async run({ connect, open }) {
      const store = await connect();
      const serverDate = at("12:00:00");
      await open(store, key, { ...fromNow, serverDate, fence: 10n });

      await expect(open(store, key, { ...fromNow, serverDate, fence: 9n })).rejects.toMatchObject({ code: "lost" });
    },
  },
  {
    name: "belongs to one stream alone",
    async run({ connect, open }) {
      const store = await connect();
      const serverDate = at("12:00:00");
      const notes = await open(store, keyOf("gitlab", 42, "notes"), { ...fromNow, serverDate });
      const reviews = await open(store, keyOf("gitlab", 42, "reviews"), { ...fromNow, serverDate });
      const others = await open(store, keyOf("gitlab", 43, "notes"), { ...fromNow, serverDate });

      await notes.advance([], at("12:30:00"));

      expect(notes.queryFrom()).toBe("2025-02-19T12:28:00.000Z");
      for (const { key: other } of [reviews, others]) {
        expect((await store.read(other))?.cursor.updatedAt).toBe("2025-02-19T12:00:00.000Z");
      }
    },
  },
  {
    name: "survives a lost response to its write",
    async run({ connect, open }) {
      const store = await connect();
      const wire = { loses: false };
      const watermark = await open(losing(store, wire), key, { ...fromNow, serverDate: at("12:00:00") });
      wire.loses = true;
      await expect(watermark.advance([], at("12:10:00"))).rejects.toMatchObject({ code: "unavailable" });
      wire.loses = false;

      const outcome = await watermark.advance([], at("12:30:00"));

      expect(outcome).toMatchObject({ kind: "advanced", cursor: { updatedAt: "2025-02-19T12:29:00.000Z" } });
      expect((await store.read(key))?.cursor.updatedAt).toBe("2025-02-19T12:29:00.000Z");
    },
  },
  {
    name: "is an error, not a new start, when the store does not respond",
    async run({ connect, open }) {
      const store = await connect();
      const opening = open(unreachable(store), key, { ...fromNow, serverDate: at("12:00:00") });

      await expect(opening).rejects.toMatchObject({ name: "CoordinationError", code: "unavailable" });
    },
  },
  {
    name: "is lost, and not silently restarted, when it was removed",
    async run({ connect, open }) {
      const store = await connect();
      const watermark = await open(store, key, { ...fromNow, serverDate: at("12:00:00") });
      const gone = { ...facade(store), write: async () => ({ kind: "conflict" as const, current: undefined }) };
      const reopened = await open(gone, key, { ...fromNow, serverDate: at("12:00:00") });

      await expect(reopened.advance([], at("12:30:00"))).rejects.toMatchObject({ code: "lost" });
      expect(watermark.record).toEqual(await store.read(key));
    },
  },
];

/** That time of day, as the server formats it. */
function at(time: string): Date {
  return new Date(`2025-02-19T${time}Z`);
}

function finished(id: string, time: string) {
  return { id, updatedAt: `2025-02-19T${time}Z`, finished: true };
}

function unfinished(id: string, time: string) {
  return { ...finished(id, time), finished: false };
}

function facade(store: WatermarkStore): WatermarkStore {
  const { guarantee } = store;
  return { guarantee, read: (of: Key) => store.read(of), write: (...args) => store.write(...args) };
}

/** Writes happen; their answers do not come while `wire.loses`. */
function losing(store: WatermarkStore, wire: { readonly loses: boolean }): WatermarkStore {
  return {
    ...facade(store),
    async write(...args) {
      const outcome = await store.write(...args);
      if (wire.loses) throw noAnswer();
      return outcome;
    },
  };
}

function unreachable(store: WatermarkStore): WatermarkStore {
  const refuse = () => Promise.reject(noAnswer());
  return { ...facade(store), read: refuse, write: refuse };
}

function noAnswer(): CoordinationError {
  return new CoordinationError("unavailable", "no answer");
}
