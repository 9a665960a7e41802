import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recordingLogger } from "../../../test/doubles/recording-logger.ts";
import { type Disk, type DiskFile, openDirectory } from "../../disk/index.ts";
import { KubeError } from "../../kube/client.ts";
import { silentLogger } from "../../telemetry/index.ts";
import { systemClock } from "../../time/index.ts";
import { objectStoreContract } from "../object-store.contract.ts";
import type { ObjectStore, WriteDecision } from "../object-store.ts";
import { openFileSpill } from "./file-spill.ts";
import { type LogStoreOptions, openLogStore } from "./open-log-store.ts";
import type { SpilledText, TextSpill } from "./stored-object.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "interlock-store-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

objectStoreContract("log", () => open());
objectStoreContract("log with a spill", () => open({ openSpill }));

describe("a log store that is opened again", () => {
  it("has every change that was acknowledged", async () => {
    const before = await open();
    await Promise.all([put(before, "a", { text: "ä€😀" }), put(before, "b"), put(before, "c")]);
    await remove(before, "b");
    await before.close();

    const store = await open();

    expect(names(store)).toEqual(["a", "c"]);
    expect(store.get("things", "here", "a")?.object).toMatchObject({ text: "ä€😀" });
    expect(store.revision).toBe(before.revision);
    await store.close();
  });

  it("never uses a revision again, even if the newest changes were deletions", async () => {
    const before = await open();
    await put(before, "a");
    const last = await remove(before, "a");
    await before.close();

    const store = await open();

    expect(await put(store, "a")).toBe(last + 1);
    await store.close();
  });

  it("continues its own revisions, wherever a new store would begin now", async () => {
    const before = await open({ newStoreAt: 5_000_000_000_000 });
    const first = await put(before, "a");
    await before.close();

    const store = await open({ newStoreAt: 7_000_000_000_000 });

    expect(first).toBe(5_000_000_000_001);
    expect(await put(store, "b")).toBe(5_000_000_000_002);
    await store.close();
  });

  it("cannot be watched from before it was opened", async () => {
    const before = await open();
    const first = await put(before, "a");
    const last = await put(before, "b");
    await before.close();

    const store = await open();

    expect(store.compactedRevision).toBe(last);
    expect(store.watch("things", first, () => {})).toBeUndefined();
    expect(store.watch("things", last, () => {})).toBeDefined();
    await store.close();
  });

  it("parses an object once, when it is first read", async () => {
    const before = await open();
    await put(before, "a");
    await put(before, "b");
    await before.close();
    const parsed: string[] = [];

    const store = await open({
      parse: (json) => {
        parsed.push(json);
        return JSON.parse(json);
      },
    });
    const entry = store.get("things", "here", "a");
    const object = entry?.object;

    expect(entry?.object).toBe(object);
    expect(parsed).toEqual([entry?.json]);
    await store.close();
  });
});

describe("a log store with a spill", () => {
  it("returns its objects unchanged after they were spilled, changed, deleted and read from the log", async () => {
    const before = await open({ openSpill });
    for (const name of ["a", "b", "c"]) await put(before, name, { text: `ä€😀 ${name} `.repeat(200) });
    await put(before, "b", { text: "changed" });
    await remove(before, "c");
    expect(texts(before)).toEqual(["ä€😀 a ".repeat(200), "changed"]);
    await before.close();

    const store = await open({ openSpill });

    expect(texts(store)).toEqual(["ä€😀 a ".repeat(200), "changed"]);
    await store.close();
  });

  it("keeps the text of an earlier version for its readers when the spill is reused", async () => {
    const store = await open({ openSpill });
    await put(store, "a", { text: "x".repeat(5_000) });
    const found = store.get("things", "here", "a");
    const listed = store.list("things");

    await put(store, "a", { text: "y".repeat(5_000) });
    await put(store, "b", { text: "z".repeat(5_000) });

    expect(found?.json).toContain("x".repeat(5_000));
    expect([...listed].map(({ json }) => JSON.parse(json).text)).toEqual(["x".repeat(5_000)]);
    await store.close();
  });

  it("leaves no file behind, and reuses the blocks of replaced texts", async () => {
    const store = await open({ openSpill });

    for (let i = 0; i < 100; i++) await put(store, "a", { text: String(i).repeat(2_000) });

    expect(readdirSync(directory).filter((name) => name.includes("spill"))).toEqual([]);
    expect(store.get("things", "here", "a")?.object).toMatchObject({ text: "99".repeat(2_000) });
    await store.close();
  });

  it("keeps objects in memory while the spill fails", async () => {
    const full: TextSpill = { put: () => undefined, close() {} };
    const store = await open({ openSpill: () => full });

    await put(store, "a", { text: "x".repeat(5_000) });

    expect(texts(store)).toEqual(["x".repeat(5_000)]);
    await store.close();
  });

  it("accepts writes for an object whose spilled text cannot be read", async () => {
    const unreadable: SpilledText = {
      read() {
        throw new KubeError("unavailable", "damaged");
      },
      free() {},
    };
    const store = await open({ openSpill: () => ({ put: () => unreadable, close() {} }) });
    await put(store, "a");
    expect(() => store.get("things", "here", "a")?.json).toThrow("damaged");

    const revision = await put(store, "a");

    expect(store.get("things", "here", "a")?.revision).toBe(revision);
    await store.close();
  });
});

