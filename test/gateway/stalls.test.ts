import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../src/gateway/index.ts";
import { type KubeClient, KubeError, kubeEvents } from "../../src/kube/index.ts";
import { notificationRequests } from "../../src/resources/index.ts";
import { type PromMetrics, promMetrics } from "../../src/telemetry/index.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { GatewayWorld, signal } from "./gateway-world.ts";

let world: GatewayWorld;
let gateway: Gateway;
let metrics: PromMetrics;
let fault: { verb: "create" | "patch"; error: KubeError } | undefined;

beforeEach(async () => {
  world = await GatewayWorld.open();
  metrics = promMetrics();
  fault = undefined;
  const permitted = permittedClient(world.client, "gateway");
  const client: KubeClient = {
    ...permitted,
    async create(type, object, call) {
      if (type.kind === "RemediationRequest" && fault?.verb === "create") throw fault.error;
      return permitted.create(type, object, call);
    },
    async patch(type, ref, patch, call) {
      if (type.kind === "RemediationRequest" && fault?.verb === "patch") throw fault.error;
      return permitted.patch(type, ref, patch, call);
    },
  };
  gateway = await world.gateway({ client, metrics, occurrenceLog: await world.occurrenceLog() });
});

afterEach(async () => {
  fault = undefined;
  await gateway.stop();
});

describe("a gateway that cannot open incidents", () => {
  it("reports it in an Event, metrics, readiness and after 2 minutes a notice, until one was opened", async () => {
    fault = { verb: "create", error: new KubeError("unavailable", 'failed calling webhook "admission.example"') };
    for (let i = 0; i < 5; i++) {
      await expect(gateway.admit(signal())).rejects.toThrow();
      await world.clock.advance(30_000);
    }

    const { items: events } = await world.client.list(kubeEvents);
    expect(events.map(({ reason, message }) => [reason, message])).toEqual([
      ["Stalled", expect.stringContaining("admission.example")],
    ]);
    const { items: notices } = await world.client.list(notificationRequests);
    expect(notices.map(({ spec }) => spec.message)).toEqual([expect.stringContaining("admission.example")]);
    expect(gateway.problem).toContain("admission.example");
    expect(await metrics.text()).toContain('gateway_stalled_objects{reason="WebhookFailed"} 1');

    fault = undefined;
    expect((await gateway.admit(signal())).kind).toBe("created");
    expect(gateway.problem).toBeUndefined();
  });

  it("notifies again of an error that recurs after another one, although nothing succeeded in between", async () => {
    const forbidden = new KubeError("forbidden", "cannot create remediationrequests");
    const failFor2Minutes = async (source: string) => {
      fault = { verb: "create", error: forbidden };
      for (let i = 0; i < 5; i++) {
        await expect(gateway.admit(signal({ source }))).rejects.toThrow();
        await world.clock.advance(30_000);
      }
    };
    await failFor2Minutes("one");
    fault = { verb: "create", error: new KubeError("unavailable", "connection refused") };
    await expect(gateway.admit(signal({ source: "one" }))).rejects.toThrow();

    await failFor2Minutes("other");

    const { items: notices } = await world.client.list(notificationRequests);
    expect(notices.filter(({ spec }) => spec.message.includes("cannot create"))).toHaveLength(2);
  });
});

describe("a gateway that cannot write counts", () => {
  it("reports the incident, and still admits signals", async () => {
    await gateway.admit(signal());
    fault = { verb: "patch", error: new KubeError("forbidden", "cannot patch remediationrequests/status") };

    expect((await gateway.admit(signal())).kind).toBe("counted");
    await world.clock.advance(130_000);

    const { name } = (await world.only()).metadata;
    const { items: events } = await world.client.list(kubeEvents);
    expect(events.map(({ reason, involvedObject }) => [reason, involvedObject.name])).toEqual([["Stalled", name]]);
    expect(gateway.problem).toContain("cannot patch remediationrequests/status");
    expect(gateway.isReady).toBe(true);
  });
});
