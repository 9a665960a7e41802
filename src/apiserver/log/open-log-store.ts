import { type Disk, directoryOpener } from "../../disk/index.ts";
import { type Logger, silentLogger } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";
import type { ObjectStore } from "../object-store.ts";
import { ChangeFeed, type HistoryLimits } from "./change-feed.ts";
import { LogStore } from "./log-store.ts";
import type { LoggedChange } from "./logged-change.ts";
import { type LogSpace, ObjectLog } from "./object-log.ts";
import { ObjectTable } from "./object-table.ts";
import { recover } from "./recover.ts";
import { type Parse, StoredObject, type TextSpill } from "./stored-object.ts";

export interface LogStoreOptions {
  /** Created if it is missing. One process at a time can open it: any other gets a DiskError `in-use`. */
  readonly directory: string;
  /** Parses the JSON text of a stored object into a deeply readonly object. Called when the object is needed. */
  readonly parse: Parse;
  readonly clock: Clock;
  readonly log?: Logger;
  readonly history?: HistoryLimits;
  readonly space?: LogSpace;
  /** Keeps the texts of large objects out of memory. Without one they are all in memory. */
  readonly openSpill?: (directory: string) => TextSpill;
  /** The revision before the first, if there is nothing in the directory yet. */
  readonly newStoreAt?: number;
  /** For tests: a disk that loses unsynced writes. */
  readonly openDisk?: (directory: string, clock: Clock) => Promise<Disk>;
}

/** Not zero: on a real server version 1 is always too old to continue from. */
const beforeFirstRevision = 100;
const megabyte = 1024 * 1024;
const defaultHistory: HistoryLimits = { changes: 50_000, characters: 8 * megabyte };
const defaultSpace: LogSpace = {
  compactedFromBytes: 16 * megabyte,
  compactedFromRatio: 1,
  reservedBytes: megabyte,
};

/**
 * A store that holds all objects in memory, large ones in a spill if there is one, and every change in a log on disk.
 * Throws a DiskError when the directory is in use or damaged. Changes from before the start cannot be watched:
 * `compactedRevision` is the revision it found.
 */
export async function openLogStore({
  directory,
  parse,
  clock,
  log = silentLogger,
  history = defaultHistory,
  space = defaultSpace,
  openSpill,
  newStoreAt = beforeFirstRevision,
  openDisk = directoryOpener("interlock-objects"),
}: LogStoreOptions): Promise<ObjectStore> {
  const startedAt = clock.now();
  const disk = await openDisk(directory, clock);
  const table = new ObjectTable(openSpill?.(disk.directory));
  try {
    const { reservedBytes: reserveBytes } = space;
    const { revision, segments } = await recover(disk, intoTable(table, parse), { log, newStoreAt, reserveBytes });
    const content = () => ({
      revision: store.revision,
      characters: table.characters,
      objects: table.unchangedSince(store.revision),
    });
    const objectLog = new ObjectLog(disk, segments, { space, content, log });
    const feed = new ChangeFeed(revision, history);
    const store: LogStore = new LogStore({ directory: disk.directory, revision, table, feed, log: objectLog, parse });
    log.info("store opened", { directory, revision, objects: table.size, ms: Math.round(clock.now() - startedAt) });
    return store;
  } catch (error) {
    table.close();
    await disk.close();
    throw error;
  }
}

/** Resources and namespaces are few but stand in every key: each text is kept once. */
function intoTable(table: ObjectTable, parse: Parse): (change: LoggedChange) => void {
  const texts = new Map<string, string>();
  return ({ do: kind, key, revision, json }) => {
    if (kind === "delete") return table.delete(key);
    const shared = { resource: once(key.resource), namespace: once(key.namespace), name: key.name };
    const object = new StoredObject(shared, revision, json, parse);
    table.put(object);
    table.spill(object);
  };

  function once(text: string): string {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  }
}
