import { cpus } from "node:os";
import { verdicts } from "../verdicts.ts";
import { ourWaiting, peersWaiting } from "./all-waiting.ts";
import { apart } from "./apart.ts";
import { baton } from "./baton.ts";
import { calibrate } from "./calibration.ts";
import { claimBytes } from "./claim-bytes.ts";
import { type Entry, ttlMs } from "./contender.ts";
import { handOffs } from "./handoff.ts";
import { interlock, interlockCohort } from "./interlock.ts";
import { memory } from "./memory.ts";
import { peers, pollers } from "./peers.ts";
import { type Plan, plans } from "./plans.ts";
import { raw } from "./raw.ts";
import { type RedisServer, startForgetfulRedis, upFor } from "./redis-server.ts";
import { redlockUniversalMissing } from "./redlock-universal.ts";
import {
  type Figures,
  reportHandOffs,
  reportMemory,
  reportSaturation,
  reportUncontended,
  reportWaiting,
} from "./report.ts";
import { saturation } from "./saturation.ts";
import { printTable, rounded } from "./table.ts";
import { targets } from "./targets.ts";
import { uncontended, withNewKeys } from "./uncontended.ts";
import { WorkerProcess } from "./workers.ts";

process.exitCode = await main(process.argv.includes("--quick") ? plans.quick : plans.full);

async function main(plan: Plan): Promise<number> {
  const redis = await startForgetfulRedis();
  const workers = Array.from({ length: 10 }, (_, i) => new WorkerProcess(i));
  console.log(`Node ${process.version}, Redis ${redis.version}, ${cpus().length} CPUs`);
  const missing = redlockUniversalMissing();
  if (missing) console.log(`redlock-universal is left out: ${missing}`);
  try {
    return await bench(plan, redis, workers);
  } finally {
    for (const worker of workers) await worker.stop();
    await redis.stop();
  }
}

/** Measures everything, prints it, and returns the exit code: 1 if two ever held one of our locks at a time. */
async function bench(plan: Plan, redis: RedisServer, allWorkers: readonly WorkerProcess[]): Promise<number> {
  const workers = allWorkers.slice(0, 8);
  // Takes long and costs next to nothing, so it goes on beside the rest.
  const ourWaits = ourWaiting(allWorkers.slice(8), plan.waiting.oursMs);
  // If it fails, that is noticed at the end, when it is waited for.
  ourWaits.catch(() => {});
  const inMemory = await memory(plan.memory);
  const memoryFigures = reportMemory(inMemory);
  const calibration = await calibrate(redis.url, plan.calibrationSamples);
  await upFor(redis.admin, ttlMs);

  const takers = [interlock, raw, ...peers, withNewKeys(interlock)];
  const free = await apart(redis.pid, () => uncontended(takers, redis, plan.uncontended));
  const freeFigures = reportUncontended(free, { raw: raw.name, peers: names(peers) });

  const among2 = await handOffs(workers.slice(0, 2), [interlock, baton, ...peers], redis, plan.handOff1);
  const among8 = await handOffs(workers, [interlock, baton, ...peers, ...pollers], redis, plan.handOff7);
  const handOffFigures = reportHandOffs(among2, among8, { peers: names(peers), pollers: names(pollers) });

  const hot = await saturation(workers.slice(0, 4), [interlock, interlockCohort, ...peers], redis, plan.saturation);
  const hotFigures = reportSaturation(hot, names(peers));

  const peerWaits = await peersWaiting(workers[0] as WorkerProcess, peers, redis.url, plan.waiting.peersMs);
  const waitingFigures = reportWaiting(new Map([...(await ourWaits), ...peerWaits]));

  const { claim: claimBytesRedis, plainKey: plainKeyBytesRedis } = await claimBytes(redis.url, redis.admin);
  printResult(
    { ...freeFigures, ...handOffFigures, ...waitingFigures, ...hotFigures, ...memoryFigures, claimBytesRedis },
    { ...calibration, promiseChain100kQueuedMicros: inMemory.promiseChainQueuedMicros, plainKeyBytesRedis },
  );
  return [among2, among8, hot].some(anyViolation) ? 1 : 0;
}

function printResult(figures: Figures, calibration: Figures) {
  printTable("For comparison", ["", ""], Object.entries(calibration));
  printTable("Result", ["", "", "target", ""], verdicts(figures, targets));
  console.log(JSON.stringify({ ...roundedAll(figures), calibration: roundedAll(calibration) }));
}

function roundedAll(figures: Figures): Figures {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, rounded(value)]));
}

function anyViolation(results: ReadonlyMap<string, readonly { readonly violations: number }[]>): boolean {
  const ours = [interlock, interlockCohort].flatMap(({ name }) => results.get(name) ?? []);
  return ours.some(({ violations }) => violations > 0);
}

function names(entries: readonly Entry[]): string[] {
  return entries.map(({ name }) => name);
}
