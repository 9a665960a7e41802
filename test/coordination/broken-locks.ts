import { CoordinationError, type CoordinationErrorCode, isCoordinationError } from "../../src/coordination/errors.ts";
import type { Key } from "../../src/coordination/key.ts";
import type { RenewalResult } from "../../src/coordination/lease-renewer.ts";
import type { Bid, Grant, LockStore, Terms } from "../../src/coordination/locks/lock-store.ts";
import type { Ability } from "../../src/coordination/locks/locks.contract.ts";
import type { AcquireOptions, Lease, Locks } from "../../src/coordination/locks/locks.ts";
import type { LockLink, LockOperation, Replies, Reply } from "../../src/coordination/redis/lock-link.ts";
import { type KubeClient, KubeError, type KubeLease, leases } from "../../src/kube/index.ts";
import { type Clock, sleep } from "../../src/time/index.ts";
import { kubernetesAbilities, kubernetesLockBench } from "./kubernetes-lock-bench.ts";
import { memoryAbilities, memoryLockBench } from "./memory-lock-bench.ts";
import { redisModelAbilities, redisModelLockBench } from "./redis-model-lock-bench.ts";
import { seedMemoryLocks } from "./seed-memory-locks.ts";
import type { Spoilt, VirtualBench, VirtualProcess } from "./virtual-bench.ts";

/** Locks with one thing wrong with them: a defect of the seeds, of a peer, or one that is easily made. */
export interface BrokenLocks {
  /** The defect, after "locks that". */
  readonly name: string;
  readonly abilities: readonly Ability[];
  bench(): VirtualBench;
}

const manyKeys = 300;

const inRedis = (name: string, spoilt: Spoilt): BrokenLocks => ({
  name,
  abilities: redisModelAbilities,
  bench: () => redisModelLockBench({ spoilt, manyKeys }),
});

const inKubernetes = (name: string, spoilt: Spoilt): BrokenLocks => ({
  name,
  abilities: kubernetesAbilities,
  bench: () => kubernetesLockBench({ spoilt, manyKeys }),
});

const inMemory = (name: string, spoilt: Spoilt): BrokenLocks => ({
  name,
  abilities: memoryAbilities,
  bench: () => memoryLockBench({ spoilt, manyKeys }),
});

/** Nothing is wrong with these. */
export const wholeLocks: readonly BrokenLocks[] = [
  inMemory("are whole, in memory", {}),
  inRedis("are whole, in a model of Redis", {}),
  inKubernetes("are whole, in a model of Kubernetes", {}),
];

