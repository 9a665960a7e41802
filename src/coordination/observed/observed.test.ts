import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { recordingLogger } from "../../../test/doubles/recording-logger.ts";
import { type PromMetrics, pinoLogger, promMetrics } from "../../telemetry/index.ts";
import { systemRandom } from "../../time/index.ts";
import type { NewClaim } from "../claims/claims.ts";
import { once } from "../claims/once.ts";
import { CoordinationError, type CoordinationErrorCode } from "../errors.ts";
import { type Key, keyOf } from "../key.ts";
import type { LockStore, Terms } from "../locks/lock-store.ts";
import { locksOver } from "../locks/lock-table.ts";
import type { Lease, Locks, ReleaseOutcome } from "../locks/locks.ts";
import { memoryClaims } from "../memory/memory-claims.ts";
import { memoryLocks } from "../memory/memory-locks.ts";
import { memoryWatermarks } from "../memory/memory-watermarks.ts";
import { openWatermark, type WatermarkOptions } from "../watermarks/watermarks.ts";
import { observeClaims } from "./observe-claims.ts";
import { observeJanitor } from "./observe-janitor.ts";
import { observeLockLoad, observeLocks } from "./observe-locks.ts";
import { observeWatermarks } from "./observe-watermarks.ts";
import type { Observer } from "./observer.ts";

const key = keyOf("repo", "gitlab.example.com", 42);

