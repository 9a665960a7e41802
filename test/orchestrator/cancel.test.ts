import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cancelAnnotations, workflowExecutions } from "../../src/resources/index.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { OrchestratorWorld } from "./orchestrator-world.ts";

const request = cancelAnnotations({ by: "kim", reason: "wrong node", blocks: false });

let world: OrchestratorWorld;
let name: string;

beforeEach(async () => {
  world = await OrchestratorWorld.open();
  await world.executor();
  await world.orchestrator();
});
afterEach(() => world.close());

describe("an incident that an operator cancels", () => {
  it("stops its run, is closed as Cancelled, and is not run again", async () => {
    name = await world.incident("disk");
    await world.reportRun("Unknown");
    const cli = new TestCli(world.client);

    expect(await cli.run("cancel", name, "--reason", "wrong node")).toBe(0);
    await world.passTime(1_000);
    expect((await world.status(name)).phase).toBe("Executing");
    await world.reportRun("False");
    await world.passTime(10_000);

    const { phase, outcome, message } = await world.status(name);
    expect([phase, outcome]).toEqual(["Withdrawn", "Cancelled"]);
    expect(message).toMatch(/^Cancelled by kim.*: wrong node$/);
    expect(await world.executions()).toHaveLength(1);
    expect(await world.notices()).toEqual([]);
    expect(world.ledger.events().find(({ type }) => type === "incident.cancelled")?.facts).toMatchObject({
      by: expect.stringContaining("kim"),
      reason: "wrong node",
      verified: false,
    });
  });

  it("is closed at once while it waits, and its approval is withdrawn", async () => {
    await world.workflow({ workflowId: "reboot", approval: { required: true } });
    world.rules.set({
      name: "disk",
      match: { signalName: "/Disk.*/" },
      target: "node/{{ labels.node }}",
      workflow: "reboot",
    });
    name = await world.incident("disk");
    expect((await world.status(name)).phase).toBe("AwaitingApproval");

    await world.annotate(name, request);

    expect(await world.status(name)).toMatchObject({ phase: "Withdrawn", outcome: "Cancelled" });
    expect((await world.approvals()).map(({ status }) => status?.decision)).toEqual(["Expired"]);
    expect(await world.executions()).toEqual([]);
  });

  it("does not change if it is already closed", async () => {
    name = await world.incident("disk");
    await world.reportRun("True");
    await world.resolve(name);
    await world.passTime(1_000);
    const before = (await world.status(name)).outcome;
    const cli = new TestCli(world.client);

    expect(await cli.run("cancel", name, "--reason", "too late")).toBe(0);

    expect(cli.read()).toContain("is closed already");
    expect((await world.status(name)).outcome).toBe(before);
  });
});

describe("an incident whose execution an operator cancels", () => {
  it("is closed as Cancelled, with no new execution", async () => {
    name = await world.incident("disk");
    await world.reportRun("Unknown");
    const [execution] = await world.executions();
    const { name: executionName = "", namespace = "" } = execution?.metadata ?? {};

    await world.client.patch(
      workflowExecutions,
      { name: executionName, namespace },
      { merge: { metadata: { annotations: request } } },
    );
    await world.passTime(1_000);
    await world.reportRun("False");
    await world.passTime(10_000);

    expect(await world.status(name)).toMatchObject({ phase: "Withdrawn", outcome: "Cancelled" });
    expect(await world.executions()).toHaveLength(1);
    expect(await world.notices()).toEqual([]);
  });
});
