import { sleep } from "../../time/index.ts";
import { CoordinationError, isCoordinationError } from "../errors.ts";
import { type LeaseCallbacks, LeaseRenewer, type RenewalResult, type Timing } from "../lease-renewer.ts";
import type { ClaimBid, ClaimGrant, Ending, Taken } from "./claim-store.ts";
import type { ClaimEvents, CompleteOutcome, FailOutcome, Failure, NewClaim } from "./claims.ts";

/** The part of a client that its claims share. */
export interface HeldClaimContext extends Timing {
  readonly events: ClaimEvents;
  /** The claim was settled, or another caller may have it now. */
  onEnd(claim: HeldClaim): void;
}

type Settlement = "settled" | "lost" | "unknown";

/** Far below the limit of an annotation in Kubernetes. */
const maxTextLength = 65_536;
const maxRetryAfterMs = 366 * 24 * 3_600_000;

/** The claim that its caller gets: renewed until it is settled, or ended by the local clock alone. */
export class HeldClaim implements NewClaim, LeaseCallbacks {
  readonly state = "new";
  readonly #bid: ClaimBid;
  readonly #grant: ClaimGrant;
  readonly #doneTtlMs: number;
  readonly #context: HeldClaimContext;
  readonly #renewer: LeaseRenewer;
  /** Created on first access: most claims are settled without a listener. */
  #controller: AbortController | undefined;
  #lost: CoordinationError | undefined;
  #settling: { readonly how: Ending["kind"]; readonly outcome: Promise<Settlement> } | undefined;

  constructor(
    bid: ClaimBid,
    grant: ClaimGrant,
    { doneTtlMs, maxHoldMs }: { readonly doneTtlMs: number; readonly maxHoldMs: number },
    context: HeldClaimContext,
  ) {
    this.#bid = bid;
    this.#grant = grant;
    this.#doneTtlMs = doneTtlMs;
    this.#context = context;
    this.#renewer = new LeaseRenewer(grant, this, context);
    this.#renewer.holdUntil(context.clock.now() + maxHoldMs);
    this.#renewer.start(false);
  }

  get key() {
    return this.#bid.key;
  }
  get holder(): string {
    return this.#bid.holder;
  }
  get fence(): bigint {
    return this.#grant.fence;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#lost) this.#controller.abort(this.#lost);
    }
    return this.#controller.signal;
  }

  remainingMs(): number {
    return this.#lost || this.#settling ? 0 : this.#renewer.remainingMs();
  }

  assertHeld(minMs = 0): void {
    if (this.remainingMs() > minMs) return;
    this.#renewer.check();
    if (this.#settling) throw new CoordinationError("lost", `${this.key}: the claim was already settled`);
    const why = this.#lost?.message ?? `less than ${minMs} ms are left`;
    throw new CoordinationError("lost", `${this.key}: ${why}`, { cause: this.#lost });
  }

  /** The state of the claim for other callers of this process. */
  asTaken(): Taken {
    const { holder: id, who, payloadHash } = this.#bid;
    const retryAfterMs = Math.max(0, this.#renewer.deadline - this.#context.clock.now());
    const holder = { id, who, sinceMs: undefined, purpose: undefined };
    return { state: "in-flight", holder, retryAfterMs, payloadHash };
  }

  async complete(result = ""): Promise<CompleteOutcome> {
    assertFits("result", result);
    const outcome = await this.#settle({ kind: "done", result, ttlMs: this.#doneTtlMs });
    return outcome === "settled" ? { completed: true } : { completed: false, reason: outcome };
  }

  async fail(how: Failure): Promise<FailOutcome> {
    const outcome = await this.#settle(toEnding(how, this.#doneTtlMs));
    return outcome === "settled" ? { failed: true } : { failed: false, reason: outcome };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#settling) await this.fail({ retryAfterMs: 0 });
  }

  /** Ends the claim other than by its caller: the signal aborts with `cause`. */
  lose(cause: CoordinationError): void {
    // Once it is being settled there is nothing left to lose, and code after the work must not observe an abort.
    if (this.#lost || this.#settling) return;
    this.#lost = cause;
    this.#controller?.abort(cause);
  }

  renew(): Promise<RenewalResult> {
    return this.#grant.renew();
  }
  onRenewalFailed(cause: unknown): void {
    this.#context.events.renewalFailed?.(this, cause);
  }
  onLost(cause: CoordinationError): void {
    this.lose(cause);
    this.#context.events.lost?.(this, cause);
  }
  onFree(): void {
    this.#context.onEnd(this);
  }

  #settle(ending: Ending): Promise<Settlement> {
    this.#settling ??= { how: ending.kind, outcome: this.#settleOnce(ending) };
    // It was settled in another way before, so it is no longer ours.
    return this.#settling.how === ending.kind ? this.#settling.outcome : Promise.resolve("lost");
  }

  async #settleOnce(ending: Ending): Promise<Settlement> {
    this.#renewer.stop();
    const { events } = this.#context;
    try {
      const outcome = await this.#settleInStore(ending);
      events.settled?.(this, ending.kind, outcome);
      return outcome;
    } catch (error) {
      if (error instanceof CoordinationError) events.refused?.(this.key, error.code);
      throw error;
    } finally {
      this.#context.onEnd(this);
    }
  }

  /** Tries once even after the deadline, because the store decides who holds the claim. Retries only until the deadline. */
  async #settleInStore(ending: Ending): Promise<Settlement> {
    const { clock, random } = this.#context;
    for (let unclear = false; ; unclear = true) {
      try {
        const outcome = await this.#grant.settle(ending);
        // No other holder can have had it before the deadline: "lost" means that an earlier attempt released it.
        const wasReleased = unclear && ending.kind === "retry" && clock.now() < this.#renewer.deadline;
        return wasReleased ? "settled" : outcome;
      } catch (error) {
        if (!isCoordinationError(error, "unavailable")) throw error;
      }
      if (clock.now() >= this.#renewer.deadline) return "unknown";
      await sleep(clock, 50 + 150 * random.fraction());
    }
  }
}

function toEnding(how: Failure, ttlMs: number): Ending {
  if ("permanent" in how) {
    assertFits("permanent", how.permanent);
    return { kind: "failed", error: how.permanent, ttlMs };
  }
  const { retryAfterMs } = how;
  if (retryAfterMs >= 0 && retryAfterMs <= maxRetryAfterMs) return { kind: "retry", afterMs: retryAfterMs };
  throw new TypeError(`retryAfterMs must be between 0 and ${maxRetryAfterMs}; got ${retryAfterMs}`);
}

function assertFits(name: string, text: string): void {
  if (text.length <= maxTextLength) return;
  throw new TypeError(
    `${name} has ${text.length} characters; ${maxTextLength} fit. Store it elsewhere and name it here`,
  );
}
