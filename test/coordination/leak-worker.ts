import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import {
  isCoordinationError,
  keyOf,
  type Lease,
  type Locks,
  memoryLocks,
  RedisConnection,
  redisLocks,
} from "../../src/coordination/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";

/** What a worker found, on one line of its output. */
export interface LeakReport {
  /** Bytes in use after a full collection, at even intervals. */
  readonly heap: readonly number[];
  /** Listeners left on a signal that outlives every call it was given to. */
  readonly listeners: number;
}

// leak-worker.ts memory|redis CYCLES [URL]: callers that stop waiting, again and again. Nothing here ends the process:
// when all is closed, it must end by itself.
const [backend, cycles = "0", url = ""] = process.argv.slice(2);
const abreast = 100;
const ttlMs = 3_000;
// Each caller that stops waiting gets an error; the memory of stack traces is not measured here.
Error.stackTraceLimit = 0;
const samples = 10;

const locks = await opened();
const others = backend === "memory" ? locks : await opened();
const keys = Array.from({ length: abreast }, (_, i) => keyOf("leak", i));
const held = await Promise.all(keys.map((key) => others.acquire(key, { ttlMs })));

const shutdown = new AbortController();
const heap: number[] = [];
for (let sample = 0; sample < samples; sample++) {
  for (let cycle = 0; cycle < Number(cycles) / samples; cycle += abreast) await waitInVain(cycle / abreast);
  heap.push(heapInUse());
}
await Promise.all(held.map((lease) => lease.release()));
await takeTurns();

const listeners = getEventListeners(shutdown.signal, "abort").length;
await locks.close();
await others.close();
process.stdout.write(`${JSON.stringify({ heap, listeners } satisfies LeakReport)}\n`);
setTimeout(() => console.error("still alive because of", process.getActiveResourcesInfo()), 4_000).unref();

async function opened(): Promise<Locks> {
  const given = { clock: systemClock(), random: systemRandom() };
  if (backend === "memory") return memoryLocks(given);
  const connection = new RedisConnection({ url, ...given });
  const opening = redisLocks({ ...given, connection, maxTtlMs: ttlMs, defaults: { ttlMs } });
  await connection.connect();
  return opening;
}

/** A caller for each key, all of which stop waiting: at once, or when their question has reached the backend. */
async function waitInVain(round: number) {
  // A few share a signal, as the parts of one request do.
  const patience = Array.from({ length: abreast / 4 }, () => new AbortController());
  const waits = keys.map((key, i) => locks.acquire(key, { ttlMs, signal: patience[i >> 2]?.signal as AbortSignal }));
  const ended = Promise.all(waits.map((wait) => wait.then(unexpected, expectAborted)));
  if (round % 2 === 0) await turn();
  for (const caller of patience) caller.abort("had enough");
  await ended;
  // Callers can give up faster than the backend is notified: later requests are answered after them.
  await (await locks.acquire(keyOf("free"), { ttlMs })).release();
}

/** Callers that do get their turn, under a signal that never aborts. */
async function takeTurns() {
  for (let i = 0; i < 1_000; i++) {
    const first = await locks.acquire(keyOf("free"), { ttlMs });
    const second = locks.acquire(keyOf("free"), { ttlMs, signal: shutdown.signal });
    await first.release();
    await (await second).release();
  }
}

function unexpected(lease: Lease): never {
  throw new Error(`${lease.key} is held, and was granted`);
}

function expectAborted(error: unknown) {
  if (!isCoordinationError(error, "aborted")) throw error;
}

function heapInUse(): number {
  if (!globalThis.gc) throw new Error("run this with --expose-gc");
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
