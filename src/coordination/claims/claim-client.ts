import { Agenda, type Clock, type Random, sleep } from "../../time/index.ts";
import { CoordinationError, isCoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import type { ClaimBid, ClaimResult, ClaimStore, Taken } from "./claim-store.ts";
import type { Claim, ClaimEvents, ClaimOptions, Claims } from "./claims.ts";
import { HeldClaim, type HeldClaimContext } from "./held-claim.ts";

export interface ClaimClientOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** stage/pod/pid of this process, for display as a claimant. */
  readonly who?: string;
  readonly events?: ClaimEvents;
  readonly defaults?: { readonly leaseMs?: number; readonly doneTtlMs?: number };
}

/** Claims on any store: everything about claiming that does not need the backend. */
export function claimsOver(store: ClaimStore, options: ClaimClientOptions): Claims {
  return new ClaimClient(store, options);
}

interface ClaimRequest {
  readonly leaseMs: number;
  readonly doneTtlMs: number;
  readonly maxHoldMs: number;
  readonly payloadHash: string | undefined;
}

const minLeaseMs = 500;
const maxMs = 366 * 24 * 3_600_000;
const agendaResolutionMs = 4;
/** How often an unclear response is retried before the call rejects with `unavailable`. */
const maxTries = 3;
const maxUnanswered = 1_000;

class ClaimClient implements Claims {
  readonly #store: ClaimStore;
  readonly #context: HeldClaimContext;
  readonly #who: string;
  readonly #defaults: { readonly leaseMs: number; readonly doneTtlMs: number };
  readonly #nextHolder: () => string;
  readonly #held = new Map<Key, HeldClaim>();
  /** Pending requests: other callers of the same key share their responses. */
  readonly #pending = new Map<Key, Promise<HeldClaim | Taken>>();
  readonly #shared = new Map<string, Promise<unknown>>();
  /** Holders whose request had no response. They may have the claim in the store, so they are reused for their key. */
  readonly #unanswered = new Map<Key, string>();
  #closed = false;

  constructor(store: ClaimStore, { clock, random, who = "unknown", events = {}, defaults = {} }: ClaimClientOptions) {
    this.#store = store;
    this.#who = who;
    this.#defaults = { leaseMs: 60_000, doneTtlMs: 3_600_000, ...defaults };
    const process = random.id();
    let claims = 0;
    this.#nextHolder = () => `${process}.${(claims++).toString(36)}`;
    this.#context = {
      clock,
      random,
      events,
      agenda: new Agenda(clock, agendaResolutionMs),
      onEnd: (claim) => {
        if (this.#held.get(claim.key) === claim) this.#held.delete(claim.key);
      },
    };
  }

  get guarantee() {
    return this.#store.guarantee;
  }

  async claim(key: Key, options: ClaimOptions = {}): Promise<Claim> {
    const request = this.#toRequest(options);
    const mistake = findMistake(request);
    if (mistake) throw new TypeError(mistake);

    const { events } = this.#context;
    try {
      const claim = await this.#claimOrJoin(key, request);
      events.answered?.(key, claim.state, options.effect);
      return claim;
    } catch (error) {
      if (error instanceof CoordinationError) events.refused?.(key, error.code);
      throw error;
    }
  }

  share<T>(name: string, run: () => Promise<T>): Promise<T> {
    const pending = this.#shared.get(name) as Promise<T> | undefined;
    if (pending !== undefined) return pending;
    const started = run().finally(() => this.#shared.delete(name));
    this.#shared.set(name, started);
    return started;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const settled = [...this.#held.values()].map((claim) => {
      claim.lose(closedError());
      return claim[Symbol.asyncDispose]();
    });
    await Promise.allSettled(settled);
    await this.#store.close();
  }