/** The numbers are those of the failures in `reference/locks.md` §2. */
export const brokenLocks: readonly BrokenLocks[] = [
  {
    name: "evict the lock of a waiter that was woken and has not run yet (R14)",
    abilities: memoryAbilities,
    bench: () => memoryLockBench({ manyKeys }, ({ options }) => seedMemoryLocks(options.clock, { maxKeys: 50 })),
  },

  inRedis("wait without a bound (R1)", { locks: asking(({ waitMs: _, ...rest }) => ({ ...rest, waitMs: 1e9 })) }),
  inRedis("ignore a caller that stops waiting (R1)", { locks: asking(({ signal: _, ...rest }) => rest) }),
  inRedis("poll, and serve the caller that polls at the right moment (R2)", { locks: polling }),
  inRedis("stop renewing at the first error (R3)", { store: renewing(neverAfterAnError()) }),
  inRedis("go on without the backend's answer (R3)", { store: renewing(pretending("unknown")) }),
  inRedis("ignore the response to a renewal (R4)", { store: renewing(pretending("lost")) }),
  inRedis("find out about a loss only when the lease has run out (R4)", { store: renewing(doubting) }),
  inRedis("make a lock again that was taken from them (R4)", { link: remaking }),
  inRedis("keep to themselves what release was answered (R5)", { locks: leasing(agreeable) }),
  inRedis("take no answer to a release for a no (R5)", { link: releasingOnce }),
  inRedis("wait for the answer to a release as long as it takes (R5)", { locks: leasing(patient) }),
  inRedis("renew far too often (R6)", { store: renewing(tooSoon) }),
  inRedis("go by timers alone, not by the clock (R7)", { locks: leasing(timerBound) }),
  inRedis("have no fence (R8)", { store: granting((terms) => ({ ...terms, fence: 1n })) }),
  inRedis("count fences from one in each process (R8)", { store: fencesFromOne }),
  inKubernetes("leave a lock to a waiter that never comes (R9)", { client: withoutConfirmation }),
  inRedis("exclude only callers in their own process (R18)", {
    locks: (locks, process) => renaming((key) => `${key} of ${process.options.who}`)(locks, process),
  }),
  inMemory("promise more than they keep (R10, R18)", {
    locks: (locks) => ({ ...through(locks), guarantee: "single" }),
  }),
  inRedis("write keys down as they come (R11, K14)", {
    locks: renaming((key) => key.toLowerCase().replace(/[:/]/g, "-")),
  }),
  inRedis("cut keys to what fits a label (K13)", { locks: renaming((key) => key.slice(0, 63)) }),
  inRedis("have one lock for everything (R12)", { locks: renaming(() => "everything") }),
  inRedis("keep the lock when the work throws (R15)", { locks: running(forgetful) }),
  inMemory("let work that hangs hold on for ever (R16)", { locks: asking(({ maxHoldMs: _, ...rest }) => rest) }),
  inMemory("count every failure as a timeout (R17, K18)", { options: lumping }),
  inMemory("do not count holders and waiters (R17)", {
    locks: (locks) => ({ ...through(locks), load: () => ({ held: 0, waiting: 0, oldestWaitMs: 0 }) }),
  }),

  inKubernetes("take the pod for the holder (K1)", { locks: sharing }),
  inKubernetes("release by name, regardless of the holder (K2, K3)", { client: overwriting("release") }),
  inKubernetes("overwrite any record (K10, K11)", { client: overwriting("take") }),
  inKubernetes("take a conflict for a loss (K10)", { client: losingByConflict }),
  inKubernetes("keep no order among processes (K16)", { client: rotatingTheLine }),
  inKubernetes("go by the time another machine wrote down (K4)", { client: expiringByRemoteClock }),
  inKubernetes("wait for a time in the future to pass (K4)", { client: respectingTheFuture }),
  inKubernetes("leave a lock without times alone (K5)", { client: respectingNothing }),
  inKubernetes("do not renew (K6)", {
    store: renewing(() => Promise.resolve({ kind: "unknown", cause: "not asked" })),
  }),
  inKubernetes("release with the caller's signal (K9)", { locks: releasingWithTheCaller }),
  inKubernetes("look before each write (K16)", { client: lookingFirst }),
  inRedis("grant to all callers when the backend is down (K17)", { locks: failingOpen }),
  inRedis("try for ever when the backend is down (K8)", { locks: tryingForEver }),
  inKubernetes("take a refusal for an outage", { locks: mistaking("forbidden", "unavailable") }),
  inKubernetes("take a collision for contention", { locks: mistaking("collision", "timeout") }),

  inRedis("take a grant for good however late it comes", { store: countingFromTheAnswer }),
  inRedis("turn a waiter away whose grant came late", { store: refusingLateGrants }),
  inRedis("look ten times a second how they stand (K16)", { link: lookingOften }),
  inRedis("leave an abandoned bid behind", {
    store: (store) => ({ ...delegate(store), withdraw() {} }),
  }),
  inRedis("leave a grant behind whose answer was lost", { link: withoutCancelling }),
  inRedis("ask again as another holder when a response was lost", { link: askingAsAnother }),
  inRedis("rely on pushes, and never poll", { link: neverLooking }),
  inRedis("give up waiting when the connection breaks", { locks: nervous }),
  inRedis("never connect again", { link: oneConnection }),
  inRedis("pass a lock on inside the process for ever", { store: granting((terms) => ({ ...terms, fences: 1_000 })) }),
  inRedis("give all of a cohort the same fence", { locks: leasing(oneFencePerTurn()) }),
  inRedis("send each renewal by itself", { link: oneByOne }),
  inRedis("do not report a failed renewal", { options: (options) => ({ ...options, events: {} }) }),
  inRedis("do not record the holder", { options: (options) => ({ ...options, who: "unknown" }) }),

  inMemory("are granted after a nap", { locks: napping }),
  inMemory("wait in tryAcquire", { locks: tryingPatiently }),
  inRedis("reject all waiters when one tryAcquire fails", { store: refusingAll }),
  inMemory("name every acquisition of a process alike", {
    locks: leasing(({ fence: _, ...lease }) => ({ holder: `pod of ${lease.key}` })),
  }),
  inRedis("renew beyond maxHoldMs", { locks: leasing(tireless) }),
  inMemory("do not mind how much time is asked for", {
    locks: leasing((lease) => ({ assertHeld: () => lease.assertHeld() })),
  }),
  inMemory("give nothing back by themselves", { locks: leasing(() => ({ [Symbol.asyncDispose]: async () => {} })) }),
  inMemory("give back nothing", { locks: leasing(stingy) }),
  inMemory("return another result for a repeated release", { locks: leasing(forgettingOutcome) }),
  inMemory("abort the signal of a lease that was given back", { locks: leasing(abortingOnRelease) }),
  inMemory("give the lock back before the work is done", { locks: running(hasty) }),
  inMemory("believe the work that it was in time", { locks: running(trusting) }),
  inMemory("keep the reason of an abort to themselves", { locks: mistaking("aborted", "aborted") }),
  inMemory("leave their listener on the caller's signal", { locks: leaking }),
  inMemory("take any number", { locks: asking(clamping) }),
  inMemory("do not close", { locks: (locks) => ({ ...through(locks), close: async () => {} }) }),
  inRedis("leave their waiters in line when they close", {
    locks: (locks) => ({ ...through(locks), close: async () => {} }),
  }),
  inRedis("close when the backend closes", { locks: closingWithTheBackend }),
];