describe("lock metrics", () => {
  it("count a free lock as an attempt, a success, and in the end a release", async () => {
    const { locks, clock, moved } = stage();

    const lease = await locks.acquire(key);
    await clock.advance(5_000);
    await lease.release();

    expect(await moved()).toEqual({
      gateway_lock_acquisition_attempts_total: 1,
      gateway_lock_acquisition_successes_total: 1,
      gateway_lock_acquisition_duration_seconds_count: 1,
      gateway_lock_hold_duration_seconds_sum: 5,
      gateway_lock_hold_duration_seconds_count: 1,
      'gateway_lock_releases_total{outcome="released"}': 1,
    });
  });

  it("count a caller that does not wait as contention, and nothing else", async () => {
    const { locks, moved } = stage();
    await locks.acquire(key);
    const before = await moved();

    await locks.tryAcquire(key);

    expect(since(before, await moved())).toEqual({
      gateway_lock_acquisition_attempts_total: 1,
      gateway_lock_contentions_total: 1,
      'gateway_lock_acquisition_failures_total{reason="contention"}': 1,
    });
  });

  it("count a wait without a grant as a timeout, and nothing else", async () => {
    const { locks, clock, moved } = stage();
    await locks.acquire(key);
    const before = await moved();

    const waiter = caught(locks.acquire(key, { waitMs: 50 }));
    await clock.advance(100);
    await waiter;

    expect(since(before, await moved())).toEqual({
      gateway_lock_acquisition_attempts_total: 1,
      gateway_lock_contentions_total: 1,
      'gateway_lock_acquisition_failures_total{reason="timeout"}': 1,
    });
  });

  it("count callers that stopped waiting or were stopped by the shutdown as aborted", async () => {
    const { locks, moved } = stage();
    await locks.acquire(key);
    const impatient = new AbortController();

    const waiters = [caught(locks.acquire(key, { signal: impatient.signal })), caught(locks.acquire(key))];
    impatient.abort();
    await locks.close();
    await Promise.all(waiters);
    await caught(locks.acquire(key));

    expect(failuresIn(await moved())).toEqual({ aborted: 3 });
  });

  it("count requests that the backend rejects as api_error", async () => {
    const forbidden = new CoordinationError("forbidden", "leases may not be created");
    const { locks, moved } = stage({ store: storeThat({ refuses: forbidden }) });

    await caught(locks.acquire(key));

    expect(failuresIn(await moved())).toEqual({ api_error: 1 });
  });

  it.each<["contention" | CoordinationErrorCode, string]>([
    ["contention", "contention"],
    ["timeout", "timeout"],
    ["lost", "lost"],
    ["aborted", "aborted"],
    ["closed", "aborted"],
    ["unavailable", "api_error"],
    ["forbidden", "api_error"],
    ["collision", "api_error"],
    ["full", "api_error"],
    ["mismatch", "api_error"],
  ])("name the failure %s by the reason %s", async (code, reason) => {
    const { events, moved } = stage();

    events.locks.failed?.(key, code, 3);

    expect(await moved()).toEqual({ [`gateway_lock_acquisition_failures_total{reason="${reason}"}`]: 1 });
  });

  it("measure a grant from its request on, with the 20 ms of the objective as a bound", async () => {
    const { locks, clock, series } = stage();
    const first = await locks.acquire(key);

    const second = locks.acquire(key);
    clock.jump(20);
    await first.release();
    await second;

    expect(await series("gateway_lock_acquisition_duration_seconds")).toMatchObject({
      'gateway_lock_acquisition_duration_seconds_bucket{le="0.0001"}': 1,
      'gateway_lock_acquisition_duration_seconds_bucket{le="0.01"}': 1,
      'gateway_lock_acquisition_duration_seconds_bucket{le="0.02"}': 2,
      gateway_lock_acquisition_duration_seconds_sum: 0.02,
    });
  });

  it("measure only locks that were granted", async () => {
    const { events, series } = stage();

    events.locks.failed?.(key, "timeout", 30_000);
    events.locks.failed?.(key, "contention", 0);
    events.locks.failed?.(key, "unavailable", 2_000);

    expect(await series("gateway_lock_acquisition_duration_seconds_")).toMatchObject({
      gateway_lock_acquisition_duration_seconds_count: 0,
    });
  });

  it("account for every attempt as a success or a failure once it is over", async () => {
    const { locks, clock, moved } = stage();

    const callers = Array.from({ length: 60 }, async (_, i) => {
      const some = keyOf("repo", i % 4);
      const lease = i % 3 ? await caught(locks.acquire(some, { waitMs: 5 * i })) : await locks.tryAcquire(some);
      await clock.advance(7);
      if (isLease(lease)) await lease.release();
    });
    await clock.advance(1_000);
    await Promise.all(callers);

    const counts = await moved();
    const { contention = 0, timeout = 0, ...others } = failuresIn(counts);
    const granted = 60 - contention - timeout;
    expect(others).toEqual({});
    expect(Math.min(contention, timeout, granted)).toBeGreaterThan(0);
    expect(counts).toMatchObject({
      gateway_lock_acquisition_attempts_total: 60,
      gateway_lock_acquisition_successes_total: granted,
      gateway_lock_acquisition_duration_seconds_count: granted,
      gateway_lock_hold_duration_seconds_count: granted,
      'gateway_lock_releases_total{outcome="released"}': granted,
    });
  });

  it("count a lease that ended early as lost", async () => {
    const { locks, clock, moved } = stage();

    await locks.acquire(key, { maxHoldMs: 1_000 });
    await clock.advance(2_000);

    expect(await moved()).toMatchObject({ gateway_locks_lost_total: 1 });
  });

  it.each(["lost", "unknown"] as const)(
    "distinguish a release that ended as %s from an ordinary one",
    async (reason) => {
      const { locks, moved } = stage({ store: storeThat({ releases: { released: false, reason } }) });

      const lease = await locks.acquire(key);
      await lease.release();
      await lease.release();

      expect(releasesIn(await moved())).toEqual({ [reason]: 1 });
    },
  );

  it("count every renewal without a response", async () => {
    const { locks, clock, moved } = stage({ store: storeThat({ renews: false }) });

    await locks.acquire(key);
    await clock.advance(30_000);

    const { gateway_lock_renewal_failures_total: failures, ...others } = await moved();
    expect(failures).toBeGreaterThan(10);
    expect(others).toMatchObject({ gateway_locks_lost_total: 1 });
  });

  it("show leases and waiters at the time of the scrape", async () => {
    const { locks, clock, series } = stage();
    const load = async () => ({ ...(await series("gateway_locks_")), ...(await series("gateway_lock_oldest")) });

    const first = await locks.acquire(key);
    const second = locks.acquire(key);
    clock.jump(3_000);
    const during = await load();
    await first.release();
    await (await second).release();

    expect(during).toMatchObject({
      gateway_locks_held: 1,
      gateway_locks_waiting: 1,
      gateway_lock_oldest_wait_seconds: 3,
    });
    expect(await load()).toMatchObject({
      gateway_locks_held: 0,
      gateway_locks_waiting: 0,
      gateway_lock_oldest_wait_seconds: 0,
    });
  });
});

