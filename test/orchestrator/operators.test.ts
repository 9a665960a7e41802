import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { resume } from "../../src/cli/index.ts";
import { automationPauses } from "../../src/resources/index.ts";
import { TestDesk } from "../doubles/test-desk.ts";
import { OrchestratorWorld } from "./orchestrator-world.ts";

let world: OrchestratorWorld;

beforeEach(async () => {
  world = await OrchestratorWorld.open();
});
afterEach(() => world.close());

describe("a pause", () => {
  it("is in the ledger with who began it and why, and with who ended it, whatever tool was used", async () => {
    await world.orchestrator();

    await world.pause("release", { reason: "release 4", requestedBy: "kim" });
    await resumeIt();

    expect(events()).toMatchObject([
      ["pause.started", { by: "kim", reason: "release 4", verified: false, pause: "kubernaut-system/release" }],
      ["pause.ended", { by: "kim (unverified)", reason: "release 4 is out", verified: false }],
    ]);
  });

  it("is recorded once, though several replicas and a later process see it", async () => {
    await world.orchestrator();
    await world.pause("release", { reason: "release 4", requestedBy: "kim" });
    const before = world.ledger.events().filter(({ type }) => type === "pause.started").length;

    await world.orchestrator();
    await world.passTime(60_000);

    expect(before).toBe(1);
    expect(world.ledger.events().filter(({ type }) => type === "pause.started")).toHaveLength(1);
  });

  it("that was begun and ended while no orchestrator ran is recorded by the next one", async () => {
    await world.pause("release", { reason: "release 4", requestedBy: "kim" });
    await resumeIt();

    await world.orchestrator();

    expect(events().map(([type]) => type)).toEqual(["pause.started", "pause.ended"]);
  });

  it("that is deleted while it lasts is recorded as ended, by an unknown user", async () => {
    await world.orchestrator();
    await world.pause("release", { reason: "release 4", requestedBy: "kim" });

    await world.client.delete(automationPauses, { namespace: "kubernaut-system", name: "release" });
    await world.passTime(1_000);

    expect(events().at(-1)).toMatchObject(["pause.ended", { by: "unknown", reason: "the pause was deleted" }]);
  });

  it("has a verified name where the only user who can write is the one that it names", async () => {
    await world.orchestrator({ onlyUser: "kim" });

    await world.pause("a", { reason: "release 4", requestedBy: "kim" });
    await world.pause("b", { reason: "release 4", requestedBy: "eve" });

    expect(events().map(([, facts]) => [facts["by"], facts["verified"]])).toEqual([
      ["kim", true],
      ["eve", false],
    ]);
  });
});

function events() {
  return world.ledger
    .events()
    .filter(({ type }) => type.startsWith("pause."))
    .map(({ type, facts }) => [type, facts] as const);
}

async function resumeIt(): Promise<void> {
  await resume.perform(["release", "--reason", "release 4 is out"], new TestDesk(world.client));
  await world.passTime(1_000);
}