type LocksSpoiler = NonNullable<Spoilt["locks"]>;
type StoreSpoiler = NonNullable<Spoilt["store"]>;

function through(locks: Locks): Locks {
  return {
    get guarantee() {
      return locks.guarantee;
    },
    tryAcquire: (key, options) => locks.tryAcquire(key, options),
    acquire: (key, options) => locks.acquire(key, options),
    run: (key, work, options) => locks.run(key, work, options),
    load: () => locks.load(),
    close: () => locks.close(),
  };
}

/** `locks`, with `acquire` made anew; `run` is built on it as it ought to be. */
function withAcquire(locks: Locks, acquire: Locks["acquire"]): Locks {
  return {
    ...through(locks),
    acquire,
    async run(key, work, options) {
      await using lease = await acquire(key, options);
      const result = await work(lease);
      lease.assertHeld();
      return result;
    },
  };
}

function asking(change: (options: AcquireOptions) => AcquireOptions): LocksSpoiler {
  return (locks) => ({
    ...through(locks),
    acquire: (key, options = {}) => locks.acquire(key, change(options)),
    run: (key, work, options = {}) => locks.run(key, work, change(options)),
  });
}

function running(run: (locks: Locks) => Locks["run"]): LocksSpoiler {
  return (locks) => ({ ...through(locks), run: run(locks) });
}

/** Leases that differ from real ones in what `change` returns. */
function leasing(change: (lease: Lease, process: VirtualProcess) => Partial<Lease>): LocksSpoiler {
  return (locks, process) => {
    const spoil = (lease: Lease) => viewOf(lease, change(lease, process));
    return {
      ...withAcquire(locks, async (key, options) => spoil(await locks.acquire(key, options))),
      async tryAcquire(key, options) {
        const lease = await locks.tryAcquire(key, options);
        return lease && spoil(lease);
      },
    };
  };
}

function viewOf(lease: Lease, changed: Partial<Lease>): Lease {
  const view: Lease = {
    key: lease.key,
    fence: lease.fence,
    holder: lease.holder,
    get signal() {
      return changed.signal ?? lease.signal;
    },
    remainingMs: () => lease.remainingMs(),
    assertHeld: (minMs) => lease.assertHeld(minMs),
    release: () => lease.release(),
    [Symbol.asyncDispose]: async () => void (await view.release()),
  };
  const { signal: _signal, ...rest } = changed;
  return Object.assign(view, rest);
}

