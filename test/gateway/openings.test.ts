import { beforeEach, describe, expect, it } from "vitest";
import { type Ledger, LedgerError, type LedgerEvent } from "../../src/ledger/index.ts";
import { GatewayWorld, resolved, signal } from "./gateway-world.ts";

describe("the opening of an incident is recorded", () => {
  let world: GatewayWorld;

  beforeEach(async () => {
    world = await GatewayWorld.open();
  });

  it("before its counts, by the gateway that opens it", async () => {
    const gateway = await world.gateway();

    const { incident } = (await gateway.admit(signal())) as { readonly incident: { metadata: { uid: string } } };

    const [opening, ...others] = world.ledger.events();
    expect(others.map(({ type }) => type)).toEqual(["signals.counted"]);
    expect(opening).toMatchObject({
      id: `${incident.metadata.uid}/incident.created`,
      type: "incident.created",
      facts: {
        signal_name: "DiskFull",
        signal_source: "alertmanager",
        severity: "critical",
        target_resource: "node/worker-1",
        subject: "node/worker-1",
        firing_at: "2026-11-15T06:00:00.000Z",
      },
    });
  });

  it.each([
    ["the signal is sent again", signal()],
    ["its end arrives", resolved()],
  ])("if the ledger rejected it first, as soon as %s", async (_when, next) => {
    let isRejecting = true;
    const gateway = await world.gateway({ ledger: rejectingWhile(() => isRejecting, world.ledger) });
    await expect(gateway.admit(signal())).rejects.toThrow("the ledger is full");
    const { metadata } = await world.only();
    isRejecting = false;

    await gateway.admit(next);

    await world.flush();
    expect(openings(world)).toEqual([`${metadata.uid}/incident.created`]);
  });

  it("with the first signal that another gateway counts, if the one that created the incident ended", async () => {
    const killed = await world.gateway({ ledger: neverAnswering });
    void killed.admit(signal());
    await world.settle();
    const { metadata } = await world.only();
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog() });

    expect((await gateway.admit(signal())).kind).toBe("counted");

    await world.flush();
    expect(openings(world)).toEqual([`${metadata.uid}/incident.created`]);
  });

  it("within a minute if no signal follows, and once", async () => {
    const killed = await world.gateway({ ledger: neverAnswering });
    void killed.admit(signal());
    await world.settle();
    const { metadata } = await world.only();
    const appended: string[] = [];
    await world.gateway({ ledger: { ...world.ledger, append: async ({ id }) => void appended.push(id) } });

    await world.clock.advance(60_000);
    await world.settle();
    const after = [...appended];
    await world.clock.advance(600_000);
    await world.settle();

    expect(after).toEqual([`${metadata.uid}/incident.created`]);
    expect(appended).toEqual(after);
  });
});

function openings(world: GatewayWorld): readonly string[] {
  return world.ledger.events().flatMap(({ id, type }: LedgerEvent) => (type === "incident.created" ? [id] : []));
}

/** The ledger of a process that ends before an answer arrives. */
const neverAnswering: Ledger = { append: () => new Promise(() => {}), close: async () => {} };

function rejectingWhile(isRejecting: () => boolean, ledger: Ledger): Ledger {
  return {
    async append(event) {
      if (isRejecting()) throw new LedgerError("full", "the ledger is full");
      await ledger.append(event);
    },
    close: () => ledger.close(),
  };
}
