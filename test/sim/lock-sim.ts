import { isCoordinationError } from "../../src/coordination/errors.ts";
import { type Key, keyOf } from "../../src/coordination/key.ts";
import type { Lease, Locks } from "../../src/coordination/locks/locks.ts";
import { sleep } from "../../src/time/index.ts";
import { type Deleted, LockHistory, maxTtlMs, type Truth, Violation } from "./lock-history.ts";
import { Process, World } from "./world.ts";

/** A kind of store under simulation, and its faults. */
export interface LockBackend {
  readonly truth: Truth;
  open(process: Process): Locks;
  /** One fault of the store or the network. Returns the lock if one was deleted. */
  strike(): Deleted | undefined;
  /** No more faults from now on. */
  heal(): void;
}

export interface SimResult {
  readonly steps: number;
  readonly grants: number;
  readonly lost: number;
  readonly violation: string | undefined;
}

const clients = 5;
const fewestSteps = 220;
export const keys = [keyOf("target", "a"), keyOf("target", "b")];

/** One run: five clients that work, a store, faults; then everything heals and must come to rest. */
export async function simulateLocks(
  seed: number,
  makeBackend: (world: World) => LockBackend,
  faults = new Map<string, number>(),
): Promise<SimResult> {
  const world = new World(seed, faults);
  const backend = makeBackend(world);
  const history = new LockHistory(backend.truth);
  const crew = new Crew(world, backend, history);
  try {
    await crew.work();
    await crew.comeToRest();
    return { steps: world.steps, grants: history.grants, lost: history.lost, violation: undefined };
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { steps: world.steps, grants: history.grants, lost: history.lost, violation: error.message };
  }
}

/** The clients of one run, and the faults that befall them. */
class Crew {
  readonly #world: World;
  readonly #backend: LockBackend;
  readonly #history: LockHistory;
  readonly #members: Member[] = [];
  readonly #pace: number;
  #trouble = true;
  /** A violation seen inside a client's own code: rethrown where the run can report it. */
  #caught: unknown;

  constructor(world: World, backend: LockBackend, history: LockHistory) {
    this.#world = world;
    this.#backend = backend;
    this.#history = history;
    this.#pace = world.chance.between(50, 1_500);
    for (let i = 0; i < clients; i++) this.#hire(`p${i}`);
    this.#planTrouble();
  }

  async work(): Promise<void> {
    while (this.#world.steps < fewestSteps) await this.#world.run(this.#world.now + 500, () => this.#check());
  }

  /** M4 and M6: after the faults, nothing stays locked and all callers are served. */
  async comeToRest(): Promise<void> {
    this.#trouble = false;
    this.#backend.heal();
    for (const member of this.#members) member.stop();
    await this.#world.run(this.#world.now + 20_000, () => this.#check());

    const alive = this.#members.filter(({ process }) => !process.dead);
    for (const { process, locks } of alive.slice(-2))
      for (const key of keys) await this.#mustServe(process, locks, key);
    for (const key of keys) await this.#mustBecomeFree(key, alive.at(-1) as Member);
  }

  /**
   * M4: released locks are free, at the latest when abandoned ones were taken over. In Kubernetes that
   * takes a further caller, once for each waiter that left without withdrawing.
   */
  async #mustBecomeFree(key: Key, { process, locks }: Member) {
    const holder = () => this.#backend.truth.holderOf(key);
    for (let turn = 0; turn < 5 && holder(); turn++) {
      await this.#world.run(this.#world.now + 6_000, () => this.#check());
      if (holder()) await this.#mustServe(process, locks, key);
      await this.#world.run(this.#world.now + 500, () => this.#check());
    }
    if (holder()) throw new Violation("M4 ghost", `${key} is still held by ${holder()}, which released it`);
  }

  async #mustServe(process: Process, locks: Locks, key: Key) {
    let served = false;
    void locks.acquire(key, { ttlMs: maxTtlMs, waitMs: 15_000 }).then(
      async (lease) => {
        await lease.release();
        served = true;
      },
      (error) => this.#fail(new Violation("M6 liveness", `${process.name} on ${key}: ${String(error)}`)),
    );
    for (let turn = 0; turn < 40 && !served; turn++) {
      await this.#world.run(this.#world.now + 500, () => this.#check());
    }
    if (!served) throw new Violation("M6 liveness", `${process.name} was never answered on ${key}`);
  }

