import type { LockOperation, Replies, Reply } from "../../src/coordination/redis/lock-link.ts";

/**
 * What the lock script does, in TypeScript, on a server clock of its own. `lock-script.test.ts` runs both on the same
 * operations and compares every response, so that a proof here holds for the Lua.
 */
export class RedisModel {
  readonly #now: () => number;
  /** Delivers a push; returns whether there is a subscriber. */
  readonly #publish: (client: string, message: string) => boolean;
  #locks = new Map<string, { value: string; expiresAt: number }>();
  #queues = new Map<string, string[]>();
  #fence = 0;
  /** How many fences each bid asked for: they all belong to its grant. */
  readonly #cohorts = new Map<string, number>();
  #quarantinedUntil = 0;
  #knownRun = "";
  /** How each holder's lock ended: for checking the results that callers got. */
  readonly endings = new Map<string, "released" | "expired" | "deleted">();
  /** A mutant: frees the lock of that name, regardless of its holder. */
  releaseWithoutOwnerCheck = false;

  /** `now` in ms, with fractions, as the server's own clock shows it. */
  constructor(now: () => number, publish: (client: string, message: string) => boolean) {
    this.#now = now;
    this.#publish = publish;
  }

  holderOf(key: string): string | undefined {
    return this.#value(key)?.split("|")[0];
  }

