import type { Clock } from "../../time/index.ts";
import { type ClaimClientOptions, claimsOver } from "../claims/claim-client.ts";
import type { ClaimBid, ClaimGrant, ClaimStore, Ending, Taken } from "../claims/claim-store.ts";
import type { Claims } from "../claims/claims.ts";
import { CoordinationError } from "../errors.ts";
import { keyHash } from "../key.ts";
import { type RenewalResult, validityFrom } from "../lease-renewer.ts";
import { claimScript, renewScript, settleScript } from "./claim-script.ts";
import { rethrowRedisError, type Scripts, script } from "./script.ts";

export interface RedisClaimsOptions extends ClaimClientOptions {
  /** Stays open when the claims are closed: it may serve others. */
  readonly connection: Scripts;
  /** Default: the connection's. */
  readonly prefix?: string;
}

/**
 * Claims in Redis. They last as long as it keeps acknowledged writes: a server that restarts empty, or a replica that
 * takes over without the latest writes, has lost finished claims, and their work may be repeated.
 */
export function redisClaims(options: RedisClaimsOptions): Claims {
  return claimsOver(redisClaimStore(options), options);
}

const claimIt = script(claimScript);
const renewThem = script(renewScript);
const settleIt = script(settleScript);

/** Rounding and timer granularity on both sides. */
const marginMs = 5;
/** More in one call would keep Redis busy for longer than other clients should have to wait. */
const maxPerCall = 128;

/** Claims as strings that expire by themselves: one round trip each, and one for all renewals of a moment. */
export function redisClaimStore({
  connection,
  clock,
  prefix = connection.prefix,
}: Pick<RedisClaimsOptions, "connection" | "clock" | "prefix">): ClaimStore {
  const fences = `${prefix}claim-fence`;
  const renewals = new Renewals(connection, clock);

  function grant({ key, holder, leaseMs, payloadHash = "" }: ClaimBid, fence: number, sentAt: number): ClaimGrant {
    const name = `${prefix}c:${keyHash(key)}`;
    const start = `C|${holder}|${fence}|`;
    return {
      fence: BigInt(fence),
      ...validityFrom(sentAt, leaseMs, marginMs),
      renew: () => renewals.add({ name, start, leaseMs }),
      async settle(ending) {
        const { letter, text, ttlMs } = toRecord(ending);
        const args = [start, `${letter}|${fence}|`, payloadHash, text, ttlMs];
        const reply = await connection.run(settleIt, [name], args).catch(rethrowRedisError(key));
        return reply === 1 ? "settled" : "lost";
      },
    };
  }

  return {
    guarantee: connection.guarantee,
    async claim(bid) {
      const { key, holder, who, leaseMs, payloadHash = "" } = bid;
      // The whole hash names the key alone: the clear text would cost more than the rest of the record.
      const keys = [fences, `${prefix}c:${keyHash(key)}`];
      const sentAt = clock.now();
      const args = [holder, Math.ceil(leaseMs), payloadHash, who];
      const reply = (await connection.run(claimIt, keys, args).catch(rethrowRedisError(key))) as Reply;
      return reply[0] > 0 ? { state: "new", grant: grant(bid, reply[0], sentAt) } : parseTaken(reply[1], reply[2]);
    },
    close: async () => {},
  };
}

type Reply = readonly [fence: number, record: string, expiresInMs: number];

function toRecord(ending: Ending): { letter: string; text: string; ttlMs: number } {
  switch (ending.kind) {
    case "done":
      return { letter: "D", text: ending.result, ttlMs: Math.ceil(ending.ttlMs) };
    case "failed":
      return { letter: "X", text: ending.error, ttlMs: Math.ceil(ending.ttlMs) };
    case "retry":
      return { letter: "R", text: "", ttlMs: Math.ceil(ending.afterMs) };
  }
}

function parseTaken(record: string, expiresInMs: number): Taken {
  const retryAfterMs = Math.max(0, expiresInMs);
  if (record.startsWith("C|")) {
    const [, id = "", , since, payload, who = "unknown"] = split(record, 6);
    const holder = { id, who, sinceMs: Number(since), purpose: undefined };
    return { state: "in-flight", holder, retryAfterMs, payloadHash: payload || undefined };
  }
  const [letter, , since, payload, text = ""] = split(record, 5);
  const payloadHash = payload || undefined;
  const atMs = Number(since);
  switch (letter) {
    case "R":
      return { state: "in-flight", holder: undefined, retryAfterMs, payloadHash };
    case "D":
      return { state: "done", result: text, atMs, payloadHash };
    case "X":
      return { state: "failed", error: text, atMs, payloadHash };
    default:
      throw new CoordinationError("collision", `Redis holds something that is not a claim: ${letter}`);
  }
}

/** The first parts between `|`, and all the rest as the last. */
function split(record: string, parts: number): string[] {
  const all = record.split("|");
  return [...all.slice(0, parts - 1), all.slice(parts - 1).join("|")];
}

interface Due {
  readonly name: string;
  readonly start: string;
  readonly leaseMs: number;
}

/** Gathers the renewals of one moment into one call: claims of the same length fall due together. */
class Renewals {
  readonly #connection: Scripts;
  readonly #clock: Clock;
  #pending: { readonly due: Due; readonly answer: (renewal: RenewalResult) => void }[] = [];

  constructor(connection: Scripts, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  add(due: Due): Promise<RenewalResult> {
    return new Promise((answer) => {
      const pending = this.#pending.push({ due, answer });
      if (pending === 1) queueMicrotask(() => void this.#send());
      if (pending === maxPerCall) void this.#send();
    });
  }

  async #send() {
    const sent = this.#pending;
    if (sent.length === 0) return;
    this.#pending = [];
    const sentAt = this.#clock.now();
    const names = sent.map(({ due }) => due.name);
    const args = sent.flatMap(({ due }) => [due.start, Math.ceil(due.leaseMs)]);
    try {
      const replies = (await this.#connection.run(renewThem, names, args)) as readonly (1 | string)[];
      for (const [i, { due, answer }] of sent.entries()) answer(renewal(replies[i] ?? "", sentAt, due));
    } catch (cause) {
      for (const { answer } of sent) answer({ kind: "unknown", cause });
    }
  }
}

function renewal(reply: 1 | string, sentAt: number, { leaseMs }: Due): RenewalResult {
  if (reply === 1) return { kind: "ok", ...validityFrom(sentAt, leaseMs, marginMs) };
  return { kind: "lost", holder: reply.startsWith("C|") ? { who: split(reply, 6)[5] ?? "unknown" } : undefined };
}