  #check() {
    if (this.#caught) throw this.#caught;
    this.#history.check(this.#world.now);
  }

  #fail(error: unknown) {
    this.#caught ??= error;
  }

  #hire(name: string) {
    const { chance } = this.#world;
    const process = new Process(this.#world, name, {
      offsetMs: chance.between(-3_600_000, 3_600_000),
      rate: 1 + chance.between(-0.002, 0.002),
    });
    if (process.clock.wallMs() !== this.#world.now) this.#world.struck("clock skew and drift");
    const member = new Member(process, this.#backend.open(process), this.#world, this.#history);
    this.#members.push(member);
    if (!this.#trouble) return;
    for (let i = 0; i < 2; i++) member.begin((error) => this.#fail(error));
  }

  #planTrouble() {
    this.#world.in(this.#pace * this.#world.chance.between(0.2, 2), () => {
      if (!this.#trouble) return;
      this.#strike();
      this.#planTrouble();
    });
  }

  #strike() {
    const { chance } = this.#world;
    const member = chance.pick(this.#members.filter(({ process }) => !process.dead));
    const kind = chance.whole(0, 9);
    if (kind <= 3 && member) {
      this.#world.struck("pause");
      member.process.pause(chance.between(1, 15_000));
    } else if (kind === 4 && member) {
      this.#world.struck("crash");
      member.process.kill();
      this.#world.in(chance.between(1, 2_000), () => this.#hire(`${member.process.name}'`));
    } else {
      const deleted = this.#backend.strike();
      if (deleted) this.#history.deleted(deleted, this.#world.now);
    }
  }
}

/** One client process and its callers. */
class Member {
  readonly process: Process;
  readonly locks: Locks;
  readonly #world: World;
  readonly #history: LockHistory;
  #stopped = false;

  constructor(process: Process, locks: Locks, world: World, history: LockHistory) {
    this.process = process;
    this.locks = locks;
    this.#world = world;
    this.#history = history;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** One caller: takes locks, writes under them, gives them back, sometimes gives up half-way. */
  begin(failed: (error: unknown) => void): void {
    void this.#work().catch(failed);
  }

  async #work() {
    const { chance } = this.#world;
    while (!this.#stopped && !this.process.dead) {
      await sleep(this.process.clock, chance.between(1, 300));
      if (this.#stopped || this.process.dead) return;
      const lease = await this.#ask(chance.pick(keys));
      if (!lease) continue;
      this.#history.granted(this.process, lease, this.#world.now);
      await this.#use(lease);
      const outcome = await lease.release();
      if (!this.process.dead) this.#history.released(lease, outcome);
    }
  }

  async #ask(key: Key): Promise<Lease | undefined> {
    const { chance } = this.#world;
    const ttlMs = chance.between(1_000, maxTtlMs);
    if (chance.happens(0.2)) return this.locks.tryAcquire(key, { ttlMs }).catch(expected);
    const giveUp = new AbortController();
    if (chance.happens(0.3)) this.process.clock.after(chance.between(0, 2_000), () => giveUp.abort());
    const cohort = chance.happens(0.3) ? 4 : 1;
    return this.locks
      .acquire(key, { ttlMs, waitMs: chance.between(100, 8_000), signal: giveUp.signal, cohort })
      .catch(expected);
  }

  async #use(lease: Lease) {
    const { chance } = this.#world;
    for (let writes = chance.whole(0, 3); writes > 0; writes--) {
      await sleep(this.process.clock, chance.between(0, chance.happens(0.1) ? 6_000 : 100));
      if (this.process.dead || lease.remainingMs() <= 0) return;
      this.#world.in(chance.between(0.1, 50), () => this.#history.effect(lease.key, lease.fence));
    }
  }
}

function expected(error: unknown): undefined {
  const codes = ["timeout", "aborted", "unavailable"] as const;
  if (codes.some((code) => isCoordinationError(error, code))) return undefined;
  throw error;
}