  #toRequest({ leaseMs, doneTtlMs, maxHoldMs, payloadHash }: ClaimOptions): ClaimRequest {
    return {
      leaseMs: leaseMs ?? this.#defaults.leaseMs,
      doneTtlMs: doneTtlMs ?? this.#defaults.doneTtlMs,
      maxHoldMs: maxHoldMs ?? Number.POSITIVE_INFINITY,
      payloadHash,
    };
  }

  async #claimOrJoin(key: Key, request: ClaimRequest): Promise<Claim> {
    if (this.#closed) throw closedError();
    const held = this.#held.get(key);
    if (held) return toClaim(key, held, request);
    const pending = this.#pending.get(key);
    if (pending !== undefined) return toClaim(key, await pending, request);

    const sent = this.#send(key, request).finally(() => this.#pending.delete(key));
    this.#pending.set(key, sent);
    const result = await sent;
    return result instanceof HeldClaim ? result : toClaim(key, result, request);
  }

  async #send(key: Key, request: ClaimRequest): Promise<HeldClaim | Taken> {
    const { leaseMs, payloadHash } = request;
    const bid = { key, holder: this.#unanswered.get(key) ?? this.#nextHolder(), who: this.#who, leaseMs, payloadHash };
    const result = await this.#sendUntilAnswered(bid);
    if (result.state !== "new") return result;

    const claim = new HeldClaim(bid, result.grant, request, this.#context);
    this.#held.set(key, claim);
    if (claim.remainingMs() > 0 && !this.#closed) return claim;
    await claim.fail({ retryAfterMs: 0 });
    throw this.#closed ? closedError() : tooLate(key);
  }

  /** Repeats the request a few times until there is a response. A claim whose response was lost is ours, and is found again. */
  async #sendUntilAnswered(bid: ClaimBid): Promise<ClaimResult> {
    const { clock, random } = this.#context;
    for (let tries = 1; ; tries++) {
      try {
        const result = await this.#store.claim(bid);
        this.#unanswered.delete(bid.key);
        return result;
      } catch (error) {
        if (!isCoordinationError(error, "unavailable")) throw error;
        this.#rememberUnanswered(bid);
        if (tries === maxTries || this.#closed) throw error;
      }
      await sleep(clock, 50 + 150 * random.fraction());
    }
  }

  #rememberUnanswered({ key, holder }: ClaimBid) {
    this.#unanswered.set(key, holder);
    if (this.#unanswered.size > maxUnanswered) this.#unanswered.delete(this.#unanswered.keys().next().value as Key);
  }
}

function findMistake({ leaseMs, doneTtlMs, maxHoldMs, payloadHash }: ClaimRequest): string | undefined {
  if (!(leaseMs >= minLeaseMs && leaseMs <= maxMs)) {
    return `leaseMs must be between ${minLeaseMs} (renewal needs several round trips) and ${maxMs}; got ${leaseMs}`;
  }
  if (!(doneTtlMs >= 1 && doneTtlMs <= maxMs)) {
    return `doneTtlMs must be between 1 and ${maxMs}; got ${doneTtlMs}`;
  }
  if (!(maxHoldMs > 0)) return `maxHoldMs must be more than 0; got ${maxHoldMs}`;
  if (payloadHash !== undefined && !/^[\w+/=:.-]{1,128}$/.test(payloadHash)) {
    return "payloadHash must be 1 to 128 letters, digits or any of + / = : . _ -";
  }
  return undefined;
}

/** The claim for a caller that did not get it. A claim that is held in this process is in flight for its other callers. */
function toClaim(key: Key, found: HeldClaim | Taken, request: ClaimRequest): Claim {
  const { payloadHash, ...claim } = found instanceof HeldClaim ? found.asTaken() : found;
  if (payloadHash === undefined || request.payloadHash === undefined || payloadHash === request.payloadHash) {
    return claim;
  }
  throw new CoordinationError("mismatch", `${key} was claimed for another payload: one key, two different requests`);
}

function tooLate(key: Key): CoordinationError {
  return new CoordinationError("unavailable", `${key}: the response of the store arrived too late`);
}

function closedError(): CoordinationError {
  return new CoordinationError("closed", "the claim client is closed");
}
