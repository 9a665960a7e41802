import { parseArgs } from "node:util";
import { isCoordinationError, keyOf, type Lease, type Locks } from "../../src/coordination/index.ts";
import { Dice } from "./dice.ts";
import { Journal, type LeaseEvent, monotonicMs } from "./history.ts";
import { type Backend, type Defect, openLocks } from "./locks-under-test.ts";
import { sleepMs } from "./sleep-ms.ts";
import { dialWitness, type WitnessClient } from "./witness.ts";

/** The work of a worker until it is stopped. */
export interface Plan {
  /** Names the process in the history. */
  readonly worker: string;
  readonly journal: string;
  readonly witness: number;
  readonly seed: number;
  readonly keys: readonly string[];
  /** Callers in the process; each takes one lock after the other. */
  readonly lanes: number;
  readonly ttlMs: number;
  readonly maxTtlMs: number;
  readonly commandTimeoutMs: number;
  readonly waitMs: number;
  readonly holdMs: readonly [low: number, high: number];
  /** How long a caller wants nothing after it has had a lock. */
  readonly idleMs: readonly [low: number, high: number];
  readonly cohort: number;
  /** Share of waits that are broken off by the caller. */
  readonly impatience: number;
  /** What is wrong with its locks, to see whether the checker notices. */
  readonly defect?: Defect;
}

/** One of several processes that want the same locks. SIGTERM ends it; it then exits by itself or is at fault. */
async function main() {
  const { values } = parseArgs({
    options: { backend: { type: "string" }, url: { type: "string" }, plan: { type: "string" } },
  });
  const plan: Plan = JSON.parse(values.plan ?? "");
  const dice = new Dice(plan.seed);
  const journal = new Journal(plan.journal);
  const witness = await dialWitness(plan.witness);
  const stopping = new AbortController();
  process.once("SIGTERM", () => stopping.abort());
  // The parent is gone and cannot stop this process.
  void witness.gone.then(() => stopping.signal.aborted || process.exit(3));

  const pulse = watchPulse(plan.worker, journal);
  const locks = await openLocks(values.backend as Backend, values.url ?? "", plan, stopping.signal);
  // Half of the workers close while they still hold and wait, which must come to the same.
  const abrupt = dice.chance(0.5)
    ? new Promise<void>((resolve) => stopping.signal.addEventListener("abort", () => resolve(locks.close())))
    : undefined;
  const lanes = Array.from({ length: plan.lanes }, () =>
    new Lane({ plan, journal, witness, locks, dice: new Dice(dice.seed()), stopping: stopping.signal }).run(),
  );
  await Promise.all(lanes);
  await (abrupt ?? locks.close());

  clearInterval(pulse);
  witness.close();
  journal.close();
}

/** Records when the event loop did not run: what the process missed meanwhile it could not have known. */
function watchPulse(worker: string, journal: Journal) {
  let last = monotonicMs();
  return setInterval(() => {
    const at = monotonicMs();
    if (at - last > 25) journal.write({ at, event: "stalled", worker, from: last });
    last = at;
  }, 5);
}

interface Surroundings {
  readonly plan: Plan;
  readonly journal: Journal;
  readonly witness: WitnessClient;
  readonly locks: Locks;
  readonly dice: Dice;
  readonly stopping: AbortSignal;
}

/** One caller: takes a lock, acts under it, gives it back, again and again. */
class Lane {
  readonly #in: Surroundings;

  constructor(surroundings: Surroundings) {
    this.#in = surroundings;
  }

  async run(): Promise<void> {
    const { stopping, dice, plan } = this.#in;
    while (!stopping.aborted) {
      const lease = await this.#ask(dice.pick(plan.keys));
      if (lease) await this.#hold(lease);
      await sleepMs(dice.between(...plan.idleMs));
    }
  }

  async #ask(key: string): Promise<Lease | undefined> {
    const { locks, plan, dice, stopping, journal } = this.#in;
    const { ttlMs, waitMs, cohort, worker } = plan;
    const patience = new AbortController();
    const timer = dice.chance(plan.impatience)
      ? setTimeout(() => patience.abort(), dice.between(0, 2 * ttlMs))
      : undefined;
    try {
      const signal = AbortSignal.any([stopping, patience.signal]);
      return await locks.acquire(keyOf(key), { ttlMs, waitMs, cohort, signal });
    } catch (error) {
      const code = (["timeout", "aborted", "unavailable", "closed"] as const).find((known) =>
        isCoordinationError(error, known),
      );
      if (!code) throw error;
      journal.write({ at: monotonicMs(), event: "refused", worker, key, code });
      if (code === "unavailable") await sleepMs(dice.between(20, 80));
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  async #hold(lease: Lease) {
    const { plan, dice, witness, stopping } = this.#in;
    const fence = `${lease.fence}`;
    const name = `${lease.holder}/${fence}`;
    const about = { worker: plan.worker, lease: name, key: lease.key };
    let endsAt = monotonicMs() + lease.remainingMs();
    this.#write({ ...about, event: "granted", fence, ttlMs: plan.ttlMs, endsAt });
    lease.signal.addEventListener("abort", () => {
      const { reason } = lease.signal;
      this.#write({ ...about, event: "lost", closed: isCoordinationError(reason, "closed"), why: `${reason}` });
    });

    const until = monotonicMs() + dice.between(...plan.holdMs);
    // The last time comes after the end: a process that was stopped wakes up in the middle of its work.
    for (let isLast = false; !isLast; ) {
      isLast = monotonicMs() >= until || stopping.aborted;
      const remainingMs = lease.remainingMs();
      if (remainingMs > 0 && monotonicMs() + remainingMs > endsAt + 1) {
        endsAt = monotonicMs() + remainingMs;
        this.#write({ ...about, event: "extended", endsAt });
      }
      if (!isHeld(lease)) break;
      // In the same turn as the check: only the operating system can come between them.
      const verdict = await witness.act({ ...about, fence });
      if (verdict === "refused") break;
      await sleepMs(dice.between(4, 12));
    }

    this.#write({ ...about, event: "releasing" });
    const outcome = await lease.release();
    this.#write({ ...about, event: "released", outcome: outcome.released ? "released" : outcome.reason });
  }

  #write(event: LeaseEvent) {
    this.#in.journal.write({ at: monotonicMs(), ...event });
  }
}

function isHeld(lease: Lease): boolean {
  try {
    lease.assertHeld();
    return true;
  } catch (error) {
    if (isCoordinationError(error, "lost")) return false;
    throw error;
  }
}

await main();
