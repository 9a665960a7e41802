import type { Violation } from "./check.ts";
import type { HistoryEvent } from "./history.ts";
import type { Backend } from "./locks-under-test.ts";
import type { Scenario } from "./perform.ts";
import { sleepMs } from "./sleep-ms.ts";
import type { Cast, Stage } from "./stage.ts";

/** Short, so that much can happen in little time. */
const ttlMs = 1_000;

/** Those that make sense on `backend`. Sentinels send clients to the servers directly, past the proxies that most of them need. */
export function scenariosOn(backend: Backend): readonly Scenario[] {
  return scenarios
    .filter(({ only }) => (only ? only === backend : backend !== "sentinel"))
    .map((scenario) => ({ ...scenario, cast: { ...scenario.cast, backend } }));
}

/** Every fault by itself, at the worst moment that can be arranged. */
const scenarios: readonly Scenario[] = [
  {
    name: "nothing is broken",
    cast: cast({}, { cohort: 3, ttlMs: 2_000 }),
    play: () => sleepMs(2_000),
    expect: everythingIsFine,
  },
  {
    name: "holders are killed",
    cast: cast(),
    play: (stage) => rounds(3, () => killAndReplace(stage, "holder")),
  },
  {
    name: "waiters are killed",
    cast: cast({ workers: 5 }, { keys: ["a"] }),
    play: (stage) => rounds(3, () => killAndReplace(stage, "waiter")),
  },
  {
    name: "holders are stopped",
    cast: cast({}, { holdMs: [300, 900] }),
    play: (stage) =>
      rounds(3, async () => {
        const { worker } = await stage.holder();
        await stage.stop(worker, "holder stopped", stage.dice.between(0.5, 2.5) * ttlMs);
      }),
  },
  {
    name: "waiters are stopped",
    cast: cast({ workers: 5 }, { keys: ["a"] }),
    play: (stage) =>
      rounds(3, async () => stage.stop(await stage.waiter(), "waiter stopped", stage.dice.between(0.5, 2.5) * ttlMs)),
  },
  {
    // The holder also waits for another lock, and its lease outlasts the patience of its connection: what the process
    // does about the unanswered wait must not keep it from noticing the end of the lease.
    name: "a holder is cut off in silence",
    cast: cast({ workers: 3 }, { keys: ["a", "b", "c"], holdMs: [1_500, 2_500], commandTimeoutMs: 400 }),
    play: (stage) =>
      rounds(2, async () => {
        const { worker } = await stage.newHolder();
        await stage.network(worker, { mode: "black-hole" }, 2.5 * ttlMs);
      }),
    expect: someHolderIsNotified,
  },
  {
    name: "connections are reset",
    cast: cast(),
    play: (stage) =>
      rounds(4, async () => {
        const { worker } = await stage.holder();
        await stage.network(worker, { mode: "cut" }, stage.dice.between(0, 800));
        await sleepMs(200);
      }),
  },
  {
    name: "replies take longer than a lease",
    cast: cast({}, { commandTimeoutMs: 5_000, holdMs: [20, 200] }),
    play: async (stage) => {
      const [one, two] = stage.alive;
      if (!one || !two) throw new Error("there are too few workers");
      await Promise.all([
        stage.network(one, { mode: "hold-replies", ms: 1.3 * ttlMs }, 4 * ttlMs),
        stage.network(two, { mode: "hold-replies", ms: 0.7 * ttlMs }, 4 * ttlMs),
      ]);
    },
  },
  {
    name: "the network is slow",
    cast: cast(),
    play: async (stage) => {
      const ms = stage.dice.between(20, 120);
      await Promise.all(stage.alive.map((worker) => stage.network(worker, { mode: "delay", ms }, 2_500)));
    },
  },
  {
    name: "everything arrives a byte at a time",
    cast: cast(),
    play: async (stage) => {
      await stage.forgetScripts();
      await Promise.all(stage.alive.map((worker) => stage.network(worker, { mode: "one-byte" }, 2_000)));
    },
  },
  {
    name: "the server restarts empty",
    only: "redis",
    cast: cast({ workers: 3 }, { lanes: 1, ttlMs: 2_000, maxTtlMs: 3_000, holdMs: [2_500, 3_500] }),
    play: async (stage) => {
      await stage.newHolder();
      await stage.restartServer();
    },
    expect: someLeaseIsKept,
  },
  {
    // Without a quarantine every lock is forgotten as if it had been deleted; the fences go on.
    name: "the server restarts empty and nobody waits",
    only: "kubernetes",
    cast: cast({ workers: 3 }, { holdMs: [300, 900] }),
    play: (stage) => rounds(2, () => restartUnderHolder(stage)),
    expect: grantsGoOn,
  },
  {
    name: "the server restarts empty and a holder cannot reach it",
    only: "redis",
    cast: cast({ workers: 2 }, { keys: ["a"], lanes: 1, ttlMs: 3_000, holdMs: [2_500, 5_000] }),
    play: async (stage) => {
      const { worker } = await justRenewed(stage);
      const cutOff = [stage.network(worker, { mode: "black-hole" }, 3_500)];
      await lateInASecond(800);
      // The others come back when the next second has begun.
      for (const other of stage.alive) if (other !== worker) cutOff.push(stage.network(other, { mode: "cut" }, 230));
      await stage.restartServer();
      await Promise.all(cutOff);
    },
  },
  {
    name: "the server restarts with what it wrote every second",
    only: "redis",
    cast: cast({ persistence: "everysec" }, { maxTtlMs: 1_500 }),
    play: (stage) => rounds(2, () => restartUnderHolder(stage)),
  },
  {
    name: "the server restarts with everything",
    cast: cast({ persistence: "always" }, { maxTtlMs: 10_000 }),
    play: (stage) => rounds(2, () => restartUnderHolder(stage)),
    expect: grantsGoOn,
  },
  {
    name: "the server restarts with an old snapshot and nobody reaches it for long",
    only: "redis",
    cast: cast({}, { holdMs: [10, 60] }),
    play: async (stage) => {
      await stage.server.redis?.snapshot();
      await sleepMs(700);
      const unreachable = stage.alive.map((worker) => stage.network(worker, { mode: "cut" }, 3_500));
      await stage.restartServer();
      await Promise.all(unreachable);
    },
  },
  {
    name: "primaries are killed under their holders",
    only: "sentinel",
    cast: cast({ workers: 4 }, { holdMs: [100, 900], maxTtlMs: 1_500, commandTimeoutMs: 500 }),
    play: (stage) => rounds(2, () => restartUnderHolder(stage)),
  },
  {
    name: "holders and primaries are killed together",
    only: "sentinel",
    cast: cast({ workers: 4 }, { holdMs: [100, 900], maxTtlMs: 1_500, commandTimeoutMs: 500 }),
    play: (stage) =>
      rounds(2, async () => {
        await Promise.all([killAndReplace(stage, "holder"), stage.restartServer()]);
        await sleepMs(stage.dice.between(200, 800));
      }),
  },
  {
    name: "primaries are stopped until another takes over",
    only: "sentinel",
    cast: cast({ workers: 4 }, { holdMs: [100, 900], maxTtlMs: 1_500, commandTimeoutMs: 500 }),
    play: (stage) =>
      rounds(2, async () => {
        await stage.holder();
        await stage.stopServer(4_000);
        await sleepMs(1_000);
      }),
  },
  {
    name: "the server is stopped",
    cast: cast({}, { commandTimeoutMs: 500 }),
    play: (stage) =>
      rounds(2, async () => {
        await stage.holder();
        await stage.stopServer(stage.dice.between(0.5, 2) * ttlMs);
        await sleepMs(300);
      }),
  },
  {
    name: "locks are deleted from outside",
    cast: cast({}, { waitMs: 120, holdMs: [300, 900] }),
    play: (stage) =>
      rounds(6, async () => {
        const { key } = await stage.holder();
        await stage.deleteLock(key);
        await sleepMs(stage.dice.between(200, 600));
      }),
  },
  {
    name: "scripts are flushed",
    only: "redis",
    cast: cast(),
    play: (stage) =>
      rounds(15, async () => {
        await stage.forgetScripts();
        await sleepMs(stage.dice.between(20, 150));
      }),
  },
];