function delegate(store: LockStore): LockStore {
  return {
    guarantee: store.guarantee,
    ask: (bid) => store.ask(bid),
    withdraw: (bid) => store.withdraw(bid),
    renew: (grant) => store.renew(grant),
    release: (grant) => store.release(grant),
    close: () => store.close(),
  };
}

function renewing(
  renew: (grant: Grant, real: () => Promise<RenewalResult>, clock: Clock) => Promise<RenewalResult>,
): StoreSpoiler {
  return (store, { options }) => ({
    ...delegate(store),
    renew: (grant) => renew(grant, () => store.renew(grant), options.clock),
  });
}

function granting(change: (terms: Terms, bid: Bid, process: VirtualProcess) => Terms): StoreSpoiler {
  return (store, process) => ({
    ...delegate(store),
    ask: (bid) => store.ask(bidWith(bid, { granted: (terms) => bid.granted(change(terms, bid, process)) })),
  });
}

function bidWith(bid: Bid, changed: Partial<Bid>): Bid {
  return {
    key: bid.key,
    holder: bid.holder,
    get ttlMs() {
      return bid.ttlMs;
    },
    wait: bid.wait,
    cohort: bid.cohort,
    get purpose() {
      return bid.purpose;
    },
    granted: (terms) => bid.granted(terms),
    queued: (behind) => bid.queued(behind),
    busy: (holder) => bid.busy(holder),
    failed: (error) => bid.failed(error),
    ...changed,
  };
}

function renewed({ bid }: Grant, clock: Clock): RenewalResult {
  return { kind: "ok", deadline: clock.now() + bid.ttlMs, periodMs: bid.ttlMs };
}

function polling(locks: Locks, { options: { clock, random, defaults } }: VirtualProcess): Locks {
  return withAcquire(locks, async (key, { waitMs = defaults?.waitMs ?? 0, signal, ...options } = {}) => {
    const until = clock.now() + waitMs;
    for (;;) {
      if (signal?.aborted) throw new CoordinationError("aborted", `${key}: aborted`, { cause: signal.reason });
      const lease = await locks.tryAcquire(key, options);
      if (lease) return lease;
      if (clock.now() >= until) throw new CoordinationError("timeout", `${key}: waited ${waitMs} ms`);
      await sleep(clock, 50 + 100 * random.fraction());
    }
  });
}

function neverAfterAnError() {
  return async (_grant: Grant, real: () => Promise<RenewalResult>): Promise<RenewalResult> => {
    const answer = await real();
    return answer.kind === "unknown" ? new Promise(() => {}) : answer;
  };
}

function pretending(kind: RenewalResult["kind"]) {
  return async (grant: Grant, real: () => Promise<RenewalResult>, clock: Clock): Promise<RenewalResult> => {
    const answer = await real();
    return answer.kind === kind ? renewed(grant, clock) : answer;
  };
}

async function doubting(_grant: Grant, real: () => Promise<RenewalResult>): Promise<RenewalResult> {
  const answer = await real();
  return answer.kind === "lost" ? { kind: "unknown", cause: "it cannot be" } : answer;
}

async function tooSoon(_grant: Grant, real: () => Promise<RenewalResult>): Promise<RenewalResult> {
  const answer = await real();
  return answer.kind === "ok" ? { ...answer, periodMs: answer.periodMs * 1.2 } : answer;
}

function countingFromTheAnswer(store: LockStore, process: VirtualProcess): LockStore {
  const { clock } = process.options;
  return granting((terms, { ttlMs }) => ({ ...terms, deadline: clock.now() + ttlMs }))(store, process);
}

function fencesFromOne(store: LockStore, process: VirtualProcess): LockStore {
  let last = 0n;
  return granting((terms) => ({ ...terms, fence: ++last, fences: 1 }))(store, process);
}

function refusingLateGrants(store: LockStore, { options: { clock } }: VirtualProcess): LockStore {
  return {
    ...delegate(store),
    ask(bid) {
      const late = () => bid.failed(new CoordinationError("unavailable", `${bid.key}: the answer came late`));
      const granted = (terms: Terms) => (terms.deadline > clock.now() ? bid.granted(terms) : late());
      store.ask(bidWith(bid, { granted }));
    },
  };
}

