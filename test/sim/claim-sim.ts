import type { Claims, NewClaim } from "../../src/coordination/claims/claims.ts";
import { isCoordinationError } from "../../src/coordination/errors.ts";
import { type Key, keyOf } from "../../src/coordination/key.ts";
import { sleep } from "../../src/time/index.ts";
import { Violation } from "./lock-history.ts";
import type { SimResult } from "./lock-sim.ts";
import { Process, World } from "./world.ts";

/** A kind of claim store under simulation. */
export interface ClaimBackend {
  open(process: Process): Claims;
  /** One fault of the store or the network. */
  strike(): void;
  /** No more faults from now on. */
  heal(): void;
}

const clients = 5;
const fewestSteps = 220;
/** A new event comes in this often; each is reported to several clients for a while. */
const eventEveryMs = 1_500;

/** Events that come to several clients at once, clients that crash and stall, and a store that answers late or not. */
export async function simulateClaims(
  seed: number,
  makeBackend: (world: World) => ClaimBackend,
  faults = new Map<string, number>(),
): Promise<SimResult> {
  const world = new World(seed, faults);
  const backend = makeBackend(world);
  const history = new ClaimHistory();
  const members: { process: Process; claims: Claims }[] = [];
  let trouble = true;
  let broken: unknown;

  const check = () => {
    if (broken) throw broken;
    history.check();
  };
  const hire = (name: string) => {
    const rate = 1 + world.chance.between(-0.002, 0.002);
    const process = new Process(world, name, { offsetMs: world.chance.between(-3_600_000, 3_600_000), rate });
    world.struck("clock skew and drift");
    const member = { process, claims: backend.open(process) };
    members.push(member);
    if (!trouble) return;
    const work = async () => {
      while (trouble && !process.dead) {
        await sleep(process.clock, world.chance.between(1, 400));
        const newest = Math.floor(world.now / eventEveryMs);
        const event = keyOf("event", Math.max(0, newest - world.chance.whole(0, 2)));
        await handle(world, process, member.claims, event, history);
      }
    };
    for (let i = 0; i < 2; i++) {
      void work().catch((error) => {
        broken ??= error;
      });
    }
  };
  const strike = () => {
    if (!trouble) return;
    const { chance } = world;
    const alive = members.filter(({ process }) => !process.dead);
    const victim = chance.pick(alive);
    const kind = chance.whole(0, 9);
    if (kind <= 3) {
      world.struck("pause");
      victim.process.pause(chance.between(1, 15_000));
    } else if (kind <= 5) {
      world.struck("crash");
      victim.process.kill();
      world.in(chance.between(1, 2_000), () => hire(`${victim.process.name}'`));
    } else backend.strike();
    world.in(chance.between(50, 2_000), strike);
  };

  try {
    for (let i = 0; i < clients; i++) hire(`p${i}`);
    world.in(300, strike);
    while (world.steps < fewestSteps) await world.run(world.now + 500, check);

    // Everything that ever came is done in the end, once.
    trouble = false;
    backend.heal();
    const events = Math.floor(world.now / eventEveryMs) + 1;
    await world.run(world.now + 20_000, check);
    hire("last");
    const { process, claims } = members.at(-1) as (typeof members)[number];
    const finishing = finishAll(world, process, claims, history, events);
    let finished = false;
    void finishing.then(
      () => {
        finished = true;
      },
      (error) => {
        broken ??= error;
      },
    );
    for (let turn = 0; turn < 200 && !finished; turn++) await world.run(world.now + 500, check);
    if (!finished) throw new Violation("liveness", "with all faults over, an event was never done");
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { steps: world.steps, grants: history.claimed, lost: history.late, violation: error.message };
  }
  return { steps: world.steps, grants: history.claimed, lost: history.late, violation: undefined };
}