function cast(changes: Partial<Omit<Cast, "plan">> = {}, plan: Partial<Cast["plan"]> = {}): Cast {
  const defaults: Cast["plan"] = {
    keys: ["a", "b"],
    lanes: 2,
    ttlMs,
    maxTtlMs: plan.ttlMs ?? ttlMs,
    commandTimeoutMs: 1_000,
    waitMs: 5_000,
    holdMs: [10, 250],
    idleMs: [0, 20],
    cohort: 1,
    impatience: 0.1,
  };
  return { backend: "redis", persistence: "none", workers: 4, ...changes, plan: { ...defaults, ...plan } };
}

async function rounds(count: number, round: () => Promise<void>) {
  for (let i = 0; i < count; i++) await round();
}

async function killAndReplace(stage: Stage, who: "holder" | "waiter") {
  const worker = who === "holder" ? (await stage.holder()).worker : await stage.waiter();
  await stage.kill(worker, `${who} killed`);
  await stage.spawn();
  await sleepMs(stage.dice.between(100, 500));
}

async function restartUnderHolder(stage: Stage) {
  await stage.holder();
  await stage.restartServer();
  await sleepMs(stage.dice.between(200, 800));
}

/** Servers that count their uptime in whole seconds are most wrong about it when started right before one is full. */
async function lateInASecond(ms: number) {
  await sleepMs((ms - (Date.now() % 1_000) + 1_000) % 1_000);
}