function refusingAll(store: LockStore): LockStore {
  let inVain = false;
  return {
    ...delegate(store),
    ask(bid) {
      if (bid.wait && inVain) {
        inVain = false;
        return bid.failed(new CoordinationError("unavailable", `${bid.key}: another caller was rejected before`));
      }
      const noting =
        <T>(resolve: (answer: T) => void) =>
        (answer: T) => {
          inVain = true;
          resolve(answer);
        };
      const answers = { busy: noting(bid.busy.bind(bid)), failed: noting(bid.failed.bind(bid)) };
      store.ask(bid.wait ? bid : bidWith(bid, answers));
    },
  };
}

function agreeable(lease: Lease): Partial<Lease> {
  return { release: () => lease.release().then(() => ({ released: true })) };
}

function patient(lease: Lease): Partial<Lease> {
  return {
    async release() {
      const outcome = await lease.release();
      return outcome.released || outcome.reason === "lost" ? outcome : new Promise(() => {});
    },
  };
}

function timerBound(lease: Lease): Partial<Lease> {
  return {
    assertHeld() {
      if (lease.signal.aborted) throw lease.signal.reason;
    },
  };
}

function oneFencePerTurn() {
  const fences = new Map<string, bigint>();
  return ({ holder, fence }: Lease): Partial<Lease> => {
    if (!fences.has(holder)) fences.set(holder, fence);
    return { fence: fences.get(holder) as bigint };
  };
}

function tireless(lease: Lease): Partial<Lease> {
  return { remainingMs: () => (lease.signal.aborted ? 0 : 5_999) };
}

function stingy(): Partial<Lease> {
  return { release: async () => ({ released: true }) };
}

function forgettingOutcome(lease: Lease): Partial<Lease> {
  let asked = false;
  return {
    async release() {
      if (asked) return { released: false, reason: "lost" };
      asked = true;
      return lease.release();
    },
  };
}

function abortingOnRelease(lease: Lease): Partial<Lease> {
  const controller = new AbortController();
  lease.signal.addEventListener("abort", () => controller.abort(lease.signal.reason));
  return {
    signal: controller.signal,
    release() {
      controller.abort();
      return lease.release();
    },
  };
}

function renaming(name: (key: Key) => string): LocksSpoiler {
  return (locks) => {
    const renamed = (key: Key) => name(key) as Key;
    return {
      ...withAcquire(locks, async (key, options) => viewOf(await locks.acquire(renamed(key), options), { key })),
      async tryAcquire(key, options) {
        const lease = await locks.tryAcquire(renamed(key), options);
        return lease && viewOf(lease, { key });
      },
    };
  };
}

function forgetful(locks: Locks): Locks["run"] {
  return async (key, work, options) => {
    const lease = await locks.acquire(key, options);
    const result = await work(lease);
    lease.assertHeld();
    await lease.release();
    return result;
  };
}

function hasty(locks: Locks): Locks["run"] {
  return async (key, work, options) => {
    const lease = await locks.acquire(key, options);
    await lease.release();
    return work(lease);
  };
}

function trusting(locks: Locks): Locks["run"] {
  return async (key, work, options) => {
    await using lease = await locks.acquire(key, options);
    return await work(lease);
  };
}

function lumping(options: VirtualProcess["options"]): VirtualProcess["options"] {
  const { events = {} } = options;
  return {
    ...options,
    events: { ...events, failed: (key, _reason, waitedMs) => events.failed?.(key, "timeout", waitedMs) },
  };
}

/** If this process has the lock, every caller gets it; the first to finish releases it for all. */
function sharing(locks: Locks): Locks {
  const held = new Map<Key, Lease>();
  const share = (key: Key) => {
    const lease = held.get(key);
    return lease && lease.remainingMs() > 0 ? lease : undefined;
  };
  return {
    ...withAcquire(locks, async (key, options) => {
      const lease = share(key) ?? (await locks.acquire(key, options));
      held.set(key, lease);
      return lease;
    }),
    tryAcquire: async (key, options) => share(key) ?? locks.tryAcquire(key, options),
  };
}

function releasingWithTheCaller(locks: Locks): Locks {
  return withAcquire(locks, async (key, options = {}) => {
    const lease = await locks.acquire(key, options);
    const release = async () => {
      options.signal?.throwIfAborted();
      return lease.release();
    };
    return viewOf(lease, { release });
  });
}

