import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LedgerEvent } from "../../src/ledger/index.ts";
import { lastingPauses } from "../../src/policy/index.ts";
import { automationPauses, builtInKinds, remediationApprovalRequests } from "../../src/resources/index.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { OrchestratorWorld } from "./orchestrator-world.ts";

let world: OrchestratorWorld;

beforeEach(async () => {
  world = await OrchestratorWorld.open();
});
afterEach(() => world.close());

describe("a pause", () => {
  it("is recorded with the users who started and ended it and the reason, regardless of their tool", async () => {
    await world.orchestrator();

    await world.pause("release", { reason: "release 4", requestedBy: "kim" });
    await resumeIt();

    expect(events()).toMatchObject([
      ["pause.started", { by: "kim", reason: "release 4", verified: false, pause: "kubernaut-system/release" }],
      ["pause.ended", { by: "kim (unverified)", reason: "release 4 is out", verified: false }],
    ]);
  });

  it("is recorded once by several replicas and a later process", async () => {
    await world.orchestrator();
    await world.pause("release", { reason: "release 4", requestedBy: "kim" });
    const before = world.ledger.events().filter(({ type }) => type === "pause.started").length;

    await world.orchestrator();
    await world.passTime(60_000);

    expect(before).toBe(1);
    expect(world.ledger.events().filter(({ type }) => type === "pause.started")).toHaveLength(1);
  });

  it("that started and ended while no orchestrator ran is recorded by the next one", async () => {
    await world.pause("release", { reason: "release 4", requestedBy: "kim" });
    await resumeIt();

    await world.orchestrator();

    expect(events().map(([type]) => type)).toEqual(["pause.started", "pause.ended"]);
  });

  it("that is deleted while it is active is recorded as ended by an unknown user", async () => {
    await world.orchestrator();
    await world.pause("release", { reason: "release 4", requestedBy: "kim" });

    await world.client.delete(automationPauses, { namespace: "kubernaut-system", name: "release" });
    await world.passTime(1_000);

    expect(events().at(-1)).toMatchObject(["pause.ended", { by: "unknown", reason: "the pause was deleted" }]);
  });

  it("that is deleted while no orchestrator runs has no effect, and is recorded as ended by the next one", async () => {
    const first = await world.orchestrator();
    await world.pause("release", { reason: "release 4", requestedBy: "kim" });
    await first.stop({ deadlineMs: 0 });

    await world.client.delete(automationPauses, { namespace: "kubernaut-system", name: "release" });
    await world.passTime(1_000);
    const { items } = await world.client.list(automationPauses);
    expect(lastingPauses(items, world.client.serverNowMs(), builtInKinds)).toEqual([]);
    expect(events().map(([type]) => type)).toEqual(["pause.started"]);
    await world.orchestrator();

    expect(events().at(-1)).toMatchObject(["pause.ended", { by: "unknown", reason: "the pause was deleted" }]);
    expect((await world.client.list(automationPauses)).items).toEqual([]);
  });

  it("that was created and deleted while no orchestrator ran is recorded by the next one", async () => {
    const cli = new TestCli(world.client);
    await cli.run("pause", "all", "--reason", "release 4");
    const [name = ""] = /^pause-\w+/m.exec(cli.read()) ?? [];

    await world.client.delete(automationPauses, { namespace: "kubernaut-system", name });
    await world.orchestrator();

    expect(events()).toMatchObject([
      ["pause.started", { reason: "release 4" }],
      ["pause.ended", { by: "unknown", reason: "the pause was deleted" }],
    ]);
    expect((await world.client.list(automationPauses)).items).toEqual([]);
  });

  it("that an operator has ended is deleted at once", async () => {
    await world.orchestrator();
    await world.pause("release", { reason: "release 4", requestedBy: "kim" });
    await resumeIt();

    await world.client.delete(automationPauses, { namespace: "kubernaut-system", name: "release" });

    expect((await world.client.list(automationPauses)).items).toEqual([]);
    expect(events().map(([type]) => type)).toEqual(["pause.started", "pause.ended"]);
  });

  it("has a verified name if it names the only user who can write", async () => {
    await world.orchestrator({ onlyUser: "kim" });

    await world.pause("a", { reason: "release 4", requestedBy: "kim" });
    await world.pause("b", { reason: "release 4", requestedBy: "eve" });

    expect(events().map(([, facts]) => [facts["by"], facts["verified"]])).toEqual([
      ["kim", true],
      ["eve", false],
    ]);
  });
});

