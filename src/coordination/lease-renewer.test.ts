import { describe, expect, it } from "vitest";
import { ManualClock } from "../../test/doubles/manual-clock.ts";
import { Agenda, sleep } from "../time/index.ts";
import type { CoordinationError } from "./errors.ts";
import { confirmWithinMs, LeaseRenewer, type RenewalResult, validityFrom } from "./lease-renewer.ts";

describe("a held lease", () => {
  it("is renewed between a quarter and a third into its period", async () => {
    const hold = new Hold();

    await hold.advance(ttlMs);

    const [first = 0] = hold.renewals;
    expect(first).toBeGreaterThanOrEqual(ttlMs / 4);
    expect(first).toBeLessThanOrEqual(ttlMs / 3);
  });

  it("is renewed again and again, three or four times in a period", async () => {
    const hold = new Hold();

    await hold.advance(10 * ttlMs);

    expect(hold.renewals.length).toBeGreaterThanOrEqual(30);
    expect(hold.renewals.length).toBeLessThanOrEqual(40);
    expect(hold.reported).toEqual([]);
  });

  it("is renewed together with others: however many there are, at no more than twelve moments in a period", async () => {
    const clock = new ManualClock();
    const holds: Hold[] = [];
    for (let i = 0; i < 50; i++) {
      await clock.advance((ttlMs * ((i * 0.618) % 1)) / 25);
      holds.push(new Hold({ clock }));
    }
    const from = clock.now();

    await clock.advance(5 * ttlMs);

    const moments = holds.flatMap(({ renewals, begunAt }) => renewals.map((at) => begunAt + at));
    expect(new Set(moments.filter((at) => at > from)).size).toBeLessThanOrEqual(5 * 12);
  });

  it("is renewed soon when the store expects a confirmation", async () => {
    const hold = new Hold({ renewSoon: true });

    await hold.advance(confirmWithinMs + resolutionMs);

    expect(hold.renewals).toEqual([confirmWithinMs]);
  });

  it("is renewed sooner than that when little is left", async () => {
    const hold = new Hold({ renewSoon: true, promised: { deadline: 1_060, periodMs: 60 } });

    await hold.advance(confirmWithinMs);

    expect(hold.renewals[0]).toBeLessThanOrEqual(20 + resolutionMs);
  });

  it("sends one renewal at a time, even if the response takes long", async () => {
    const hold = new Hold({ answer: () => new Promise(() => {}) });

    await hold.advance(ttlMs);

    expect(hold.renewals).toHaveLength(1);
  });

  it("ends a little before its deadline without a response, and is free only at the deadline", async () => {
    const hold = new Hold({ answer: () => new Promise(() => {}) });

    await hold.advance(2 * ttlMs);

    const [ended, vacated] = hold.reported;
    expect(ended).toMatchObject({ what: "lost", code: "lost" });
    expect(ended?.at).toBeGreaterThanOrEqual(hold.deadline - ttlMs / 15);
    expect(ended?.at).toBeLessThan(hold.deadline - ttlMs / 20);
    expect(vacated).toMatchObject({ what: "free" });
    expect(vacated?.at).toBeGreaterThanOrEqual(hold.deadline);
    expect(hold.reported).toHaveLength(2);
  });

  it("is retried 50 to 200 ms after each unclear response until it ends", async () => {
    const hold = new Hold({ answer: async () => ({ kind: "unknown", cause: "no answer" }) });

    await hold.advance(2 * ttlMs);

    const pauses = hold.renewals.slice(1).map((at, i) => at - (hold.renewals[i] as number));
    expect(hold.renewals.length).toBeGreaterThan(10);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(50);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(200 + resolutionMs);
    expect(hold.failures).toBe(hold.renewals.length);
    expect(hold.reported.map(({ what }) => what)).toEqual(["lost", "free"]);
  });

  it("continues when a response arrives after unclear ones", async () => {
    let asked = 0;
    const hold = new Hold({ answer: async (hold) => (++asked % 3 ? { kind: "unknown", cause: "" } : hold.ok()) });

    await hold.advance(5 * ttlMs);

    expect(hold.reported).toEqual([]);
  });

  it("ends at once when it is lost, and names the new holder", async () => {
    const hold = new Hold({ answer: async () => ({ kind: "lost", holder: { who: "gateway/pod-7/1" } }) });

    await hold.advance(ttlMs / 2);

    expect(hold.reported).toMatchObject([
      { what: "lost", code: "lost", message: "taken over by gateway/pod-7/1" },
      { what: "free" },
    ]);
  });

  it("is never shortened by a response", async () => {
    const hold = new Hold({
      answer: async ({ renewals, begunAt }) =>
        renewals.length > 1
          ? new Promise(() => {})
          : { kind: "ok", deadline: begunAt + 0.9 * ttlMs, periodMs: ttlMs / 2 },
    });
    const promised = hold.renewer.deadline;

    await hold.advance(ttlMs / 2);

    expect(hold.renewals).toHaveLength(1);
    expect(hold.renewer.deadline).toBe(promised);
  });

  it("stays lost when a renewal succeeds after its end, and is free only at the new deadline", async () => {
    const answers: ((renewal: RenewalResult) => void)[] = [];
    const hold = new Hold({ answer: () => new Promise((resolve) => answers.push(resolve)) });
    await hold.advance(0.95 * ttlMs);

    answers[0]?.({ kind: "ok", deadline: hold.begunAt + 1.3 * ttlMs, periodMs: ttlMs });
    await hold.advance(0.3 * ttlMs);
    expect(hold.reported.map(({ what }) => what)).toEqual(["lost"]);
    await hold.advance(0.1 * ttlMs);

    expect(hold.reported.map(({ what }) => what)).toEqual(["lost", "free"]);
    expect(hold.renewer.holding).toBe(false);
  });

  it("is renewed no longer than it may be held", async () => {
    const hold = new Hold();

    hold.renewer.holdUntil(hold.begunAt + 2 * ttlMs);
    await hold.advance(5 * ttlMs);

    expect(hold.reported[0]?.at).toBeGreaterThanOrEqual(2 * ttlMs);
    expect(hold.reported[0]?.at).toBeLessThan(2 * ttlMs + resolutionMs);
    expect(Math.max(...hold.renewals)).toBeLessThan(2 * ttlMs);
    expect(hold.reported.map(({ what }) => what)).toEqual(["lost", "free"]);
  });

  it("ends by the clock before any timer has fired", () => {
    const hold = new Hold();

    hold.clock.jump(2 * ttlMs);
    hold.renewer.check();

    expect(hold.renewer.remainingMs()).toBeLessThan(0);
    expect(hold.reported[0]).toMatchObject({
      what: "lost",
      message: expect.stringContaining("event loop was blocked"),
    });
  });

  it("makes no calls after it was stopped, and leaves nothing on the agenda", async () => {
    const hold = new Hold();

    hold.renewer.stop();
    await hold.advance(5 * ttlMs);

    expect(hold.renewals).toEqual([]);
    expect(hold.reported).toEqual([]);
    expect(hold.agenda.size).toBe(0);
    expect(hold.clock.pendingTimers).toBe(0);
  });

  it("ignores a response that was pending when it was stopped", async () => {
    const lateMs = ttlMs / 2;
    const lost = { kind: "lost", holder: undefined } as const;
    const hold = new Hold({ answer: ({ clock }) => sleep(clock, lateMs).then(() => lost) });
    await hold.advance(ttlMs / 3);

    hold.renewer.stop();
    await hold.advance(ttlMs);

    expect(hold.renewals).toHaveLength(1);
    expect(hold.reported).toEqual([]);
  });

  it("needs no timer if the grant has no deadline", () => {
    const hold = new Hold({ promised: { deadline: Number.POSITIVE_INFINITY, periodMs: Number.POSITIVE_INFINITY } });

    expect(hold.renewer.remainingMs()).toBe(Number.POSITIVE_INFINITY);
    expect(hold.clock.pendingTimers).toBe(0);
  });
});