function failingOpen(locks: Locks): Locks {
  const open = (key: Key): Lease => ({
    key,
    fence: 0n,
    holder: "nobody",
    signal: new AbortController().signal,
    remainingMs: () => 1_000,
    assertHeld() {},
    release: async () => ({ released: true }),
    [Symbol.asyncDispose]: async () => {},
  });
  const unlessDown = (key: Key) => (error: unknown) => {
    if (isCoordinationError(error, "unavailable")) return open(key);
    throw error;
  };
  return {
    ...withAcquire(locks, (key, options) => locks.acquire(key, options).catch(unlessDown(key))),
    tryAcquire: (key, options) => locks.tryAcquire(key, options).catch(unlessDown(key)),
  };
}

function tryingForEver(locks: Locks, { options: { clock } }: VirtualProcess): Locks {
  return withAcquire(locks, async (key, options) => {
    for (;;) {
      try {
        return await locks.acquire(key, options);
      } catch (error) {
        if (!isCoordinationError(error, "unavailable")) throw error;
        await sleep(clock, 100);
      }
    }
  });
}

function mistaking(code: CoordinationErrorCode, other: CoordinationErrorCode): LocksSpoiler {
  return (locks) =>
    withAcquire(locks, (key, options) =>
      locks.acquire(key, options).catch((error) => {
        throw isCoordinationError(error, code) ? new CoordinationError(other, error.message) : error;
      }),
    );
}

function nervous(locks: Locks, { wire }: VirtualProcess): Locks {
  return withAcquire(locks, (key, options) => {
    const broken = new Promise<never>((_resolve, reject) => {
      wire.whenBroken(() => reject(new CoordinationError("unavailable", `${key}: the connection broke`)));
    });
    broken.catch(() => {});
    return Promise.race([locks.acquire(key, options), broken]);
  });
}

function napping(locks: Locks, { options: { clock } }: VirtualProcess): Locks {
  return withAcquire(locks, async (key, options) => {
    const lease = await locks.acquire(key, options);
    await sleep(clock, 2_000);
    return lease;
  });
}

function tryingPatiently(locks: Locks): Locks {
  const unlessTimeout = (error: unknown) => {
    if (isCoordinationError(error, "timeout")) return undefined;
    throw error;
  };
  return {
    ...through(locks),
    tryAcquire: (key, options) => locks.acquire(key, { ...options, waitMs: 10_000 }).catch(unlessTimeout),
  };
}

function leaking(locks: Locks): Locks {
  return withAcquire(locks, (key, options = {}) => {
    options.signal?.addEventListener("abort", () => {});
    return locks.acquire(key, options);
  });
}

function clamping({ ttlMs, waitMs, cohort, maxHoldMs, ...rest }: AcquireOptions): AcquireOptions {
  const sane = (value: number | undefined, low: number, high: number) =>
    value === undefined || Number.isNaN(value) ? undefined : Math.min(high, Math.max(low, value));
  const clamped = {
    ttlMs: sane(ttlMs, 500, 60_000),
    waitMs: sane(waitMs, 0, 3_600_000),
    cohort: cohort && Math.max(1, Math.round(cohort)),
    maxHoldMs: sane(maxHoldMs, 1, 3_600_000),
  };
  const given = Object.fromEntries(Object.entries(clamped).filter(([, value]) => value !== undefined));
  return { ...rest, ...given };
}

function closingWithTheBackend(locks: Locks): Locks {
  const leases = new Set<Lease>();
  return {
    ...withAcquire(locks, async (key, options) => {
      const lease = await locks.acquire(key, options);
      leases.add(lease);
      return lease;
    }),
    async close() {
      for (const lease of leases) {
        const outcome = await lease.release();
        if (!outcome.released && outcome.reason === "unknown") await new Promise(() => {});
      }
      await locks.close();
    },
  };
}

/** A link whose operations pass through `change`, which may answer them itself. */
function linkWith(link: LockLink, send: LockLink["send"]): LockLink {
  return {
    get isUp() {
      return link.isUp;
    },
    send,
    listen: (listener) => link.listen(listener),
    close: () => link.close(),
  };
}