async function finishAll(world: World, process: Process, claims: Claims, history: ClaimHistory, events: number) {
  for (let i = 0; i < events; i++) {
    for (;;) {
      const state = await handle(world, process, claims, keyOf("event", i), history);
      if (state === "done") break;
      await sleep(process.clock, 500);
    }
  }
}

/** What a client does with an event: claims it, works, and records the result or gives it back. */
async function handle(world: World, process: Process, claims: Claims, event: Key, history: ClaimHistory) {
  const { chance } = world;
  const leaseMs = chance.between(1_000, 3_000);
  const claim = await claims.claim(event, { leaseMs, doneTtlMs: 24 * 3_600_000 }).catch(expected);
  if (!claim || process.dead) return undefined;
  if (claim.state === "done") history.saidDone(event, claim.result);
  if (claim.state !== "new") return claim.state;

  history.checkNewClaim(process, claim);
  await sleep(process.clock, chance.between(0, chance.happens(0.1) ? 6_000 : 200));
  if (process.dead) return undefined;
  if (chance.happens(0.2)) {
    await claim.fail({ retryAfterMs: chance.between(0, 500) }).catch(expected);
    return "failed";
  }
  const result = `${process.name} ${claim.fence}`;
  history.completing(event, result);
  const outcome = await claim.complete(result).catch(expected);
  if (outcome?.completed && !process.dead) history.completed(event, result);
  if (outcome && !outcome.completed && outcome.reason === "lost") history.toldLost(event, result);
  return outcome?.completed ? "done" : "lost";
}

/** The results that clients got, per event. */
class ClaimHistory {
  readonly #live = new Map<Key, { process: Process; claim: NewClaim }[]>();
  readonly #lastFence = new Map<Key, bigint>();
  readonly #tried = new Set<string>();
  readonly #done = new Map<Key, string>();
  readonly #lost = new Set<string>();
  claimed = 0;
  late = 0;

  checkNewClaim(process: Process, claim: NewClaim): void {
    this.claimed++;
    const { key, fence } = claim;
    if (this.#done.has(key)) throw new Violation("once", `${key} is "new" to ${process.name}, though it is done`);
    const before = this.#lastFence.get(key) ?? 0n;
    if (fence <= before) throw new Violation("fence", `${key}: fence ${fence} after ${before}`);
    this.#lastFence.set(key, fence);
    this.#live.set(key, [...(this.#live.get(key) ?? []), { process, claim }]);
    this.check();
  }

  completing(key: Key, result: string): void {
    this.#tried.add(`${key}|${result}`);
  }

  completed(key: Key, result: string): void {
    const before = this.#done.get(key);
    if (before !== undefined && before !== result) {
      throw new Violation("once", `${key}: both "${before}" and "${result}" were recorded as its result`);
    }
    this.#done.set(key, result);
  }

  toldLost(key: Key, result: string): void {
    this.late++;
    this.#lost.add(`${key}|${result}`);
    if (this.#done.get(key) === result)
      throw new Violation("outcome", `${key}: returned "lost", though it was recorded`);
  }

  saidDone(key: Key, result: string): void {
    if (!this.#tried.has(`${key}|${result}`))
      throw new Violation("truth", `${key}: no holder completed it with "${result}"`);
    if (this.#lost.has(`${key}|${result}`))
      throw new Violation("outcome", `${key}: "${result}" counts, yet its holder got "lost"`);
    this.completed(key, result);
  }

  /** At most one process has the claim by its own clock, after every step. */
  check(): void {
    for (const [key, holders] of this.#live) {
      const live = holders.filter(({ process, claim }) => !process.dead && claim.remainingMs() > 0);
      if (live.length > 1) {
        const who = live.map(({ process }) => process.name).join(" and ");
        throw new Violation("exclusion", `${key}: ${who}have the claim by their own clocks`);
      }
      this.#live.set(key, live);
    }
  }
}

function expected(error: unknown): undefined {
  if (isCoordinationError(error, "unavailable")) return undefined;
  throw error;
}
