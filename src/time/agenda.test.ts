import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../../test/doubles/manual-clock.ts";
import { Agenda, Appointment } from "./agenda.ts";

describe("an agenda", () => {
  it("keeps each appointment in its order, never early and less than a resolution late", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyChange(), { maxLength: 60 }), async (changes) => {
        const book = new Book();

        for (const change of changes) await book.make(change);

        await book.make({ do: "advance", ms: 1_000 });
        expect(book.agenda.size).toBe(0);
        expect(book.clock.pendingTimers).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it("needs one timer, however many appointments there are", () => {
    const { agenda, clock } = new Book();

    for (let i = 0; i < 1_000; i++) agenda.put(new Appointment({ due() {} }), clock.now() + 1_000 - i);

    expect(agenda.size).toBe(1_000);
    expect(clock.pendingTimers).toBe(1);
  });

  it("needs no timer once everything was taken off", () => {
    const { agenda, clock } = new Book();
    const appointments = [5, 50, 500].map((inMs) => put(agenda, clock.now() + inMs));

    for (const appointment of appointments) agenda.remove(appointment);

    expect(agenda.size).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it("does not mind that an appointment is taken off that is not on it", () => {
    const { agenda } = new Book();

    agenda.remove(new Appointment({ due() {} }));

    expect(agenda.size).toBe(0);
  });

  it("moves an appointment that already had a time", async () => {
    const { agenda, clock } = new Book();
    const woken: number[] = [];
    const appointment = put(agenda, clock.now() + 100, () => woken.push(clock.now()));

    agenda.put(appointment, clock.now() + 20);
    await clock.advance(200);

    expect(woken).toEqual([1_020]);
  });

  it("wakes overdue appointments at once", async () => {
    const { agenda, clock } = new Book();
    let woken = 0;
    put(agenda, clock.now() - 500, () => woken++);

    await clock.advance(0);

    expect(woken).toBe(1);
  });

  it("lets one that is woken put itself on again and take others off", async () => {
    const { agenda, clock } = new Book();
    const woken: string[] = [];
    const victim = put(agenda, clock.now() + 8, () => woken.push("victim"));
    const again = put(agenda, clock.now() + 4, () => {
      woken.push("again");
      agenda.remove(victim);
      if (woken.length < 3) agenda.put(again, clock.now() + 4);
    });

    await clock.advance(100);

    expect(woken).toEqual(["again", "again", "again"]);
    expect(clock.pendingTimers).toBe(0);
  });
});

const resolutionMs = 4;

type Change =
  | { readonly do: "put"; readonly who: number; readonly inMs: number }
  | { readonly do: "remove"; readonly who: number }
  | { readonly do: "advance"; readonly ms: number };

function anyChange(): fc.Arbitrary<Change> {
  const who = fc.nat({ max: 9 });
  return fc.oneof(
    fc.record({ do: fc.constant("put" as const), who, inMs: fc.integer({ min: -50, max: 500 }) }),
    fc.record({ do: fc.constant("remove" as const), who }),
    fc.record({ do: fc.constant("advance" as const), ms: fc.nat({ max: 100 }) }),
  );
}

/** An agenda beside a plain list of who is due when. */
class Book {
  readonly clock = new ManualClock();
  readonly agenda = new Agenda(this.clock, resolutionMs);
  readonly #expected = new Map<number, number>();
  readonly #woken: { readonly who: number; readonly at: number }[] = [];
  readonly #appointments = Array.from({ length: 10 }, (_, who) => {
    return new Appointment({ due: () => this.#woken.push({ who, at: this.clock.now() }) });
  });

  async make(change: Change): Promise<void> {
    switch (change.do) {
      case "put":
        this.agenda.put(this.#appointments[change.who] as Appointment, this.clock.now() + change.inMs);
        this.#expected.set(change.who, this.clock.now() + change.inMs);
        break;
      case "remove":
        this.agenda.remove(this.#appointments[change.who] as Appointment);
        this.#expected.delete(change.who);
        break;
      case "advance":
        await this.#advance(change.ms);
    }
    expect(this.agenda.size).toBe(this.#expected.size);
    expect(this.clock.pendingTimers).toBe(this.#expected.size > 0 ? 1 : 0);
  }

  async #advance(ms: number) {
    const from = this.clock.now();
    await this.clock.advance(ms);

    const slots: number[] = [];
    for (const { who, at } of this.#woken.splice(0)) {
      const dueAt = this.#expected.get(who) as number;
      this.#expected.delete(who);
      slots.push(Math.ceil(dueAt / resolutionMs));
      expect(at).toBeGreaterThanOrEqual(dueAt);
      expect(at).toBeLessThan(Math.max(from, dueAt) + resolutionMs);
    }
    expect(slots).toEqual([...slots].sort((a, b) => a - b));
    for (const dueAt of this.#expected.values()) expect(dueAt + resolutionMs).toBeGreaterThan(this.clock.now());
  }
}

function put(agenda: Agenda, dueAt: number, due: () => unknown = () => {}): Appointment {
  const appointment = new Appointment({ due: () => void due() });
  agenda.put(appointment, dueAt);
  return appointment;
}