function answers(each: readonly Reply[], serverMs = 0): Replies {
  return { serverMs, each };
}

function remaking(link: LockLink): LockLink {
  return linkWith(link, async (operations) => {
    const { serverMs, each } = await link.send(operations);
    const mended = await Promise.all(
      operations.map(async (operation, i) => {
        if (operation.mode !== "n" || each[i] !== "") return each[i] as Reply;
        await link.send([{ ...operation, mode: "t", number: 1 }]);
        return 1;
      }),
    );
    return answers(mended, serverMs);
  });
}

function releasingOnce(link: LockLink): LockLink {
  return linkWith(link, (operations) =>
    link.send(operations).catch((error) => {
      if (operations.every(({ mode }) => mode === "r")) return answers(operations.map(() => ""));
      throw error;
    }),
  );
}

function withoutCancelling(link: LockLink): LockLink {
  return linkWith(link, (operations) =>
    operations.every(({ mode }) => mode === "c")
      ? Promise.resolve(answers(operations.map(() => 1)))
      : link.send(operations),
  );
}

function askingAsAnother(link: LockLink): LockLink {
  let lost = 0;
  const disguised = (operation: LockOperation): LockOperation =>
    operation.mode === "s" && lost > 0 ? { ...operation, holder: `${operation.holder}-again` } : operation;
  return linkWith(link, (operations) =>
    link.send(operations.map(disguised)).catch((error) => {
      lost++;
      throw error;
    }),
  );
}

function neverLooking(link: LockLink): LockLink {
  return linkWith(link, (operations) =>
    operations.every(({ mode }) => mode === "s")
      ? Promise.resolve(answers(operations.map(() => [0, 60_000, "", 0])))
      : link.send(operations),
  );
}

function lookingOften(link: LockLink): LockLink {
  const impatient = (reply: Reply): Reply =>
    Array.isArray(reply) && reply[0] === 0 ? [0, 75, ...reply.slice(2)] : reply;
  return linkWith(link, async (operations) => {
    const { serverMs, each } = await link.send(operations);
    return answers(each.map(impatient), serverMs);
  });
}

function oneConnection(link: LockLink): LockLink {
  let broken = false;
  return {
    get isUp() {
      broken ||= !link.isUp;
      return !broken;
    },
    send: (operations) => (broken ? Promise.reject(new Error("not connected")) : link.send(operations)),
    listen: (listener) => link.listen(listener),
    close: () => link.close(),
  };
}

function oneByOne(link: LockLink): LockLink {
  return linkWith(link, async (operations) => {
    const replies = await Promise.all(operations.map((operation) => link.send([operation])));
    return answers(
      replies.flatMap(({ each }) => each),
      replies[0]?.serverMs,
    );
  });
}

function clientWith(client: KubeClient, changed: Partial<KubeClient>): KubeClient {
  return {
    get: (type, ref, call) => client.get(type, ref, call),
    list: (type, query, call) => client.list(type, query, call),
    create: (type, object, call) => client.create(type, object, call),
    update: (type, object, call) => client.update(type, object, call),
    patch: (type, ref, patch, call) => client.patch(type, ref, patch, call),
    delete: (type, ref, options, call) => client.delete(type, ref, options, call),
    evict: (pod, options, call) => client.evict(pod, options, call),
    watch: (type, query, call) => client.watch(type, query, call),
    serverNowMs: () => client.serverNowMs(),
    ...changed,
  };
}

type Update = KubeClient["update"];

/** The last write wins: a write of this kind that meets a newer version is sent again on top of it. */
function overwriting(kind: "take" | "release"): NonNullable<Spoilt["client"]> {
  return (client) => {
    const update: Update = async (type, object, call) => {
      const outcome = await client.update(type, object, call);
      const { spec } = object as KubeLease;
      const isRelease = spec?.leaseDurationSeconds === 1 || spec?.leaseDurationSeconds === 5;
      if (outcome.kind !== "conflict" || isRelease !== (kind === "release")) return outcome;
      const { namespace = "", name = "" } = object.metadata;
      const latest = await client.get(type, { namespace, name }, call);
      return latest
        ? client.update(type, { ...object, metadata: { ...object.metadata, ...versionOf(latest) } }, call)
        : outcome;
    };
    return clientWith(client, { update });
  };
}

