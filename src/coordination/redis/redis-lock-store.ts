import { type Agenda, Appointment, type Clock, type Random, sleep } from "../../time/index.ts";
import { CoordinationError } from "../errors.ts";
import { drift, type RenewalResult, validityFrom } from "../lease-renewer.ts";
import { type Bid, explainDelay, type Grant, type LockStore } from "../locks/lock-store.ts";
import type { Guarantee, Holder, ReleaseOutcome } from "../locks/locks.ts";
import { Batch, type PendingOperation } from "./batch.ts";
import type { LockLink, LockOperation, Mode, Reply } from "./lock-link.ts";
import { fromRedisError } from "./script.ts";

export interface RedisLockStoreOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly agenda: Agenda;
  readonly link: LockLink;
  readonly who: string;
  /** Default: one server that keeps acknowledged writes. */
  readonly guarantee?: Guarantee;
}

/** Rounding and timer granularity on both sides. */
const marginMs = 5;
/** The state of a waiting bid is read at least this often, because a push may be lost. */
const maxSilenceMs = 5_000;
/** Cancellations that Redis has not confirmed. Further ones are dropped, and the locks expire. */
const maxCancellations = 1_000;
/** Failed requests in a row before the caller gets `unavailable`. */
const maxTries = 3;

/** Locks in one Redis: direct hand-over in arrival order, pushed to the next holder; waiting costs no commands. */
export class RedisLockStore implements LockStore {
  readonly guarantee: Guarantee;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #agenda: Agenda;
  readonly #link: LockLink;
  readonly #who: string;
  readonly #batch: Batch;
  /** Bids without a final response, by holder. */
  readonly #open = new Map<string, OpenBid>();
  /** Unconfirmed cancellations of withdrawn bids, by holder. */
  readonly #cancellations = new Map<string, LockOperation>();
  /** The clock of the server we are connected to showed no more than `serverMs` when ours showed `localMs`. */
  #reading: { readonly localMs: number; readonly serverMs: number } | undefined;