describe("lock log events", () => {
  it("log an acquisition and a release at debug level", async () => {
    const { locks, clock, log } = stage();

    const { holder, fence, release } = bound(await locks.acquire(key));
    await clock.advance(250);
    await release();

    expect(log.events).toEqual([
      { level: "debug", event: "lock acquired", fields: { key, holder, fence, waitedMs: 0 } },
      { level: "debug", event: "lock released", fields: { key, holder, fence, outcome: "released", heldMs: 250 } },
    ]);
  });

  it("log an acquisition that took a second or more at info level", async () => {
    const { locks, clock, log } = stage();
    const first = await locks.acquire(key);

    const second = locks.acquire(key);
    clock.jump(1_000);
    await first.release();
    const { holder, fence } = await second;

    expect(log.events).toContainEqual({
      level: "info",
      event: "lock acquired",
      fields: { key, holder, fence, waitedMs: 1_000 },
    });
  });

  it("name the holder that a caller waits for", async () => {
    const { events, log } = stage();

    const holder = { id: "x.1", who: "agent/pod-1/17", sinceMs: 1_700_000_000_000, purpose: "push a branch" };
    events.locks.contended?.(key, holder);
    events.locks.contended?.(keyOf("repo", 43), undefined);

    expect(log.events).toMatchObject([
      {
        level: "info",
        event: "lock contended",
        fields: {
          key,
          holder: "x.1",
          who: "agent/pod-1/17",
          purpose: "push a branch",
          since: new Date(1_700_000_000_000),
          unreported: 0,
        },
      },
      { event: "lock contended", fields: { holder: undefined, since: undefined } },
    ]);
  });

  it("are limited to one line in 10 s per key, and the next line counts those left out", async () => {
    const { locks, clock, log } = stage();
    await locks.acquire(key);

    for (let i = 0; i < 1_000; i++) await locks.tryAcquire(key);
    clock.jump(10_000);
    await locks.tryAcquire(key);

    const lines = log.events.filter(({ event }) => event === "lock contended");
    expect(lines).toMatchObject([{ fields: { unreported: 0 } }, { fields: { unreported: 999 } }]);
  });

  it("are limited for many keys together", () => {
    const { events, log } = stage();

    for (let i = 0; i < 1_000; i++) events.locks.contended?.(keyOf("repo", i), undefined);

    expect(log.events).toHaveLength(100);
  });

  it("warn of a lease that was lost", async () => {
    const { locks, clock, log } = stage();

    const { holder, fence } = await locks.acquire(key, { maxHoldMs: 1_000 });
    await clock.advance(2_000);

    expect(log.events).toContainEqual({
      level: "warn",
      event: "lease lost",
      fields: { key, holder, fence, cause: expect.objectContaining({ code: "lost" }) },
    });
  });

  it("warn of failed renewals, but not of each one", async () => {
    const { locks, clock, log } = stage({ store: storeThat({ renews: false }) });

    const { holder, fence } = await locks.acquire(key);
    await clock.advance(30_000);

    const lines = log.events.filter(({ event }) => event === "lock renewal failed");
    expect(lines.length).toBeLessThanOrEqual(3);
    expect(lines[0]).toEqual({
      level: "warn",
      event: "lock renewal failed",
      fields: { key, holder, fence, cause: noAnswer, unreported: 0 },
    });
  });

  it.each(["lost", "unknown"] as const)("warn of a release that ended as %s", async (reason) => {
    const { locks, log } = stage({ store: storeThat({ releases: { released: false, reason } }) });

    const { holder, fence, release } = bound(await locks.acquire(key));
    await release();

    expect(log.events.at(-1)).toEqual({
      level: "warn",
      event: "lock released",
      fields: { key, holder, fence, outcome: reason, heldMs: 0 },
    });
  });

  it("leave a failed acquisition to the caller, which has the error", async () => {
    const { locks, log } = stage({ store: storeThat({ refuses: new CoordinationError("unavailable", "down") }) });

    await caught(locks.acquire(key));

    expect(log.events).toEqual([]);
  });
});