describe("a log store's directory", () => {
  it("rejects a second opener with the directory and its owner", async () => {
    const store = await open();

    await expect(open()).rejects.toMatchObject({
      code: "in-use",
      message: expect.stringMatching(`${directory} is in use by pid ${process.pid} since 20`),
    });

    await store.close();
  });

  it("can be opened again as soon as it is closed", async () => {
    await (await open()).close();

    const store = await open();

    expect(store.revision).toBe(100);
    await store.close();
  });

  it("is not created by a process that cannot open it", async () => {
    writeFileSync(join(directory, "file"), "");

    await expect(open({ directory: join(directory, "file") })).rejects.toThrow("EEXIST");
  });

  it("can be opened again after damage was found in it", async () => {
    const path = await storeWith(3);
    damage(path, 30);
    await expect(open()).rejects.toMatchObject({ code: "damaged" });

    damage(path, 30);

    await (await open()).close();
  });
});

describe("a log that was cut short", () => {
  it("ends with its last complete frame, and logs the cut", async () => {
    const path = await storeWith(3);
    truncateSync(path, endOf(path) - 1);
    const log = recordingLogger();

    const store = await open({ log });

    expect(names(store)).toEqual(["thing-1", "thing-2"]);
    expect(log.events).toContainEqual({
      level: "warn",
      event: "incomplete write cut off",
      fields: { file: "00000001.log", offset: expect.any(Number), bytes: expect.any(Number) },
    });
    await put(store, "thing-4");
    await store.close();
    const again = await open();
    expect(names(again)).toEqual(["thing-1", "thing-2", "thing-4"]);
    await again.close();
  });
});

describe("a snapshot", () => {
  const space = { compactedFromBytes: 2_000, compactedFromRatio: 1, reservedBytes: 4_096 };

  it("replaces the log before it while writes continue", async () => {
    const store = await open({ space });
    for (let i = 0; i < 200; i++) await put(store, `thing-${i % 7}`, { text: "x".repeat(100) });
    await store.close();

    const size = files().reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
    const again = await open();

    expect(files().some((name) => name.endsWith(".snapshot"))).toBe(true);
    expect(size).toBeLessThan(20_000);
    expect(names(again)).toHaveLength(7);
    expect(again.revision).toBe(store.revision);
    await again.close();
  });

  it("is refused if its log is missing", async () => {
    const store = await open({ space });
    for (let i = 0; i < 60; i++) await put(store, `thing-${i % 3}`, { text: "x".repeat(50) });
    await store.close();
    await (await open()).close();

    rmSync(join(directory, files().find((name) => name.endsWith(".log")) as string));

    await expect(open()).rejects.toMatchObject({ code: "damaged", message: expect.stringContaining("is missing") });
  });

  it("is retried later when the disk is full, without an effect on callers", async () => {
    const log = recordingLogger();
    let isFull = true;
    const openDisk = diskWhere((name) => isFull && name.endsWith(".snapshot.new"));

    const store = await open({ space, log, openDisk });
    for (let i = 0; i < 60; i++) await put(store, `thing-${i % 3}`, { text: "x".repeat(100) });
    expect(log.events.map(({ event }) => event)).toContain("compaction postponed");
    isFull = false;
    for (let i = 0; i < 60; i++) await put(store, `thing-${i % 3}`, { text: "x".repeat(100) });
    await store.close();

    expect(log.events.map(({ event }) => event)).toContain("log compacted");
    const again = await open();
    expect(names(again)).toHaveLength(3);
    await again.close();
  });
});