  /** Deletes the lock from outside; returns the lost lock. */
  deleteLock(key: string): { holder: string; fence: bigint } | undefined {
    const [holder, fence] = this.#value(key)?.split("|") ?? [];
    if (!holder || !fence) return undefined;
    this.endings.set(holder, "deleted");
    this.#locks.delete(key);
    return { holder, fence: BigInt(fence) + BigInt((this.#cohorts.get(holder) ?? 1) - 1) };
  }

  /** A restart that lost everything. */
  forgetEverything(): void {
    this.#locks.clear();
    this.#queues.clear();
    this.#fence = 0;
    this.#quarantinedUntil = 0;
    this.#knownRun = "";
  }

  enter(runId: string, maxTtlMs: number, upMs: number): number {
    const left = maxTtlMs - Math.max(0, upMs);
    const waitMs = this.#quarantinedUntil - this.#now();
    const isExtended = upMs >= 0 && waitMs > 0 && waitMs < left;
    if (left > 0 && (this.#knownRun !== runId || isExtended)) {
      this.#quarantinedUntil = this.#now() + left;
      this.#fence = 0;
    }
    this.#knownRun = runId;
    return Math.max(0, this.#quarantinedUntil - this.#now());
  }

  execute(operations: readonly LockOperation[]): Replies {
    let reserved = 0;
    for (const { mode, holder, number } of operations) {
      if (mode === "a" || mode === "t" || mode === "s") this.#cohorts.set(holder, number);
      if (mode === "a" || mode === "t") reserved += number;
    }
    let next: number | undefined;
    const fenceFor = (count: number) => {
      const last = next === undefined ? this.#fences(reserved) : undefined;
      if (last !== undefined) next = last - reserved + 1;
      if (next === undefined) return undefined;
      next += count;
      return next - count;
    };
    const each = operations.map((operation) => this.#one(operation, fenceFor));
    return each.length === 1 && typeof each[0] === "number" ? { each } : { serverMs: Math.floor(this.#now()), each };
  }

  #one(operation: LockOperation, fenceFor: (count: number) => number | undefined): Reply {
    const { mode, key, holder, ttlMs, number, tail } = operation;
    const value = this.#value(key);
    switch (mode) {
      case "r":
        if (!ours(value, holder) && !this.releaseWithoutOwnerCheck) return value ?? "";
        this.#ended(key, "released");
        this.#handOver(key);
        return 1;
      case "n":
        if (ours(value, holder)) {
          this.#set(key, value as string, ttlMs);
          return 1;
        }
        if (value === undefined && this.#quarantined) {
          this.#set(key, `${holder}|${number}|${tail}`, ttlMs);
          return 1;
        }
        return value ?? "";
      case "c":
        this.#unqueue(key, bid(operation));
        if (ours(this.#value(key), holder)) {
          this.#ended(key, "released");
          this.#handOver(key);
        }
        return 1;
      default:
        if (this.#queue(key).length > 0 && value === undefined) this.#handOver(key);
        if (mode !== "s" && this.#queue(key).length === 0) {
          const fence = fenceFor(number);
          if (fence !== undefined && this.#value(key) === undefined) {
            this.#set(key, `${holder}|${fence}|${tail}`, ttlMs);
            return fence;
          }
        }
        return this.#standing(operation);
    }
  }

  #standing(operation: LockOperation): Reply {
    const { mode, key, holder, tail } = operation;
    const queue = this.#queue(key);
    let place = mode === "t" ? -1 : queue.indexOf(bid(operation));
    if (mode !== "t" && place === -1 && !ours(this.#value(key), holder)) {
      place = queue.push(bid(operation)) - 1;
      this.#queues.set(key, queue);
      if (this.#value(key) === undefined) this.#handOver(key);
    }
    const value = this.#value(key);
    if (ours(value, holder)) return [Number((value as string).split("|")[1]), this.#ttl(key)];
    if (value !== undefined && value.split("|")[2] !== tail.split("|")[0]) {
      this.#unqueue(key, bid(operation));
      return [-2, value];
    }
    if (value === undefined && this.#quarantined) return [-1, Math.ceil(this.#quarantinedUntil - this.#now())];
    return [0, value === undefined ? -2 : this.#ttl(key), value ?? "", Math.max(0, place)];
  }

  #handOver(key: string) {
    const queue = this.#queue(key);
    for (let tries = 0; tries < 64; tries++) {
      const first = queue.shift();
      if (first === undefined) break;
      const [holder = "", ttl = "", cohort = "", ...tail] = first.split("|");
      const last = this.#fences(Number(cohort));
      if (last === undefined) {
        queue.unshift(first);
        break;
      }
      const fence = last - Number(cohort) + 1;
      const hold = Math.min(Number(ttl), 2_000);
      const now = Math.floor(this.#now());
      if (this.#publish(holder.split(".")[0] as string, `${holder}|${fence}|${now}|${hold}`)) {
        this.#set(key, `${holder}|${fence}|${tail.join("|")}`, hold);
        return;
      }
    }
    this.#locks.delete(key);
  }

  #fences(count: number): number | undefined {
    if (this.#quarantined) return undefined;
    this.#fence = Math.max(this.#fence, Math.floor(this.#now() * 1_000)) + count;
    return this.#fence;
  }

  get #quarantined(): boolean {
    return this.#now() < this.#quarantinedUntil;
  }

  #value(key: string): string | undefined {
    const lock = this.#locks.get(key);
    if (!lock) return undefined;
    if (this.#now() < lock.expiresAt) return lock.value;
    this.#ended(key, "expired");
    this.#locks.delete(key);
    return undefined;
  }

  #ended(key: string, how: "released" | "expired") {
    const holder = this.#locks.get(key)?.value.split("|")[0];
    if (holder) this.endings.set(holder, how);
  }

  #set(key: string, value: string, ttlMs: number) {
    this.#locks.set(key, { value, expiresAt: this.#now() + ttlMs });
  }

  #ttl(key: string): number {
    return Math.ceil((this.#locks.get(key)?.expiresAt ?? 0) - this.#now());
  }

  #queue(key: string): string[] {
    return this.#queues.get(key) ?? [];
  }

  #unqueue(key: string, entry: string) {
    this.#queues.set(
      key,
      this.#queue(key).filter((other) => other !== entry),
    );
  }
}

function bid({ holder, ttlMs, number, tail }: LockOperation): string {
  return `${holder}|${ttlMs}|${number}|${tail}`;
}

function ours(value: string | undefined, holder: string): boolean {
  return value?.startsWith(`${holder}|`) ?? false;
}