describe("claim metrics", () => {
  it("count every claim by its outcome", async () => {
    const { claims, moved } = stage();

    const claim = await newClaim(claims.claim(key, { effect: "idempotent" }));
    await claims.claim(key);
    await claim.complete();
    await claims.claim(key);
    await claims.claim(key);
    const other = await newClaim(claims.claim(keyOf("review", 2)));
    await other.fail({ permanent: "no such project" });
    await claims.claim(keyOf("review", 2));

    expect(await moved()).toEqual({
      'gateway_claims_total{outcome="new"}': 2,
      'gateway_claims_total{outcome="in_flight"}': 1,
      'gateway_claims_total{outcome="done"}': 2,
      'gateway_claims_total{outcome="failed"}': 1,
      'gateway_claim_work_total{effect="idempotent"}': 1,
      'gateway_claim_work_total{effect="unstated"}': 1,
      'gateway_claim_settlements_total{how="done",outcome="settled"}': 1,
      'gateway_claim_settlements_total{how="failed",outcome="settled"}': 1,
    });
  });

  it("count work that may happen twice", async () => {
    const { claims, moved } = stage();

    await once(claims, key, { effect: "at-least-once" }, async () => "sent");

    expect(await moved()).toMatchObject({ 'gateway_claim_work_total{effect="at_least_once"}': 1 });
  });

  it("count a completion that came after the claim was lost", async () => {
    const { claims, clock, moved, log } = stage();
    const claim = await newClaim(claims.claim(key, { leaseMs: 1_000, maxHoldMs: 1_000 }));
    const { holder, fence } = claim;

    await clock.advance(5_000);
    await claim.complete();

    expect(await moved()).toMatchObject({
      gateway_claims_lost_total: 1,
      gateway_claim_late_completes_total: 1,
      'gateway_claim_settlements_total{how="done",outcome="lost"}': 1,
    });
    expect(log.events.filter(({ level }) => level === "warn")).toEqual([
      { level: "warn", event: "claim lost", fields: { key, holder, fence, cause: expect.any(CoordinationError) } },
      { level: "warn", event: "claim completed late", fields: { key, holder, fence } },
    ]);
  });

  it("count requests that the store rejects by reason", async () => {
    const { claims, moved, log } = stage({ maxEntries: 1 });
    await claims.claim(key, { payloadHash: "a" });

    await caught(claims.claim(key, { payloadHash: "b" }));
    await caught(claims.claim(keyOf("review", 2)));
    await claims.close();
    await caught(claims.claim(key));

    expect(await moved()).toMatchObject({
      'gateway_claim_refusals_total{reason="mismatch"}': 1,
      'gateway_claim_refusals_total{reason="full"}': 1,
      'gateway_claim_refusals_total{reason="closed"}': 1,
    });
    expect(log.events).toContainEqual({
      level: "warn",
      event: "claim failed",
      fields: { key, reason: "mismatch", unreported: 0 },
    });
  });

  it("count every eviction, while the log adds them up over 10 s", async () => {
    const { claims, clock, moved, log } = stage({ maxEntries: 2 });
    const finish = async (i: number) => (await newClaim(claims.claim(keyOf("review", i)))).complete();

    for (let i = 0; i < 7; i++) await finish(i);
    await clock.advance(10_000);
    await finish(7);

    expect(await moved()).toMatchObject({ gateway_dedup_evictions_total: 6 });
    expect(log.events.filter(({ event }) => event === "claims evicted")).toEqual([
      { level: "warn", event: "claims evicted", fields: { count: 1, maxEntries: 2, ageMs: 0 } },
      { level: "warn", event: "claims evicted", fields: { count: 5, maxEntries: 2, ageMs: 10_000 } },
    ]);
  });

  it("count renewals without a response, and warn of them, but not of each one", async () => {
    const { claims, events, moved, log } = stage();
    const claim = await newClaim(claims.claim(key));
    const { holder, fence } = claim;

    for (let i = 0; i < 50; i++) events.claims.renewalFailed?.(claim, noAnswer);

    expect(await moved()).toMatchObject({ gateway_claim_renewal_failures_total: 50 });
    expect(log.events.filter(({ level }) => level === "warn")).toEqual([
      { level: "warn", event: "claim renewal failed", fields: { key, holder, fence, cause: noAnswer, unreported: 0 } },
    ]);
  });
});

