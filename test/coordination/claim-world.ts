import type { ClaimGrant, ClaimStore } from "../../src/coordination/claims/claim-store.ts";
import type { Claim, ClaimEvents, ClaimOptions, Claims, NewClaim } from "../../src/coordination/claims/claims.ts";
import { CoordinationError } from "../../src/coordination/errors.ts";
import type { Key } from "../../src/coordination/key.ts";
import type { Clock } from "../../src/time/index.ts";
import { settle } from "../doubles/manual-clock.ts";
import { ProcessClock } from "../doubles/process-clock.ts";

/** Shared data, and processes that come and go. */
export interface ClaimsBackend {
  readonly clock: Clock;
  /** A lease that is short here, yet long enough to be kept alive. */
  readonly leaseMs: number;
  pass(ms: number): Promise<void>;
  /** The claims of one more process. */
  connect(setup: ProcessSetup): Promise<Claims> | Claims;
  /** Removes the record by hand. */
  forget(key: Key): Promise<void>;
  stop(): Promise<void>;
}

export interface ProcessSetup {
  readonly clock: Clock;
  readonly who: string;
  readonly events: ClaimEvents;
  /** The connection between the process and its store. */
  through(store: ClaimStore): ClaimStore;
}

/** What a contract case works with. */
export class ClaimWorld {
  readonly #backend: ClaimsBackend;
  readonly #processes: ClaimProcess[] = [];

  constructor(backend: ClaimsBackend) {
    this.#backend = backend;
  }

  get leaseMs(): number {
    return this.#backend.leaseMs;
  }
  get now(): number {
    return this.#backend.clock.now();
  }
  get wallMs(): number {
    return this.#backend.clock.wallMs();
  }

  pass(ms: number): Promise<void> {
    return this.#backend.pass(ms);
  }
  forget(key: Key): Promise<void> {
    return this.#backend.forget(key);
  }

  async process(who = `test/${this.#processes.length}`, options?: { readonly skewMs?: number }): Promise<ClaimProcess> {
    const process = new ClaimProcess(this, new ProcessClock(this.#backend.clock, options), who);
    const { clock, events, wire } = process;
    process.claims = await this.#backend.connect({ clock, who, events, through: (store) => wire.to(store) });
    this.#processes.push(process);
    return process;
  }

  /** Waits for `promise` while time passes, at most `limitMs`. */
  async within<T>(promise: PromiseLike<T>, limitMs = 10_000): Promise<T> {
    let over = false;
    const done = promise.then(
      () => {
        over = true;
      },
      () => {
        over = true;
      },
    );
    await settle();
    for (const end = this.now + limitMs; !over && this.now < end; ) await Promise.race([done, this.pass(20)]);
    if (!over) throw new Error(`no answer within ${limitMs} ms`);
    return promise;
  }

  async stop(): Promise<void> {
    for (const process of this.#processes) await process.end();
    await this.#backend.stop();
  }
}

/** One process: its claims, their events, and its faults. */
export class ClaimProcess {
  claims!: Claims;
  readonly who: string;
  readonly clock: ProcessClock;
  readonly wire: Wire;
  readonly reported: string[] = [];
  readonly events: ClaimEvents = {
    answered: (_key, state) => void this.reported.push(state),
    refused: (_key, code) => void this.reported.push(code),
    renewalFailed: () => void this.reported.push("renewal failed"),
    lost: () => void this.reported.push("lost"),
    settled: (_claim, how, outcome) => {
      if (how === "done" && outcome === "lost") this.reported.push("late complete");
    },
  };
  readonly #world: ClaimWorld;

  constructor(world: ClaimWorld, clock: ProcessClock, who: string) {
    this.#world = world;
    this.clock = clock;
    this.who = who;
    this.wire = new Wire(clock);
  }

  claim(key: Key, options?: ClaimOptions): Promise<Claim> {
    const { leaseMs } = this.#world;
    return this.#world.within(this.claims.claim(key, { leaseMs, ...options }));
  }

  /** The claim, which must be new. */
  async new(key: Key, options?: ClaimOptions): Promise<NewClaim> {
    const claim = await this.claim(key, options);
    if (claim.state !== "new") throw new Error(`${key} is ${claim.state}, not new`);
    return claim;
  }

  /** Claims again after each retry delay, until the claim is new. Fails after `limitMs`. */
  async untilNew(key: Key, limitMs: number, options?: ClaimOptions): Promise<NewClaim> {
    for (const end = this.#world.now + limitMs; ; ) {
      const claim = await this.claim(key, options);
      if (claim.state === "new") return claim;
      if (claim.state !== "in-flight") throw new Error(`${key} is ${claim.state}, and will not be new`);
      if (this.#world.now >= end) throw new Error(`${key} was not new within ${limitMs} ms`);
      await this.#world.pass(Math.min(claim.retryAfterMs + 1, this.#world.leaseMs / 4));
    }
  }

  crash(): void {
    this.clock.crash();
    this.wire.mode = "silent";
  }

  pause(): void {
    this.clock.pause();
    this.wire.mode = "silent";
  }
  async resume(): Promise<void> {
    this.wire.mode = "pass";
    this.clock.resume();
    await settle();
  }

  async end(): Promise<void> {
    if (this.clock.crashed) return;
    this.wire.mode = "pass";
    await this.#world.within(this.claims.close());
  }
}

/**
 * - `cut`: nothing arrives, and the sender learns so
 * - `silent`: nothing arrives, and no error is reported
 * - `lose-replies`: everything arrives, and no reply does
 */
export type WireMode = "pass" | "cut" | "silent" | "lose-replies";

/** The way from a process to its store. */
export class Wire {
  readonly #clock: Clock;
  mode: WireMode = "pass";
  /** Replies take this long to come back. */
  replyDelayMs = 0;
  claimsSent = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  to(store: ClaimStore): ClaimStore {
    return {
      guarantee: store.guarantee,
      claim: async (bid) => {
        this.claimsSent++;
        const standing = await this.#carry(() => store.claim(bid));
        return standing.state === "new" ? { state: "new", grant: this.#behind(standing.grant) } : standing;
      },
      close: () => store.close(),
    };
  }

  #behind(grant: ClaimGrant): ClaimGrant {
    const { fence, deadline, periodMs } = grant;
    return {
      fence,
      deadline,
      periodMs,
      renew: () => this.#carry(() => grant.renew()).catch((cause) => ({ kind: "unknown", cause })),
      settle: (ending) => this.#carry(() => grant.settle(ending)),
    };
  }

  async #carry<T>(call: () => Promise<T>): Promise<T> {
    const { mode, replyDelayMs } = this;
    if (mode === "silent") return new Promise(() => {});
    if (mode === "cut") throw unreachable();
    const reply = await call();
    if (mode === "lose-replies") throw unreachable();
    if (replyDelayMs > 0) await new Promise<void>((resolve) => this.#clock.after(replyDelayMs, resolve));
    return reply;
  }
}

function unreachable(): CoordinationError {
  return new CoordinationError("unavailable", "no answer");
}
