import type { Network } from "../services/tcp-proxy.ts";
import { Dice } from "./dice.ts";
import { monotonicMs } from "./history.ts";
import type { Backend } from "./locks-under-test.ts";
import type { Scenario } from "./perform.ts";
import { sleepMs } from "./sleep-ms.ts";
import type { Cast, Stage } from "./stage.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Any faults in any order, several at once, among processes and a server drawn by the same dice. */
export function mix(backend: Backend, seed: number, seconds: number): Scenario {
  const cast = castBy(new Dice(seed), backend);
  const { lanes, holdMs } = cast.plan;
  // In the worst case all callers want the same key, and the last has to wait for all others.
  const serveWithinMs = 60_000 + cast.workers * lanes * holdMs[1];
  return { name: "mix", cast, serveWithinMs, play: (stage) => new Turmoil(stage).run(seconds * 1_000) };
}

function castBy(dice: Dice, backend: Backend): Cast {
  // A Lease lasts whole seconds.
  const ttlMs = dice.pick(backend === "redis" ? [700, 1_000, 1_500, 3_000] : [1_000, 1_000, 2_000, 3_000]);
  // Who holds for long is alone in its process; who waits only briefly must have a chance to be served.
  const pace = dice.pick([
    { holdMs: [1, 50], lanes: dice.whole(1, 3), waitMs: dice.pick([1_000, 4_000]) },
    { holdMs: [20, 400], lanes: dice.whole(1, 2), waitMs: dice.pick([2_000, 8_000]) },
    { holdMs: [200, 1_500], lanes: 1, waitMs: 8_000 },
  ] as const);
  return {
    backend,
    persistence: dice.pick(backend === "redis" ? ["none", "everysec", "always"] : ["none", "always"]),
    workers: dice.whole(3, 5),
    plan: {
      ...pace,
      idleMs: [0, 20],
      keys: ["a", "b", "c"].slice(0, dice.whole(1, 3)),
      ttlMs,
      maxTtlMs: dice.pick([ttlMs, 3_000]),
      commandTimeoutMs: dice.pick([300, 1_000, 2_000]),
      cohort: dice.pick([1, 1, 4]),
      impatience: dice.pick([0, 0.1, 0.5]),
    },
  };
}

/** One fault per worker and one for the server at a time: more could not be distinguished in the history. */
class Turmoil {
  readonly #stage: Stage;
  readonly #troubled = new Set<WorkerProcess | "server">();
  readonly #underway = new Set<Promise<void>>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async run(forMs: number): Promise<void> {
    const { dice } = this.#stage;
    const until = monotonicMs() + forMs;
    while (monotonicMs() < until) {
      await sleepMs(dice.between(0, 600));
      if (dice.chance(0.3)) this.#troubleServer();
      else this.#troubleWorker();
    }
    await Promise.all(this.#underway);
  }

  #troubleServer() {
    const stage = this.#stage;
    const { dice } = stage;
    const { ttlMs, keys } = stage.cast.plan;
    const fault = dice.pick(["restart", "stop", "delete", "delete", "scripts"] as const);
    this.#start("server", async () => {
      switch (fault) {
        case "restart":
          return stage.restartServer(() => sleepMs(dice.pick([0, 0, 0.5, 1.5]) * ttlMs));
        case "stop":
          return stage.stopServer(dice.between(0, 1.5) * ttlMs);
        case "delete":
          return stage.deleteLock(dice.pick(keys));
        case "scripts":
          return stage.forgetScripts();
      }
    });
  }

  #troubleWorker() {
    const stage = this.#stage;
    const { dice } = stage;
    const { ttlMs } = stage.cast.plan;
    const holds = dice.chance(0.6);
    const worker = holds ? this.#someHolder() : dice.pick(stage.alive);
    if (!worker) return;
    const who = holds ? "holder" : "waiter";
    const fault = dice.pick(["kill", "stop", "stop", "network", "network"] as const);
    this.#start(worker, async () => {
      switch (fault) {
        case "kill":
          await stage.kill(worker, `${who} killed`);
          return void (await stage.spawn());
        case "stop":
          return stage.stop(worker, `${who} stopped`, dice.between(0.1, 3) * ttlMs);
        case "network":
          return stage.network(worker, this.#someNetwork(), dice.between(0.1, 3) * ttlMs);
      }
    });
  }

  #someHolder(): WorkerProcess | undefined {
    const { dice, cast, witness, alive } = this.#stage;
    const name = witness.holderOf(dice.pick(cast.plan.keys), 30);
    return alive.find((worker) => worker.name === name);
  }

  #someNetwork(): Network {
    const { dice, cast } = this.#stage;
    const mode = dice.pick(["black-hole", "black-hole", "cut", "one-byte", "delay", "hold-replies"] as const);
    switch (mode) {
      case "delay":
        return { mode, ms: dice.between(5, 200) };
      case "hold-replies":
        return { mode, ms: dice.between(0.2, 1.5) * cast.plan.ttlMs };
      default:
        return { mode };
    }
  }

  #start(whom: WorkerProcess | "server", trouble: () => Promise<void>) {
    if (this.#troubled.has(whom)) return;
    this.#troubled.add(whom);
    const underway = trouble().finally(() => {
      this.#troubled.delete(whom);
      this.#underway.delete(underway);
    });
    this.#underway.add(underway);
  }
}
