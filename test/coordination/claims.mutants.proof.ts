import { beforeAll, describe, expect, it } from "vitest";
import { type ClaimClientOptions, claimsOver } from "../../src/coordination/claims/claim-client.ts";
import type { ClaimGrant, ClaimStore, Ending } from "../../src/coordination/claims/claim-store.ts";
import { claimsCases } from "../../src/coordination/claims/claims.contract.ts";
import type { Claims, NewClaim } from "../../src/coordination/claims/claims.ts";
import { type Clock, sleep, systemRandom } from "../../src/time/index.ts";
import { ManualClock } from "../doubles/manual-clock.ts";
import { type ClaimsBackend, ClaimWorld } from "./claim-world.ts";
import { inManualTime } from "./claims-backends.ts";
import { type Bug, naiveClaimStore, naiveData } from "./naive-claim-store.ts";

/** An implementation with one thing wrong: in the store, on the way to it, or at the desk. */
interface Mutant {
  readonly bug?: Bug;
  /** Every process has its own data. */
  readonly apart?: boolean;
  readonly altered?: (store: ClaimStore, clock: Clock) => ClaimStore;
  readonly desk?: (store: ClaimStore, options: ClaimClientOptions) => Claims;
}

const bugs: readonly Bug[] = [
  "asks, then marks",
  "marks before the work",
  "ignores ttls",
  "forgets in half the time",
  "unfinished claims never expire",
  "expires by the asker's wall clock",
  "renews without extending",
  "renews any record",
  "completes without looking whose it is",
  "fails without looking whose it is",
  "does not recognise its own completion",
  "takes any completion for its own",
  "keeps nothing when completed",
  "frees what failed at once",
  "never frees what failed",
  "retries what failed for good",
  "loses the holder",
  "forgets the payload",
  "forgets the time",
  "cuts results at a separator",
  "cuts keys short",
  "counts fences from one",
];

const mutants: Readonly<Record<string, Mutant>> = {
  ...Object.fromEntries(bugs.map((bug) => [bug, { bug }])),
  "keeps a tracker in each process": { apart: true },
  "fails open": {
    altered: (store, clock) => ({
      ...store,
      claim: (bid) => store.claim(bid).catch(() => ({ state: "new", grant: deadGrant(clock) })),
    }),
  },
  "tries for ever": {
    altered: (store, clock) => ({ ...store, claim: (bid) => untilAnswered(() => store.claim(bid), clock) }),
  },
  "is another claimant at each try": {
    altered: (store) => {
      let tries = 0;
      return { ...store, claim: (bid) => store.claim({ ...bid, holder: `${bid.holder}-${tries++}` }) };
    },
  },
  "takes no answer to complete for yes": {
    altered: withGrants((grant) => ({ ...grant, settle: (ending) => grant.settle(ending).catch(() => "settled") })),
  },
  "gives up at the first renewal that fails": {
    altered: withGrants((grant) => ({
      ...grant,
      async renew() {
        const answer = await grant.renew();
        return answer.kind === "unknown" ? { kind: "lost", holder: undefined } : answer;
      },
    })),
  },
  "relies on the store for its deadline": {
    altered: withGrants((grant) => ({ ...grant, deadline: Number.POSITIVE_INFINITY })),
  },
  "counts the lease from the answer": {
    altered: withGrants((grant, clock) => ({ ...grant, deadline: clock.now() + grant.periodMs })),
  },
  "takes the process for the claimant": {
    desk: (store, options) => {
      const random = { fraction: () => 0.5, id: () => options.who ?? "pod" };
      const desk = () => claimsOver(store, { ...options, random });
      return { ...facade(desk()), claim: (key, wants) => desk().claim(key, wants) };
    },
  },
  "asks the store for every caller": {
    desk: (store, options) => {
      const desks = Array.from({ length: 50 }, () => claimsOver(store, options));
      let next = 0;
      return { ...facade(desks[0] as Claims), claim: (key, wants) => (desks[next++ % 50] as Claims).claim(key, wants) };
    },
  },
  "leaves released claims to expiry": {
    desk: withClaims((claim) => ({ ...claim, [Symbol.asyncDispose]: async () => {} })),
  },
  "settles on every call": {
    desk: withClaims((claim, grant) => ({
      ...claim,
      async fail(how) {
        await claim.fail(how);
        await grant.settle({ kind: "retry", afterMs: 0 });
        return { failed: true };
      },
    })),
  },
  "keeps renewing settled claims": {
    desk: withClaims((claim, grant, { clock }) => ({
      ...claim,
      async complete(result = "") {
        const answer = await untilAnswered(() => grant.settle({ kind: "done", result, ttlMs: 60_000 }), clock);
        return answer === "settled" ? { completed: true } : { completed: false, reason: "lost" };
      },
    })),
  },
  "believes the second answer to a failure": {
    desk: withClaims((claim, grant, { clock }) => ({
      ...claim,
      async fail(how) {
        const ending: Ending = { kind: "retry", afterMs: "retryAfterMs" in how ? how.retryAfterMs : 0 };
        const answer = await untilAnswered(() => grant.settle(ending), clock);
        return answer === "settled" ? { failed: true } : { failed: false, reason: "lost" };
      },
    })),
  },
  "holds for as long as it takes": {
    desk: (store, options) => {
      const desk = claimsOver(store, options);
      return { ...facade(desk), claim: (key, { maxHoldMs, ...wants } = {}) => desk.claim(key, wants) };
    },
  },
  "closes without a word": {
    desk: (store, options) => ({ ...facade(claimsOver(store, options)), close: async () => {} }),
  },
};