describe("a promise", () => {
  it("lasts for its period from the request on, minus clock drift and a margin", () => {
    expect(validityFrom(1_000, 10_000, 5)).toEqual({ deadline: 1_000 + 9_950 - 5, periodMs: 10_000 });
  });
});

const ttlMs = 12_000;
const resolutionMs = 4;

interface HoldOptions {
  readonly clock?: ManualClock;
  readonly promised?: { readonly deadline: number; readonly periodMs: number };
  readonly renewSoon?: boolean;
  readonly answer?: (hold: Hold) => Promise<RenewalResult>;
}

/** A lease renewer and its calls, in ms since it began. */
class Hold {
  readonly clock: ManualClock;
  readonly agenda: Agenda;
  readonly renewer: LeaseRenewer;
  readonly begunAt: number;
  readonly renewals: number[] = [];
  readonly reported: { what: string; at: number; code?: string; message?: string }[] = [];
  failures = 0;

  constructor({
    clock = new ManualClock(),
    promised,
    renewSoon = false,
    answer = async (hold) => hold.ok(),
  }: HoldOptions = {}) {
    this.clock = clock;
    this.begunAt = clock.now();
    this.agenda = new Agenda(clock, resolutionMs);
    const at = () => clock.now() - this.begunAt;
    const callbacks = {
      renew: () => {
        this.renewals.push(at());
        return answer(this);
      },
      onRenewalFailed: () => void this.failures++,
      onLost: ({ code, message }: CoordinationError) =>
        void this.reported.push({ what: "lost", at: at(), code, message }),
      onFree: () => void this.reported.push({ what: "free", at: at() }),
    };
    const random = { fraction: () => (this.failures * 0.618) % 1, id: () => "id" };
    this.renewer = new LeaseRenewer(promised ?? this.ok(), callbacks, { clock, random, agenda: this.agenda });
    this.renewer.start(renewSoon);
  }

  /** When the first promise ends. */
  get deadline(): number {
    return validityFrom(0, ttlMs, 5).deadline;
  }

  ok(): RenewalResult & { kind: "ok" } {
    return { kind: "ok", ...validityFrom(this.clock.now(), ttlMs, 5) };
  }

  advance(ms: number): Promise<void> {
    return this.clock.advance(ms);
  }
}