describe("a write to a log store", () => {
  it("is visible before it is durable to later decisions only", async () => {
    const { openDisk, hold, release } = slowDisk();
    const store = await open({ openDisk });
    const revision = store.revision;
    const notified: number[] = [];
    store.watch("things", revision, ({ entry }) => notified.push(entry.revision));
    hold();

    const written = put(store, "a");
    const seen = store.write(key("a"), (current) => ({ do: "nothing", result: current?.revision }));
    const refused = store.write(key("a"), () => {
      throw new Error("exists");
    });
    const unrelated = await store.write(key("b"), (current) => ({ do: "nothing", result: current }));
    const answered = await Promise.race([written, seen, refused, afterAWhile()]);

    expect(answered).toBe("after a while");
    expect(unrelated).toBeUndefined();
    expect([store.revision, store.get("things", "here", "a"), names(store), notified]).toEqual([
      revision,
      undefined,
      [],
      [],
    ]);
    release();
    expect(await written).toBe(revision + 1);
    expect(await seen).toBe(revision + 1);
    await expect(refused).rejects.toThrow("exists");
    expect(notified).toEqual([revision + 1]);
    await store.close();
  });

  it("shares one flush with all writes that arrive during another flush", async () => {
    const { openDisk, flushes } = slowDisk();
    const store = await open({ openDisk });
    await put(store, "first");
    const before = flushes();

    await Promise.all(Array.from({ length: 50 }, (_, i) => put(store, `thing-${i}`)));

    expect(flushes() - before).toBe(1);
    await store.close();
  });

  it("is finished by close", async () => {
    const store = await open();
    const written = put(store, "a");

    await store.close();

    expect(await written).toBe(101);
  });

  it("is unavailable when the disk is full, with all writes that depend on it; later writes succeed", async () => {
    let isFull = false;
    const store = await open({ openDisk: diskWhere((name) => isFull && name.endsWith(".log")) });
    await put(store, "a");
    isFull = true;

    const outcomes = await Promise.allSettled([put(store, "a"), put(store, "b"), remove(store, "a"), put(store, "a")]);

    const reasons = outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason);
    const unavailable = {
      code: "unavailable",
      message: expect.stringContaining(`${directory} rejected the change: ENOSPC`),
    };
    expect(reasons).toMatchObject([unavailable, unavailable, unavailable, unavailable]);
    expect([store.revision, names(store)]).toEqual([101, ["a"]]);
    isFull = false;
    await put(store, "c");
    await store.close();
    const again = await open();
    expect(names(again)).toEqual(["a", "c"]);
    await again.close();
  });

  it.each([
    ["delete a missing object", (): WriteDecision<number> => change("delete", "a", 101), "nothing to delete"],
    ["carry another revision", (): WriteDecision<number> => change("put", "a", 7), "resourceVersion 101"],
  ])("must not %s", async (_, decide, message) => {
    const store = await open();

    await expect(store.write(key("a"), decide)).rejects.toThrow(message);

    expect(store.revision).toBe(100);
    await store.close();
  });
});