const failures = new Map<string, Set<string>>();

beforeAll(async () => {
  for (const [name, mutant] of Object.entries(mutants)) failures.set(name, await failuresOf(mutant));
});

describe("the contract of claims", () => {
  it("is kept by the naive store without a bug", async () => {
    expect(await failuresOf({})).toEqual(new Set());
  });

  it.each(Object.keys(mutants))("finds a store that %s", (name) => {
    expect(failures.get(name)).not.toEqual(new Set());
  });

  it.each(claimsCases.map(({ name }) => name))("has a case that can fail: a claim %s", (name) => {
    const failed = [...failures].filter(([, cases]) => cases.has(name)).map(([mutant]) => mutant);
    expect(failed).not.toEqual([]);
  });
});

/** The names of the cases that `mutant` fails. */
async function failuresOf(mutant: Mutant): Promise<Set<string>> {
  const failed = new Set<string>();
  for (const { name, run } of claimsCases) {
    const world = new ClaimWorld(backendOf(mutant));
    const outcome = run(world).catch(() => failed.add(name));
    const hung = new Promise((resolve) => setTimeout(resolve, 2_000, "hung"));
    if ((await Promise.race([outcome, hung])) === "hung") failed.add(name);
    await world.stop().catch(() => {});
  }
  return failed;
}

function backendOf({ bug, apart = false, altered = (store) => store, desk = claimsOver }: Mutant): ClaimsBackend {
  const clock = new ManualClock();
  const data = naiveData(clock);
  return {
    ...inManualTime(clock),
    connect({ through, ...setup }) {
      const store = naiveClaimStore(apart ? naiveData(clock) : data, setup.clock, bug);
      return desk(altered(through(store), setup.clock), { ...setup, random: systemRandom() });
    },
    async forget() {
      data.entries.clear();
    },
    stop: async () => {},
  };
}

function withGrants(alter: (grant: ClaimGrant, clock: Clock) => ClaimGrant) {
  return (store: ClaimStore, clock: Clock): ClaimStore => ({
    ...store,
    async claim(bid) {
      const standing = await store.claim(bid);
      return standing.state === "new" ? { state: "new", grant: alter(standing.grant, clock) } : standing;
    },
  });
}

function withClaims(alter: (claim: NewClaim, grant: ClaimGrant, options: ClaimClientOptions) => NewClaim) {
  return (store: ClaimStore, options: ClaimClientOptions): Claims => {
    const grants = new Map<bigint, ClaimGrant>();
    const remember = (grant: ClaimGrant) => {
      grants.set(grant.fence, grant);
      return grant;
    };
    const desk = claimsOver(withGrants(remember)(store, options.clock), options);
    return {
      ...facade(desk),
      async claim(key, wants) {
        const claim = await desk.claim(key, wants);
        return claim.state === "new" ? alter(plain(claim), grants.get(claim.fence) as ClaimGrant, options) : claim;
      },
    };
  };
}

/** A plain object that can be spread: a class keeps its methods elsewhere. */
function facade(claims: Claims): Claims {
  return {
    guarantee: claims.guarantee,
    claim: (key, wants) => claims.claim(key, wants),
    share: (name, flight) => claims.share(name, flight),
    close: () => claims.close(),
  };
}

function plain(claim: NewClaim): NewClaim {
  const { state, key, fence, holder, signal } = claim;
  return {
    ...{ state, key, fence, holder, signal },
    remainingMs: () => claim.remainingMs(),
    assertHeld: (minMs) => claim.assertHeld(minMs),
    complete: (result) => claim.complete(result),
    fail: (how) => claim.fail(how),
    [Symbol.asyncDispose]: () => claim[Symbol.asyncDispose](),
  };
}

async function untilAnswered<T>(ask: () => Promise<T>, clock: Clock): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await sleep(clock, 50);
    }
  }
}

function deadGrant(clock: Clock): ClaimGrant {
  return {
    fence: 0n,
    deadline: clock.now() + 60_000,
    periodMs: 60_000,
    renew: async () => ({ kind: "ok", deadline: clock.now() + 60_000, periodMs: 60_000 }),
    settle: async () => "settled",
  };
}