describe("the answer to an approval that `interlock run` requested", () => {
  it.each([
    ["Approved", "approve"],
    ["Rejected", "reject"],
  ] as const)(
    "is in the ledger as %s, with who gave it and why, though no execution uses it",
    async (decision, command) => {
      await world.orchestrator();
      await request("reboot-a");

      await answer(command, "reboot-a");

      expect(events("approval.")).toEqual([
        [
          "approval.answered",
          {
            target_resource: "node/worker-1",
            workflow_id: "reboot",
            approval: "reboot-a",
            decision,
            by: "kim (unverified)",
            reason: "looked at it",
            verified: false,
          },
        ],
      ]);
    },
  );

  it("is recorded once by several replicas and a later process", async () => {
    const appended: string[] = [];
    const append = world.ledger.append.bind(world.ledger);
    const ledger = Object.assign(Object.create(world.ledger), {
      append: (event: LedgerEvent) => {
        appended.push(event.id);
        return append(event);
      },
    });
    await world.orchestrator({ ledger });
    await request("reboot-a");
    await answer("approve", "reboot-a");
    expect(appended).toHaveLength(1);

    await world.orchestrator({ ledger });
    await world.passTime(60_000);

    expect(appended).toHaveLength(1);
    expect(events("approval.")).toHaveLength(1);
  });

  it("that was given while no orchestrator ran is recorded by the next one", async () => {
    await request("reboot-a");
    await answer("reject", "reboot-a");
    expect(events("approval.")).toEqual([]);

    await world.orchestrator();

    expect(events("approval.").map(([, { decision }]) => decision)).toEqual(["Rejected"]);
  });

  it("has a verified name if the API server compares names", async () => {
    await world.orchestrator({ answerersKnownSince: async () => ({ onlyUser: "kim (unverified)" }) });
    await request("reboot-a");

    await answer("approve", "reboot-a");

    expect(events("approval.")).toMatchObject([["approval.answered", { verified: true }]]);
  });
});

describe("an approval that `interlock run` requested and no user answers", () => {
  it("expires at its deadline, with a ledger event and one notice", async () => {
    await world.orchestrator();
    await request("reboot-a");
    await world.passTime(3_599_000);
    expect((await world.approvals()).map(({ status }) => status)).toEqual([undefined]);

    await world.passTime(2_000);

    expect(await world.approvals()).toMatchObject([{ status: { decision: "Expired" } }]);
    expect(events("approval.")).toMatchObject([["approval.answered", { approval: "reboot-a", decision: "Expired" }]]);
    const notices = (await world.notices()).map(({ spec }) => spec);
    expect(notices).toMatchObject([{ eventType: "ApprovalExpired", severity: "warning" }]);
    expect(notices[0]?.message).toMatch(/^reboot did not act on node\/worker-1: the request reboot-a was not approved/);
  });

  it("expires although its deadline passed while no orchestrator ran", async () => {
    await request("reboot-a");
    await world.passTime(3_700_000);

    await world.orchestrator();

    expect(await world.approvals()).toMatchObject([{ status: { decision: "Expired" } }]);
    expect(await world.notices()).toHaveLength(1);
  });
});

/** What `interlock run` creates for a workflow that requires an approval. */
async function request(name: string): Promise<void> {
  const { apiVersion, kind } = remediationApprovalRequests;
  await world.client.create(remediationApprovalRequests, {
    ...{ apiVersion, kind, metadata: { name, namespace: "kubernaut-system" } },
    spec: {
      targetResource: "node/worker-1",
      recommendedWorkflow: { workflowId: "reboot", version: "1" },
      whyApprovalRequired: "the workflow requires it",
      requiredBy: new Date(world.clock.wallMs() + 3_600_000).toISOString(),
    },
  });
  await world.settle();
}

async function answer(command: "approve" | "reject", name: string): Promise<void> {
  await new TestCli(world.client).run(command, name, "--reason", "looked at it");
  await world.passTime(1_000);
}

function events(prefix = "pause.") {
  return world.ledger
    .events()
    .filter(({ type }) => type.startsWith(prefix))
    .map(({ type, facts }) => [type, facts] as const);
}

async function resumeIt(): Promise<void> {
  await new TestCli(world.client).run("resume", "release", "--reason", "release 4 is out");
  await world.passTime(1_000);
}
