import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RedisService, startRedis } from "../services/redis.ts";
import type { LeakReport } from "./leak-worker.ts";

describe.concurrent("callers that stop waiting leave nothing behind", { timeout: 120_000 }, () => {
  let redis: RedisService;

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it("in a million turns on memory locks", async () => {
    const { heap, listeners } = await leakWorker("memory", "1000000");

    expect(growth(heap)).toBeLessThan(mebibyte);
    expect(listeners).toBe(0);
  });

  it("in a hundred thousand turns on Redis locks, neither here nor there", async () => {
    const { heap, listeners } = await leakWorker("redis", "100000", redis.url);

    expect(growth(heap)).toBeLessThan(mebibyte);
    expect(listeners).toBe(0);
    // The counter of fences, the name of the server's run, and the version of the format.
    expect(await redis.command("DBSIZE")).toBe(3);
  });
});

/** A byte and a half for each of the turns: no object is that small. */
const mebibyte = 2 ** 20;

/** The growth after the first turns, in which code is compiled and tables find their size. */
function growth(heap: readonly number[]): number {
  return Math.min(...heap.slice(-2)) - Math.min(...heap.slice(1, 3));
}

/** Runs a worker until it ends by itself. */
function leakWorker(...args: readonly string[]): Promise<LeakReport> {
  const path = fileURLToPath(new URL("./leak-worker.ts", import.meta.url));
  const child = spawn(process.execPath, ["--expose-gc", "--import", "tsx", path, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_OPTIONS: "" },
    timeout: 100_000,
  });
  let output = "";
  let complaints = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  child.stderr.on("data", (data) => {
    complaints += data;
  });
  return new Promise((resolve, reject) => {
    child.once("close", (code, signal) => {
      if (code === 0) resolve(JSON.parse(output));
      else reject(new Error(`the worker ended with ${code ?? signal} and not by itself: ${output}${complaints}`));
    });
  });
}
