import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { largestEventBytes } from "./event-text.ts";
import type { Fact, Ledger, LedgerEvent } from "./ledger.ts";

export interface LedgerUnderTest {
  readonly ledger: Ledger;
  /** Every event once, as a reader finds them now. */
  events(): Promise<readonly LedgerEvent[]>;
  dispose(): Promise<void>;
}

/** What every ledger does. */
export function ledgerContract(name: string, open: () => Promise<LedgerUnderTest>): void {
  describe(`a ledger: ${name}`, () => {
    let tested: LedgerUnderTest;
    let ledger: Ledger;

    beforeEach(async () => {
      tested = await open();
      ledger = tested.ledger;
    });

    afterEach(async () => {
      await ledger.close();
      await tested.dispose();
    });

    it("has an event when append resolves", async () => {
      const original = event("a", {
        workflow_id: "restart",
        attempts: 3,
        dry: false,
        steps: ["one", { two: "ä€😀\n" }],
      });

      await ledger.append(original);

      expect(await tested.events()).toMatchObject([original]);
    });

    it("keeps the order of appended events", async () => {
      const ids = Array.from({ length: 100 }, (_, i) => `event-${i}`);

      await Promise.all(ids.map((id) => ledger.append(event(id))));

      expect((await tested.events()).map(({ id }) => id)).toEqual(ids);
    });

    it("returns an event that was appended twice once, as first appended", async () => {
      await ledger.append(event("a", { original: "first" }));
      await Promise.all([ledger.append(event("a", { original: "again" })), ledger.append(event("b"))]);

      expect(await tested.events()).toMatchObject([event("a", { original: "first" }), event("b")]);
    });

    it("keeps an event as it was when it was appended", async () => {
      const facts: Record<string, Fact> = { phase: "Running" };
      const appended = ledger.append(event("a", facts));
      facts["phase"] = "Failed";
      await appended;

      expect((await tested.events())[0]?.facts).toEqual({ phase: "Running" });
    });

    it("takes an event of the largest size, and none that is larger", async () => {
      const largest = event("a", { text: "" });
      const room = largestEventBytes - JSON.stringify(largest).length + 2;

      await ledger.append(event("a", { text: "x".repeat(room) }));
      await expect(ledger.append(event("b", { text: "x".repeat(room + 1) }))).rejects.toMatchObject({
        name: "LedgerError",
        code: "too-large",
      });

      expect((await tested.events()).map(({ id }) => id)).toEqual(["a"]);
    });

    it.each([
      ["a number that is none", event("a", { n: Number.NaN })],
      ["an infinite number", event("a", { n: [Number.POSITIVE_INFINITY] })],
      ["nothing", event("a", { deep: { n: undefined as unknown as Fact } })],
      ["null", event("a", { n: null as unknown as Fact })],
      ["no id", event("")],
      ["an unknown type", { ...event("a"), type: "execution.imagined" as "run.created" }],
      ["no time", { ...event("a"), at: "yesterday" }],
    ])("refuses an event with %s, and keeps nothing of it", async (_, wrong) => {
      await expect(ledger.append(wrong)).rejects.toThrow(TypeError);

      expect(await tested.events()).toEqual([]);
    });

    it("keeps events appended before it was closed, and none after", async () => {
      const before = ledger.append(event("a"));
      const closed = ledger.close();
      const after = ledger.append(event("b")).catch((error) => error);

      await Promise.all([before, closed, ledger.close()]);
      expect(await after).toMatchObject({ name: "LedgerError", code: "closed" });
      await expect(ledger.append(event("c"))).rejects.toMatchObject({ code: "closed" });

      expect((await tested.events()).map(({ id }) => id)).toEqual(["a"]);
    });
  });
}

function event(id: string, facts: LedgerEvent["facts"] = {}): LedgerEvent {
  return { id, type: "execution.started", at: "2026-11-15T10:00:00.000Z", facts };
}