describe("watermark metrics", () => {
  it("show the lag of the slowest stream", async () => {
    const { polling, series } = stage();
    await polling({ from: "now" });
    const behind = await polling({ from: 3_600_000 });

    const before = await series("gateway_watermark_lag");
    await behind.advance([item("1", 1_800, { finished: true }), item("2", 1_799)], serverDate);

    expect(before).toEqual({ gateway_watermark_lag_seconds: 3_600 });
    expect(await series("gateway_watermark_lag")).toEqual({ gateway_watermark_lag_seconds: 1_800 });
  });

  it("show a lag that grows while no process polls, and none for streams that others poll", async () => {
    const { polling, clock, series } = stage();
    const mark = await polling({ from: 60_000 });

    clock.jump(5_000);
    const later = await series("gateway_watermark_lag");
    mark[Symbol.dispose]();

    expect(later).toEqual({ gateway_watermark_lag_seconds: 65 });
    expect(await series("gateway_watermark_lag")).toEqual({ gateway_watermark_lag_seconds: 0 });
  });

  it("count writes, and nothing without a write", async () => {
    const { polling, moved, log } = stage();
    const mark = await polling({ from: 3_600_000 });

    await mark.advance([item("1", 100), item("2", 50)], serverDate);
    await mark.advance([item("1", 100, { finished: true }), item("2", 50)], serverDate);

    const { key, record } = mark;
    expect(await moved()).toEqual({ 'gateway_watermark_writes_total{outcome="written"}': 1 });
    expect(log.events).toEqual([
      {
        level: "info",
        event: "watermark held",
        fields: { key, cursor: { updatedAt: "2023-11-14T21:13:20.000Z" }, heldBy: "1", lagMs: 3_600_000 },
      },
      {
        level: "debug",
        event: "watermark advanced",
        fields: { key, cursor: record.cursor, heldBy: "2", lagMs: 100_000 },
      },
    ]);
  });

  it("count and warn when another process polls the stream now, and no longer show its lag", async () => {
    const { polling, moved, series, log } = stage();
    const stream = keyOf("issues", 7);
    const [old, young] = [await polling({ from: 60_000, fence: 1n, stream }), await polling({ fence: 2n, stream })];
    await young.advance([], new Date(serverDate.getTime() + 120_000));
    young[Symbol.dispose]();

    await old.advance([], new Date(serverDate.getTime() + 180_000));

    expect(await moved()).toEqual({
      'gateway_watermark_writes_total{outcome="written"}': 1,
      'gateway_watermark_writes_total{outcome="stale"}': 1,
    });
    expect(log.events.at(-1)).toEqual({
      level: "warn",
      event: "watermark stale",
      fields: { key: stream, fence: 2n },
    });
    expect(await series("gateway_watermark_lag")).toEqual({ gateway_watermark_lag_seconds: 0 });
  });

  it("count a store that does not respond as failed, and leave the error to the poller", async () => {
    const { polling, moved, log } = stage();
    const down = new CoordinationError("unavailable", "Redis does not answer");
    const mark = await polling({ from: 3_600_000, fails: down });

    const outcome = caught(mark.advance([], serverDate));

    expect(await outcome).toBe(down);
    expect(await moved()).toEqual({ 'gateway_watermark_writes_total{outcome="failed"}': 1 });
    expect(log.events).toEqual([]);
  });

  it("do not count a mistake of the caller", async () => {
    const { polling, moved } = stage();
    const mark = await polling({});

    const mistaken = mark.advance([{ ...item("1", 5), updatedAt: "yesterday" }, item("2", 4)], serverDate);

    await expect(mistaken).rejects.toThrow(TypeError);
    expect(await moved()).toEqual({});
  });
});