/** A holder whose lease is new, at a time from which it is not far to the next full second. */
async function justRenewed(stage: Stage) {
  for (let tries = 0; tries < 2_000; tries++) {
    const found = await stage.holder();
    const inSecond = Date.now() % 1_000;
    const { maxTtlMs } = stage.cast.plan;
    if (inSecond > 400 && inSecond < 780 && ((await stage.server.redis?.lockLastsMs(found.key)) ?? 0) > maxTtlMs - 50)
      return found;
    await sleepMs(5);
  }
  throw new Error("no lease was renewed at a good moment");
}

function everythingIsFine(history: readonly HistoryEvent[]): Violation[] {
  // An overloaded machine is a fault that was not injected.
  if (history.some((event) => event.event === "stalled" && event.at - event.from > 300)) return [];
  const wrong = (event: HistoryEvent) =>
    (event.event === "lost" && !event.closed) ||
    (event.event === "released" && event.outcome !== "released") ||
    (event.event === "effect" && !event.accepted);
  return history.filter(wrong).map((event) => {
    return { rule: "outcome", at: event.at, what: `although nothing is broken: ${JSON.stringify(event)}` };
  });
}

function someHolderIsNotified(history: readonly HistoryEvent[]): Violation[] {
  if (history.some((event) => event.event === "lost" && event.why.includes("not renewed in time"))) return [];
  return [{ rule: "notice", at: 0, what: "no holder was cut off for long enough to lose its lease" }];
}

/** A lease that was held when the server died went on after it was back. */
function someLeaseIsKept(history: readonly HistoryEvent[]): Violation[] {
  const back = history.find((event) => event.event === "healed")?.at ?? Infinity;
  const before = new Set(
    history.flatMap((event) => (event.event === "granted" && event.at < back ? [event.lease] : [])),
  );
  if (history.some((event) => event.event === "extended" && event.at > back && before.has(event.lease))) return [];
  return [{ rule: "quarantine", at: back, what: "no lease outlived the restart" }];
}

/** A server that loses nothing needs no quarantine. */
function grantsGoOn(history: readonly HistoryEvent[]): Violation[] {
  const restarts = history.filter((event) => event.event === "healed" && event.fault === "server restarted");
  return restarts.flatMap(({ at }) => {
    const granted = history.find((event) => event.event === "granted" && event.at > at)?.at ?? Infinity;
    if (granted - at < 5_000) return [];
    const what = `a server that forgets nothing granted nothing for ${granted - at} ms`;
    return [{ rule: "liveness" as const, at: granted, what }];
  });
}
