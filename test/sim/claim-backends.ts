import { claimsOver } from "../../src/coordination/claims/claim-client.ts";
import type { ClaimStore, Ending } from "../../src/coordination/claims/claim-store.ts";
import { CoordinationError } from "../../src/coordination/errors.ts";
import { kubernetesClaimStore } from "../../src/coordination/kubernetes/kubernetes-claims.ts";
import { claimScript, renewScript, settleScript } from "../../src/coordination/redis/claim-script.ts";
import { redisClaimStore } from "../../src/coordination/redis/redis-claims.ts";
import type { Scripts } from "../../src/coordination/redis/script.ts";
import type { ClaimBackend } from "./claim-sim.ts";
import { ApiServer, namespace } from "./kube-network.ts";
import { expiryByRemoteClock } from "./lock-mutants.ts";
import { Network } from "./network.ts";
import type { Process, World } from "./world.ts";

export type MutateClaims = (store: ClaimStore) => ClaimStore;

/** Claims in one Redis: the real store on a model of its scripts. */
export function redisClaimBackend(world: World, mutate: MutateClaims = (store) => store): ClaimBackend {
  const network = new Network(world, { timeoutMs: 1_000, timedOut: () => new Error("command timed out") });
  const rate = 1 + world.chance.between(-0.002, 0.002);
  const model = new ClaimScripts(() => 1_700_000_000_000 + world.now * rate);
  return {
    open(process) {
      const connection: Scripts = {
        guarantee: "single",
        prefix: "interlock:",
        run: ({ text }, keys, args) => network.call(process, async () => model.run(text, keys, args)),
      };
      return claimsFor(process, world, mutate(redisClaimStore({ connection, clock: process.clock })));
    },
    strike() {
      world.struck("store silent");
      network.silence(world.chance.between(100, 6_000));
    },
    heal: () => network.heal(),
  };
}

/** Claims as Leases on an API server. */
export function kubernetesClaimBackend(
  world: World,
  options: { readonly mutate?: MutateClaims; readonly remoteClock?: boolean } = {},
): ClaimBackend {
  const server = new ApiServer(world);
  const { mutate = (store) => store, remoteClock = false } = options;
  return {
    open(process) {
      const { clock } = process;
      const honest = server.clientOf(process);
      const client = remoteClock ? expiryByRemoteClock(honest, clock) : honest;
      return claimsFor(process, world, mutate(kubernetesClaimStore({ client, clock, namespace })));
    },
    strike: () => server.falter(),
    heal: () => server.heal(),
  };
}

function claimsFor(process: Process, world: World, store: ClaimStore) {
  return claimsOver(store, { clock: process.clock, random: world.chance, who: process.name });
}

/** Treats silence as a grant: exactly when faults occur, all replicas work on everything. */
export const failOpen: MutateClaims = (store) => ({
  ...store,
  async claim(bid) {
    try {
      return await store.claim(bid);
    } catch {
      const forever = { deadline: Number.MAX_SAFE_INTEGER, periodMs: 3_000 };
      const settle = async () => "settled" as const;
      const renew = async () => ({ kind: "ok", ...forever }) as const;
      return { state: "new", grant: { fence: BigInt(Number.MAX_SAFE_INTEGER), ...forever, renew, settle } };
    }
  },
});

/** Does not look whether the claim is still its own when it records the result. */
export const settlesRegardless: MutateClaims = (store) => ({
  ...store,
  async claim(bid) {
    const standing = await store.claim(bid);
    if (standing.state !== "new") return standing;
    const { grant } = standing;
    const settle = (ending: Ending) => grant.settle(ending).then(() => "settled" as const);
    return { state: "new", grant: { ...grant, settle } };
  },
});

/** What the claim scripts do, in TypeScript; `claim-script.test.ts` compares the two. */
export class ClaimScripts {
  readonly #now: () => number;
  readonly #records = new Map<string, { value: string; expiresAt: number }>();
  #fence = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  run(script: string, keys: readonly string[], args: readonly (string | number)[]): unknown {
    const words = args.map(String);
    switch (script) {
      case claimScript:
        return this.#claim(keys[1] as string, words);
      case renewScript:
        return keys.map((key, i) => this.#renew(key, words[2 * i] as string, Number(words[2 * i + 1])));
      case settleScript:
        return this.#settle(keys[0] as string, words);
      default:
        throw new CoordinationError("unavailable", "unknown script");
    }
  }

  #claim(key: string, [holder = "", lease, payload = "", who = ""]: readonly string[]) {
    const value = this.#get(key);
    if (value?.startsWith(`C|${holder}|`)) {
      this.#set(key, value, Number(lease));
      return [Number(value.split("|")[2])];
    }
    if (value !== undefined) return [0, value, this.#ttl(key)];
    this.#fence = Math.max(this.#fence, Math.floor(this.#now() * 1_000)) + 1;
    this.#set(key, ["C", holder, this.#fence, Math.floor(this.#now()), payload, who].join("|"), Number(lease));
    return [this.#fence];
  }

  #renew(key: string, start: string, leaseMs: number): 1 | string {
    const value = this.#get(key) ?? "";
    if (!value.startsWith(start)) return value;
    this.#set(key, value, leaseMs);
    return 1;
  }

  #settle(key: string, [start = "", settled = "", payload = "", text = "", ttl = "0"]: readonly string[]): number {
    const value = this.#get(key) ?? "";
    if (value.startsWith(settled)) return 1;
    if (!value.startsWith(start)) return 0;
    if (Number(ttl) === 0) this.#records.delete(key);
    else this.#set(key, `${settled}${Math.floor(this.#now())}|${payload}|${text}`, Number(ttl));
    return 1;
  }

  #get(key: string): string | undefined {
    const record = this.#records.get(key);
    return record && this.#now() < record.expiresAt ? record.value : undefined;
  }

  #set(key: string, value: string, ttlMs: number) {
    this.#records.set(key, { value, expiresAt: this.#now() + ttlMs });
  }

  #ttl(key: string): number {
    return Math.ceil((this.#records.get(key)?.expiresAt ?? 0) - this.#now());
  }
}