describe("all metrics", () => {
  it("contain no key, holder, purpose or result in any form", async () => {
    const { locks, claims, clock, metrics } = stage();
    const secretKey = keyOf("glpat-SECRETSECRET", "acme/rocket", "5f3a9c");

    await locks.acquire(secretKey, { purpose: "deploy-rocket", maxHoldMs: 1_000 });
    await locks.tryAcquire(secretKey);
    const waiter = caught(locks.acquire(secretKey, { waitMs: 10 }));
    await clock.advance(2_000);
    await waiter;
    const claim = await newClaim(claims.claim(secretKey, { payloadHash: "c0ffee" }));
    await claim.complete("result-of-rocket");
    await caught(claims.claim(secretKey, { payloadHash: "decade" }));

    const text = await metrics.text();
    for (const secret of [secretKey, "hunter2", "gitlab", "rocket", "5f3a9c", "c0ffee", "decade", claim.holder]) {
      expect(text).not.toContain(secret);
    }
  });

  it("have only labels with a closed list of values", async () => {
    const { metrics } = stage();

    const labels = new Set([...(await metrics.text()).matchAll(/[{,](\w+)=/g)].map(([, label]) => label));

    expect([...labels].sort()).toEqual(["effect", "how", "kind", "le", "outcome", "reason"]);
  });

  it("begin with the stage, so that several can share a process", async () => {
    const metrics = promMetrics();

    stage({ metrics, stage: "ro" });
    stage({ metrics, stage: "executor" });

    expect(new Set(namesIn(await metrics.text()).map(([name]) => name.split("_")[0]))).toEqual(
      new Set(["ro", "executor"]),
    );
    expect(() => stage({ metrics, stage: "ro" })).toThrow("declared twice");
  });

  it("are the ones in docs/observability.md", async () => {
    const { metrics } = stage();

    const page = await readFile(docsPage, "utf8");

    const documented = [...page.matchAll(/^\| `<stage>(_\w+)` \| (\w+) \|/gm)].map(([, name, type]) => [name, type]);
    const declared = namesIn(await metrics.text()).map(([name, type]) => [name.replace("gateway", ""), type]);
    expect(documented.sort()).toEqual(declared.sort());
  });
});

describe("log lines", () => {
  it("are the ones in docs/observability.md, at the same levels", async () => {
    const page = await readFile(docsPage, "utf8");
    const files = (await readdir(here)).filter((name) => name.startsWith("observe-"));
    const code = (await Promise.all(files.map((name) => readFile(new URL(name, here), "utf8")))).join("");

    const rows = [...page.matchAll(/^\| `([a-z_ ]+)` \| ((?:debug|info|warn)(?:, \w+)?) \|/gm)];
    const documented = rows.flatMap(([, event, levels = ""]) => levels.split(", ").map((level) => `${level} ${event}`));
    const written = [...code.matchAll(/log\.(\w+)\("([^"]+)"/g)].map(([, level, event]) => `${level} ${event}`);
    expect(documented.sort()).toEqual(written.sort());
  });

  it("are written whatever time a holder claims to hold since", () => {
    const lines: string[] = [];
    const clock = new ManualClock();
    const log = pinoLogger({
      level: "info",
      format: "json",
      clock,
      destination: { write: (line) => lines.push(line) },
    });
    const { contended } = observeLocks({ stage: "agent", metrics: promMetrics(), log, clock });

    contended?.(key, { id: "x", who: "y", sinceMs: Number.NaN, purpose: undefined });
    contended?.(keyOf("repo", 43), { id: "x", who: "y", sinceMs: 0, purpose: undefined });

    expect(lines.map((line) => JSON.parse(line).since)).toEqual([null, "1970-01-01T00:00:00.000Z"]);
  });
});

const here = new URL("./", import.meta.url);
const docsPage = new URL("../../../docs/observability.md", import.meta.url);
const noAnswer = new Error("no answer");
const serverDate = new Date("2023-11-14T22:13:20Z");

function item(id: string, secondsAgo: number, { finished = false } = {}) {
  return { id, updatedAt: new Date(serverDate.getTime() - 1_000 * secondsAgo).toISOString(), finished };
}

interface PollingOptions extends Partial<Pick<WatermarkOptions, "from" | "fence">> {
  readonly stream?: Key;
  readonly fails?: CoordinationError;
}

interface StageOptions extends Partial<Pick<Observer, "stage">> {
  readonly metrics?: PromMetrics;
  readonly store?: LockStore;
  readonly maxEntries?: number;
}

/** One process of a stage, observed. */
function stage({ stage = "gateway", metrics = promMetrics(), store, maxEntries = 100 }: StageOptions = {}) {
  const clock = new ManualClock();
  const log = recordingLogger();
  const observer = { stage, metrics, log, clock };
  const events = { locks: observeLocks(observer), claims: observeClaims(observer), janitor: observeJanitor(observer) };
  const lockOptions = { clock, random: systemRandom(), events: events.locks };
  const locks: Locks = store ? locksOver(store, lockOptions) : memoryLocks(lockOptions);
  observeLockLoad(locks, observer);
  const claims = memoryClaims({ clock, random: systemRandom(), events: events.claims, maxEntries });

  const watermarks = memoryWatermarks();
  const observe = observeWatermarks(observer);
  let streams = 0;
  async function polling({ from = "now", fence = 0n, stream = keyOf("issues", ++streams), fails }: PollingOptions) {
    const mark = await openWatermark(watermarks, stream, { from, fence, serverDate });
    if (!fails) return observe(mark, serverDate);
    return observe({ ...mark, advance: () => Promise.reject(fails) }, serverDate);
  }

  const series = (prefix: string) => seriesIn(metrics, (name) => name.startsWith(prefix));
  /** Counters that are not zero, and counts and sums of histograms. Gauges show the present only. */
  const moved = async () => {
    const gauge = /_locks_(held|waiting)$|_lock_oldest_wait_seconds$|_watermark_lag_seconds$/;
    const all = await seriesIn(metrics, (name) => !name.includes("_bucket") && !gauge.test(name));
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value > 0));
  };
  return { clock, log, metrics, events, locks, claims, polling, series, moved };
}