  constructor({ clock, random, agenda, link, who, guarantee = "single" }: RedisLockStoreOptions) {
    this.guarantee = guarantee;
    this.#clock = clock;
    this.#random = random;
    this.#agenda = agenda;
    this.#link = link;
    this.#who = who;
    this.#batch = new Batch(link, clock, (localMs, serverMs) => {
      this.#reading = { localMs, serverMs };
    });
    link.listen({
      up: () => this.#resume(),
      down: () => {
        this.#reading = undefined;
        // The next server may be another one, and has granted nothing yet.
        for (const open of this.#open.values()) open.push = undefined;
      },
      push: (message) => this.#onPush(message),
    });
  }

  ask(bid: Bid): void {
    const open: OpenBid = {
      bid,
      timer: new Appointment({ due: () => this.#due(open) }),
      first: undefined,
      isPending: false,
      push: undefined,
      failures: 0,
    };
    this.#open.set(bid.holder, open);
    if (this.#link.isUp) this.#send(open, bid.wait ? "a" : "t");
    else this.#onFailure(open, notConnected());
  }

  withdraw(bid: Bid): void {
    const open = this.#open.get(bid.holder);
    if (!open) return;
    this.#forget(open);
    if (open.first && this.#batch.remove(open.first)) return;
    this.#cancel(this.#operation("c", bid, bid.cohort));
  }

  renew(grant: Grant): Promise<RenewalResult> {
    // The requested ttl counts: by the time of the response the lock may have been passed to a caller with another ttl.
    const operation = this.#operation("n", grant.bid, Number(grant.fence));
    return new Promise((resolve) => {
      this.#batch.add({
        operation,
        answered: (reply, sentAt) =>
          resolve(
            reply === 1
              ? { kind: "ok", ...validityFrom(sentAt, operation.ttlMs, marginMs) }
              : { kind: "lost", holder: parseHolder(String(reply)) },
          ),
        failed: (cause) => resolve({ kind: "unknown", cause }),
      });
    });
  }

  release(grant: Grant): Promise<ReleaseOutcome> {
    const operation = this.#operation("r", grant.bid, 0);
    return new Promise((resolve) => {
      this.#batch.add({
        operation,
        answered: (reply) => resolve(reply === 1 ? released : lost),
        failed: () => resolve(this.#releaseAgain(operation, grant.deadline)),
      });
    });
  }

  /** The first request had no response. Until the deadline the lock is ours or already free, so repeating it is safe. */
  async #releaseAgain(operation: LockOperation, deadline: number): Promise<ReleaseOutcome> {
    while (this.#clock.now() < deadline) {
      await sleep(this.#clock, 50 + 150 * this.#random.fraction());
      if (!this.#link.isUp) continue;
      const reply = await this.#batch.send(operation).catch(() => undefined);
      if (reply === undefined) continue;
      // No other holder can have had it before the deadline: "not held" means that the first call released it.
      return reply === 1 || this.#clock.now() < deadline ? released : unknown;
    }
    return unknown;
  }

  async close(): Promise<void> {
    for (const open of this.#open.values()) this.#forget(open);
    await this.#batch.drain();
    await this.#link.close();
  }

  #send(open: OpenBid, mode: Mode) {
    this.#agenda.remove(open.timer);
    open.isPending = true;
    // The response is newer than an earlier push.
    open.push = undefined;
    const { bid } = open;
    const request: PendingOperation = {
      operation: this.#operation(mode, bid, bid.cohort),
      answered: (reply, sentAt) => {
        open.isPending = false;
        if (this.#open.get(bid.holder) === open) this.#onReply(open, reply, sentAt);
      },
      failed: (cause) => {
        open.isPending = false;
        if (this.#open.get(bid.holder) === open) this.#onFailure(open, cause);
      },
    };
    if (mode !== "s") open.first = request;
    this.#batch.add(request);
  }

  #onReply(open: OpenBid, reply: Reply, sentAt: number) {
    const { bid } = open;
    open.failures = 0;
    if (typeof reply === "number") {
      this.#forget(open);
      return bid.granted({ fence: BigInt(reply), fences: bid.cohort, ...validityFrom(sentAt, bid.ttlMs, marginMs) });
    }
    const [code, number, value, place] = reply as [number, number, string, number];
    switch (code) {
      case 0:
        if (!bid.wait) {
          this.#forget(open);
          return bid.busy(parseHolder(value));
        }
        bid.queued(parseHolder(value));
        this.#checkAgain(open, Math.max(0, number) + 5 + 20 * place);
        return open.push === undefined ? undefined : this.#onPush(open.push);
      case -1:
        return this.#onDelay(open, number);
      case -2:
        return this.#fail(
          open,
          new CoordinationError("collision", `${bid.key} collides with the lock of another key: ${number}`),
        );
      default:
        this.#forget(open);
        return bid.granted({
          fence: BigInt(code),
          fences: bid.cohort,
          unconfirmed: true,
          ...validityFrom(sentAt, number, marginMs),
        });
    }
  }

  /** The server may have forgotten leases that are still held, and grants nothing until they have expired. */
  #onDelay(open: OpenBid, ms: number) {
    const now = this.#clock.now();
    const delay = { untilMs: now + ms, cause: describeForgetting(this.#link.serverStartedAt, now) };
    if (!open.bid.wait) {
      return this.#fail(open, new CoordinationError("unavailable", `${open.bid.key}: ${explainDelay(delay, now)}`));
    }
    open.bid.queued(undefined, delay);
    this.#checkAgain(open, ms + 5);
  }

  #onPush(message: string) {
    const [holder = "", fence = "", serverMs, grantedMs] = message.split("|");
    const open = this.#open.get(holder);
    // Withdrawn meanwhile: its cancellation frees the lock, at the latest when the connection is back.
    if (!open) return;
    // On a new connection the push can overtake the response to the request, which has the first reading of the server's clock.
    open.push = message;
    if (!this.#reading) return;
    this.#forget(open);
    const { bid } = open;
    // Counted from a reading of both clocks, so that no guess about one-way delays is needed.
    const { localMs, serverMs: readMs } = this.#reading;
    const deadline = localMs + (Number(serverMs) + Number(grantedMs) - readMs) / (1 + drift) - marginMs;
    bid.granted({ fence: BigInt(fence), fences: bid.cohort, deadline, periodMs: Number(grantedMs), unconfirmed: true });
  }

  /** There was no response. A bid that waits may be in the queue, so its state is read again a few times, after a while. */
  #onFailure(open: OpenBid, cause: unknown) {
    const error = fromRedisError(open.bid.key, cause);
    open.failures++;
    // A broken connection is usually back within a second. If it is not, that is an outage, and the caller gets the error.
    const maxFailures = this.#link.isUp ? maxTries : 2;
    if (error.code === "unavailable" && open.bid.wait && open.failures < maxFailures) {
      return this.#checkAgain(open, this.#link.isUp ? 50 * open.failures : 1_000);
    }
    this.#fail(open, error);
    this.#cancel(this.#operation("c", open.bid, open.bid.cohort));
  }

  #checkAgain(open: OpenBid, inMs: number) {
    const jitter = 0.9 + 0.2 * this.#random.fraction();
    const maxMs = Math.min(maxSilenceMs, Math.max(1_000, open.bid.ttlMs / 3)) * jitter;
    this.#agenda.put(open.timer, this.#clock.now() + Math.min(inMs, maxMs));
  }

  /** A waiting bid has had no response for a while. */
  #due(open: OpenBid) {
    if (this.#open.get(open.bid.holder) !== open || open.isPending) return;
    if (this.#link.isUp) return this.#send(open, "s");
    this.#onFailure(open, notConnected());
  }

  /** Connected again: pushes may have been missed and cancellations lost. */
  #resume() {
    for (const operation of [...this.#cancellations.values()]) this.#cancel(operation);
    for (const open of this.#open.values()) {
      open.failures = 0;
      if (!open.isPending) this.#send(open, "s");
    }
  }

  #cancel(operation: LockOperation) {
    const { holder } = operation;
    this.#cancellations.set(holder, operation);
    if (this.#cancellations.size > maxCancellations) {
      this.#cancellations.delete(this.#cancellations.keys().next().value as string);
    }
    if (!this.#link.isUp) return;
    this.#batch.add({ operation, answered: () => this.#cancellations.delete(holder), failed: () => {} });
  }

  #fail(open: OpenBid, error: CoordinationError) {
    this.#forget(open);
    open.bid.failed(error);
  }

  #forget(open: OpenBid) {
    this.#open.delete(open.bid.holder);
    this.#agenda.remove(open.timer);
  }

  #operation(mode: Mode, bid: Bid, number: number): LockOperation {
    const { key, holder, purpose } = bid;
    const tail = `${key}|${this.#who}|${purpose ? purpose.replaceAll("|", "/") : ""}`;
    return { mode, key, holder, ttlMs: Math.round(bid.ttlMs), number, tail };
  }
}