function versionOf({ metadata }: KubeLease) {
  return { uid: metadata.uid as string, resourceVersion: metadata.resourceVersion as string };
}

/** Shows a lease as free when, by the time written in it, it has run out on this machine's clock. */
function expiringByRemoteClock(client: KubeClient, { options: { clock } }: VirtualProcess): KubeClient {
  function judged<T>(object: T): T {
    const lease = object as KubeLease;
    if (endOf(lease) >= clock.wallMs()) return object;
    return { ...object, spec: { ...lease.spec, holderIdentity: "" } };
  }
  return clientWith(client, {
    async get(type, ref, call) {
      const object = await client.get(type, ref, call);
      return object && judged(object);
    },
    async list(type, query, call) {
      const list = await client.list(type, query, call);
      return { ...list, items: list.items.map(judged) };
    },
    async *watch(type, query, call) {
      for await (const event of client.watch(type, query, call)) {
        yield event.type === "BOOKMARK" ? event : { ...event, object: judged(event.object) };
      }
    },
  });
}

/** Takes nothing over before the time written in it has passed on this machine's clock. */
function respectingTheFuture(client: KubeClient, { options: { clock } }: VirtualProcess): KubeClient {
  return guardingTakeover(client, (lease) => endOf(lease) > clock.wallMs());
}

function respectingNothing(client: KubeClient): KubeClient {
  return guardingTakeover(client, (lease) => lease.spec?.renewTime === undefined);
}

function guardingTakeover(client: KubeClient, guarded: (lease: KubeLease) => boolean): KubeClient {
  const update: Update = async (type, object, call) => {
    const { metadata, spec } = object as KubeLease;
    const { namespace = "", name = "" } = metadata;
    const stored = await client.get(leases, { namespace, name }, call);
    const holder = stored?.spec?.holderIdentity || undefined;
    const takesOver = holder && holder !== spec?.holderIdentity && spec?.leaseDurationSeconds === 6;
    if (takesOver && guarded(stored as KubeLease)) throw new KubeError("unavailable", "it is not time yet");
    return client.update(type, object, call);
  };
  return clientWith(client, { update });
}

/** After a conflict it is not looked who was faster. */
function losingByConflict(client: KubeClient): KubeClient {
  let lost = false;
  const update: Update = async (type, object, call) => {
    const outcome = await client.update(type, object, call);
    lost = outcome.kind === "conflict" && (object as KubeLease).spec?.leaseTransitions !== undefined;
    return outcome;
  };
  return clientWith(client, {
    update,
    async get(type, ref, call) {
      const object = await client.get(type, ref, call);
      const found = lost ? undefined : object;
      lost = false;
      return found;
    },
  });
}

/** Each write moves the last in line to the front. */
function rotatingTheLine(client: KubeClient): KubeClient {
  const waiters = "kubernaut.ai/waiters";
  const update: Update = (type, object, call) => {
    const annotations = object.metadata.annotations ?? {};
    const line = annotations[waiters]?.split(",") ?? [];
    const rotated = [...line.slice(-1), ...line.slice(0, -1)].join(",");
    const metadata = { ...object.metadata, annotations: { ...annotations, [waiters]: rotated } };
    return client.update(type, { ...object, metadata }, call);
  };
  return clientWith(client, { update });
}

/** When a lease runs out by its own account. */
function endOf({ spec }: KubeLease): number {
  return Date.parse(spec?.renewTime ?? "") + (spec?.leaseDurationSeconds ?? 30) * 1_000;
}

function withoutConfirmation(client: KubeClient): KubeClient {
  const update: Update = (type, object, call) => {
    const { spec } = object as KubeLease;
    if (spec?.leaseDurationSeconds !== 5) return client.update(type, object, call);
    return client.update(type, { ...object, spec: { ...spec, leaseDurationSeconds: 3_600 } }, call);
  };
  return clientWith(client, { update });
}

function lookingFirst(client: KubeClient): KubeClient {
  return clientWith(client, {
    async create(type, object, call) {
      const { namespace = "", name = "" } = object.metadata;
      await client.get(type, { namespace, name }, call);
      return client.create(type, object, call);
    },
  });
}