async function seriesIn(metrics: PromMetrics, wanted: (name: string) => boolean): Promise<Record<string, number>> {
  const lines = (await metrics.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const pairs = lines.map((line): [string, number] => {
    const end = line.lastIndexOf(" ");
    return [line.slice(0, end), Number(line.slice(end + 1))];
  });
  return Object.fromEntries(pairs.filter(([name]) => wanted(name)));
}

function namesIn(text: string): [name: string, type: string][] {
  return [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = "", type = ""]) => [name, type]);
}

function since(before: Record<string, number>, after: Record<string, number>): Record<string, number> {
  const risen = Object.entries(after).map(([name, value]): [string, number] => [name, value - (before[name] ?? 0)]);
  return Object.fromEntries(risen.filter(([, by]) => by !== 0));
}

const failuresIn = (counts: Record<string, number>) =>
  byLabel(counts, /^gateway_lock_acquisition_failures_total\{reason="(\w+)"\}$/);
const releasesIn = (counts: Record<string, number>) =>
  byLabel(counts, /^gateway_lock_releases_total\{outcome="(\w+)"\}$/);

function byLabel(counts: Record<string, number>, pattern: RegExp): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [name, value] of Object.entries(counts)) {
    const label = pattern.exec(name)?.[1];
    if (label) found[label] = value;
  }
  return found;
}

interface Behaviour {
  readonly refuses?: CoordinationError;
  readonly releases?: ReleaseOutcome;
  readonly renews?: boolean;
}

/** A backend that grants at once by default. */
function storeThat({ refuses, releases = { released: true }, renews = true }: Behaviour): LockStore {
  const periodMs = 15_000;
  let fence = 0n;
  const terms = (): Terms => ({ fence: ++fence, fences: 1, deadline: 1_000 + periodMs, periodMs });
  return {
    guarantee: "single",
    ask: (bid) => (refuses ? bid.failed(refuses) : bid.granted(terms())),
    withdraw() {},
    renew: async () => (renews ? { kind: "ok", ...terms() } : { kind: "unknown", cause: noAnswer }),
    release: async () => releases,
    close: async () => {},
  };
}

function bound(lease: Lease) {
  return { holder: lease.holder, fence: lease.fence, release: () => lease.release() };
}

async function newClaim(asked: Promise<{ readonly state: string }>): Promise<NewClaim> {
  const claim = await asked;
  expect(claim.state).toBe("new");
  return claim as NewClaim;
}

function isLease(value: unknown): value is Lease {
  return typeof value === "object" && value !== null && "fence" in value;
}

/** What `promise` resolves to, or the error it rejects with. */
function caught<T>(promise: Promise<T>): Promise<T | CoordinationError> {
  return promise.catch((error: CoordinationError) => error);
}