interface OpenBid {
  readonly bid: Bid;
  readonly timer: Appointment;
  /** The first request. While it is unsent, Redis has no record of the bid. */
  first: PendingOperation | undefined;
  /** A request about it is pending. */
  isPending: boolean;
  /** The push that granted it. */
  push: string | undefined;
  /** Failed requests in a row. */
  failures: number;
}

function notConnected(): Error {
  return new Error("not connected");
}

function parseHolder(value: string): Holder | undefined {
  if (value === "") return undefined;
  const [id = "", fence, , who = "unknown", purpose] = value.split("|");
  // A fence is the server's time in microseconds when it was given, unless that clock was set back.
  return { id, who, sinceMs: fence ? Math.floor(Number(fence) / 1_000) : undefined, purpose: purpose || undefined };
}

function describeForgetting(serverStartedAt: number | undefined, now: number): string {
  const happened =
    serverStartedAt === undefined
      ? "Redis was restarted or another server took over"
      : `Redis started ${Math.floor(Math.max(0, now - serverStartedAt) / 1_000)} s ago`;
  return `${happened} and may have forgotten locks that are still held`;
}

const released: ReleaseOutcome = { released: true };
const lost: ReleaseOutcome = { released: false, reason: "lost" };
const unknown: ReleaseOutcome = { released: false, reason: "unknown" };