describe("the history of a log store", () => {
  it.each([
    ["changes", { changes: 10, characters: 1_000_000 }],
    ["characters", { changes: 1_000, characters: 1_000 }],
  ])("is bounded by the number of %s", async (_, history) => {
    const store = await open({ history });
    const first = await put(store, "a");
    for (let i = 0; i < 30; i++) await put(store, `thing-${i}`);
    const notified: string[] = [];

    const watcher = store.watch("things", store.compactedRevision, ({ key }) => notified.push(key.name));

    expect(watcher).toBeDefined();
    expect(notified.length).toBeGreaterThan(5);
    expect(notified.length).toBeLessThan(15);
    expect(notified.at(-1)).toBe("thing-29");
    expect(store.watch("things", first, () => {})).toBeUndefined();
    await store.close();
  });

  it("is bounded by the characters of the objects that were replaced by smaller ones", async () => {
    const store = await open({ history: { changes: 1_000, characters: 10_000 } });
    for (let i = 0; i < 30; i++) await put(store, `thing-${i}`, { text: "x".repeat(1_000) });
    for (let i = 0; i < 30; i++) await put(store, `thing-${i}`);
    const notified: string[] = [];

    store.watch("things", store.compactedRevision, ({ key }) => notified.push(key.name));

    expect(notified.length).toBeGreaterThan(5);
    expect(notified.length).toBeLessThan(15);
    await store.close();
  });
});

function open(options: Partial<LogStoreOptions> = {}): Promise<ObjectStore> {
  return openLogStore({ directory, parse: JSON.parse, clock: systemClock(), ...options });
}

function put(store: ObjectStore, name: string, fields: object = {}): Promise<number> {
  return store.write(key(name), (_, revision) => change("put", name, revision, fields));
}

function remove(store: ObjectStore, name: string): Promise<number> {
  return store.write(key(name), (_, revision) => change("delete", name, revision));
}

function change(kind: "put" | "delete", name: string, revision: number, fields: object = {}): WriteDecision<number> {
  const object = { ...fields, metadata: { name, namespace: "here", resourceVersion: String(revision) } };
  return { do: kind, object, json: JSON.stringify(object), result: revision };
}

function key(name: string) {
  return { resource: "things", namespace: "here", name };
}

function names(store: ObjectStore): (string | undefined)[] {
  return [...store.list("things")].map(({ object }) => object.metadata.name);
}

/** A closed store with so many objects, each in a frame of its own; returns the path of its log. */
async function storeWith(objects: number): Promise<string> {
  const store = await open();
  for (let i = 1; i <= objects; i++) await put(store, `thing-${i}`);
  await store.close();
  return join(directory, "00000001.log");
}

function files(): string[] {
  return readdirSync(directory);
}

/** Where the zeros that the log has reserved begin. */
function endOf(path: string): number {
  const bytes = readFileSync(path);
  return bytes.findLastIndex((byte) => byte !== 0) + 1;
}

/** Changes one byte; doing it again repairs it. */
function damage(path: string, at: number) {
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
  writeFileSync(path, bytes);
}

function afterAWhile(): Promise<string> {
  return new Promise((resolve) => setTimeout(() => resolve("after a while"), 20));
}

/** The real disk, with other ways to write. */
function diskWith(
  write: (file: DiskFile, name: string) => DiskFile["write"],
): NonNullable<LogStoreOptions["openDisk"]> {
  return async (path, clock) => {
    const disk: Disk = await openDirectory(path, clock);
    const open: Disk["open"] = async (name, mode) => {
      const file = await disk.open(name, mode);
      return { ...file, write: write(file, name) };
    };
    return { ...disk, open };
  };
}

/** A disk that accepts only half of each write to some files, then is full. */
function diskWhere(isFull: (name: string) => boolean) {
  return diskWith((file, name) => async (bytes, position) => {
    if (!isFull(name)) return file.write(bytes, position);
    await file.write(bytes.subarray(0, bytes.length >> 1), position);
    throw new Error("ENOSPC: no space left on device");
  });
}

/** A disk that delays writes until the test releases them. */
function slowDisk() {
  let flushes = 0;
  let held: Promise<void> | undefined;
  let release = () => {};
  const openDisk = diskWith((file) => async (bytes, position) => {
    flushes++;
    await held;
    await file.write(bytes, position);
  });
  const hold = () => {
    held = new Promise((resolve) => {
      release = resolve;
    });
  };
  return { openDisk, hold, release: () => release(), flushes: () => flushes };
}

function openSpill(directory: string): TextSpill {
  return openFileSpill(directory, { log: silentLogger, minCharacters: 0 });
}

function texts(store: ObjectStore): unknown[] {
  return [...store.list("things")].map(({ object }) => Reflect.get(object, "text"));
}
