import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keyOf, type Locks } from "../../src/coordination/index.ts";
import { type Violation, violationsIn } from "./check.ts";
import { type Figures, figuresOf } from "./figures.ts";
import { type HistoryEvent, mergedHistory, monotonicMs } from "./history.ts";
import { type Backend, openLocks } from "./locks-under-test.ts";
import { sleepMs } from "./sleep-ms.ts";
import { type Cast, Stage } from "./stage.ts";
import type { Theatre } from "./theatre.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Something that goes wrong, and with whom. */
export interface Scenario {
  readonly name: string;
  readonly cast: Cast;
  /** Undefined: it makes sense on every backend. */
  readonly only?: Backend;
  /** The max wait for a lock while there is no fault. Default 25 s. */
  readonly serveWithinMs?: number;
  /** Breaks things. When it returns, nothing is broken any more. */
  play(stage: Stage): Promise<void>;
  /** What must be true of this scenario besides the rules for all. */
  expect?(history: readonly HistoryEvent[]): Violation[];
}

export interface Performance {
  readonly scenario: string;
  readonly backend: Backend;
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly figures: Figures;
  /** The merged history, kept if there were violations. */
  readonly history: string | undefined;
}

const exitWithinMs = 45_000;

/** Plays `scenario` with real processes, and looks for anything that locks must not let happen. */
export async function perform(scenario: Scenario, seed: number, theatre: Theatre): Promise<Performance> {
  const { serveWithinMs = 60_000 } = scenario;
  const dir = join(theatre.dir, `${scenario.name.replaceAll(" ", "-")}-${seed}`);
  const stage = await Stage.open(scenario.cast, { seed, dir, programs: theatre.programs });
  let recoveryMs = 0;
  try {
    await stage.allServed(serveWithinMs);
    await scenario.play(stage).catch((error: Error) => stage.violate("liveness", error.message));
    recoveryMs = await stage.allServed(serveWithinMs);
    await releaseAll(stage);
    await nothingRemains(stage).catch((error: Error) => stage.violate("ghost", error.message));
  } finally {
    await stage.close();
  }
  const events = mergedHistory(stage.histories);
  const broken = violationsIn(events).filter(({ rule }) => isPromised(rule, scenario.cast.backend));
  const violations = [...broken, ...(scenario.expect?.(events) ?? []), ...stage.violations];
  return {
    scenario: scenario.name,
    backend: scenario.cast.backend,
    seed,
    violations,
    figures: figuresOf(events, violations, recoveryMs),
    history: keep(dir, events, violations),
  };
}

/** A failover may forget a lock, so that two workers hold it: then only the fences protect the resource. */
function isPromised(rule: Violation["rule"], backend: Backend): boolean {
  return backend !== "sentinel" || !["exclusion", "notice", "outcome", "quarantine"].includes(rule);
}

/** What went wrong, where it is written down, and how to see it again; empty if nothing did. */
export function reportOf({ scenario, backend, seed, violations, history }: Performance): string {
  if (violations.length === 0) return "";
  const lines = violations.slice(0, 10).map(({ rule, what, at }) => `${rule} at ${at.toFixed(1)}: ${what}`);
  if (violations.length > 10) lines.push(`and ${violations.length - 10} more`);
  return [...lines, `npm run chaos -- --backend ${backend} --scenario "${scenario}" --seed ${seed}`, history].join(
    "\n",
  );
}

/** Some are killed, the others asked to stop: those must end by themselves. */
async function releaseAll(stage: Stage) {
  if (stage.dice.chance(0.5)) {
    const holder = await stage.holder().catch((error: Error) => stage.violate("liveness", error.message));
    if (holder) await stage.kill(holder.worker, "holder killed");
  }
  await Promise.all(stage.alive.map((worker) => leave(worker, stage)));
}

async function leave(worker: WorkerProcess, stage: Stage) {
  worker.signal("SIGTERM");
  if (await Promise.race([worker.ended, sleepMs(exitWithinMs)])) return;
  stage.violate("exit", `${worker.name} still runs ${exitWithinMs / 1_000} s after its stop request`);
  await stage.remove(worker);
}

/** No worker is left, so every key must be free soon, for a new client. */
async function nothingRemains(stage: Stage) {
  const { server, cast } = stage;
  const { keys, ttlMs, maxTtlMs } = cast.plan;
  const options = { worker: "fresh", maxTtlMs, commandTimeoutMs: 2_000 };
  const locks = await openLocks(server.backend, server.urlAt(server.port), options);
  const waitMs = Math.max(ttlMs + server.confirmMs, maxTtlMs) + 5_000;
  await Promise.all(keys.map((key) => takeOnce(key, { locks, stage, waitMs })));
  await locks.close();

  let left = await server.leftovers();
  for (let tries = 0; left.length > 0 && tries < 10; tries++) {
    await sleepMs(server.confirmMs / 8);
    left = await server.leftovers();
  }
  if (left.length > 0) stage.violate("ghost", `the server still keeps ${left.join(", ")}`);
}

async function takeOnce(key: string, { locks, stage, waitMs }: { locks: Locks; stage: Stage; waitMs: number }) {
  const { ttlMs } = stage.cast.plan;
  try {
    const lease = await locks.acquire(keyOf(key), { ttlMs, waitMs });
    const about = { worker: "fresh", lease: `${lease.holder}/${lease.fence}`, key };
    const at = monotonicMs();
    const endsAt = at + lease.remainingMs();
    stage.journal.write({ ...about, at, event: "granted", fence: `${lease.fence}`, ttlMs, endsAt });
    stage.journal.write({ ...about, at: monotonicMs(), event: "releasing" });
    const outcome = await lease.release();
    const reported = outcome.released ? "released" : outcome.reason;
    stage.journal.write({ ...about, at: monotonicMs(), event: "released", outcome: reported });
  } catch (error) {
    stage.violate("ghost", `no worker is left, but ${key} is not free after ${waitMs} ms: ${error}`);
  }
}

function keep(dir: string, events: readonly HistoryEvent[], violations: readonly Violation[]): string | undefined {
  if (violations.length === 0) {
    rmSync(dir, { recursive: true });
    return undefined;
  }
  const path = join(dir, "history.jsonl");
  writeFileSync(path, `${events.map((event) => JSON.stringify(event)).join("\n")}\n`);
  return path;
}
