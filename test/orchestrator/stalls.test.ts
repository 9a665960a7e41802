import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type KubeClient, KubeError, kubeEvents } from "../../src/kube/index.ts";
import { findStall } from "../../src/resources/index.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { minute, OrchestratorWorld } from "./orchestrator-world.ts";

describe("an incident whose execution cannot be created", () => {
  let world: OrchestratorWorld;
  let fault: KubeError | undefined;
  let name: string;

  beforeEach(async () => {
    world = await OrchestratorWorld.open();
    fault = new KubeError("forbidden", "workflowexecutions is forbidden: exceeded quota: small");
    const permitted = permittedClient(world.client, "orchestrator");
    const client: KubeClient = {
      ...permitted,
      async create(type, object, call) {
        if (type.kind === "WorkflowExecution" && fault) throw fault;
        return permitted.create(type, object, call);
      },
    };
    await world.orchestrator({ client });
    name = await world.incident("disk");
  });
  afterEach(() => world.close());

  it("has a condition, an Event and after 2 minutes a notice, and why explains it", async () => {
    await world.passTime(20_000);

    expect(findStall(await world.seen(name))).toMatchObject({ reason: "QuotaExceeded" });
    const { items: events } = await world.client.list(kubeEvents);
    expect(events.map(({ reason, involvedObject }) => [reason, involvedObject.name])).toEqual([["Stalled", name]]);
    const cli = new TestCli(world.client);
    await cli.run("why", name);
    expect(cli.read()).toMatch(/ stalled +QuotaExceeded since .*exceeded quota: small; next attempt at /);
    expect(await world.notices()).toEqual([]);

    await world.passTime(2 * minute);

    expect((await world.notices()).map(({ spec }) => spec.eventType)).toEqual(["WorkStalled"]);
  });

  it("continues, without that condition, when executions can be created", async () => {
    await world.passTime(20_000);
    fault = undefined;

    await world.passTime(minute);

    expect(await world.executions()).toHaveLength(1);
    expect(findStall(await world.seen(name))).toBeUndefined();
  });
});
