import { afterEach, describe, expect, it } from "vitest";
import { type KubeClient, KubeError } from "../../src/kube/index.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { settings } from "./gateway-world.ts";
import { type ServedGateway, type ServedOptions, servedGateway } from "./served-gateway.ts";

let gateway: ServedGateway;

afterEach(() => gateway.close());

describe("an alert about an object that the gateway may not read", () => {
  it("has a result with the reason and the fix, and the others of its batch are admitted", async () => {
    gateway = await servedGateway(without("horizontalpodautoscalers", { scope: "labels" }));
    await gateway.client.create(nodes, {
      metadata: { name: "worker-1", labels: { "kubernaut.ai/managed": "true" } },
    });

    const { status, body } = await gateway.post("/api/v1/signals/alertmanager", batch);

    expect(status).toBe(201);
    expect(body.results).toMatchObject([
      {
        status: "forbidden",
        message: expect.stringContaining("may not read payment/horizontalpodautoscaler/api"),
        fix:
          "kubectl create clusterrole interlock-gateway-horizontalpodautoscalers --verb=get " +
          "--resource=horizontalpodautoscalers.autoscaling && kubectl create clusterrolebinding " +
          "interlock-gateway-horizontalpodautoscalers --clusterrole=interlock-gateway-horizontalpodautoscalers " +
          "--serviceaccount=kubernaut-system:interlock-gateway",
      },
      { status: "created" },
    ]);
    expect(await gateway.incidents()).toHaveLength(1);
  });

  it("gets 200 if it is alone, and leaves a ledger row, a count and a warning", async () => {
    gateway = await servedGateway(without("horizontalpodautoscalers", { scope: "labels" }));

    const { status } = await gateway.post("/api/v1/signals/alertmanager", { ...batch, alerts: [autoscaler] });

    expect(status).toBe(200);
    expect(gateway.ledger.events().map(({ type }) => type)).toContain("signal.refused");
    expect(await gateway.metrics.text()).toContain(
      'gateway_signals_total{source="alertmanager",outcome="forbidden"} 1',
    );
    expect(gateway.log.events.map(({ event }) => event)).toContain("signal refused, object not readable");
  });

  it("has a result with the reason if it is about a Pod whose owner may not be read", async () => {
    gateway = await servedGateway(without("pods", { scope: "all" }));
    const alerts = [alert({ pod: "api-1", namespace: "payment" }), node];

    const { status, body } = await gateway.post("/api/v1/signals/alertmanager", { ...batch, alerts });

    expect(status).toBe(201);
    expect(body.results).toMatchObject([{ status: "forbidden" }, { status: "created" }]);
  });

  it("is reported by a dry run, which changes nothing", async () => {
    gateway = await servedGateway(without("horizontalpodautoscalers", { scope: "labels" }));

    const { status, body } = await gateway.post("/api/v1/signals/alertmanager?dryRun=true", batch);

    expect(status).toBe(200);
    expect(body.results[0]).toMatchObject({ status: "forbidden", fix: expect.stringContaining("--verb=get") });
    expect(await gateway.incidents()).toEqual([]);
  });

  it("does not occur with the shipped role for any kind that labels of stock alerts name", async () => {
    gateway = await servedGateway({
      settings: { ...settings, scope: "labels" },
      wrap: (client) => permittedClient(client, "gateway"),
    });
    const alerts = [
      ...["deployment", "statefulset", "daemonset", "cronjob", "job_name", "replicaset", "pod"],
      ...["horizontalpodautoscaler", "poddisruptionbudget", "persistentvolumeclaim", "persistentvolume", "node"],
    ].map((label) => alert({ [label]: "a", namespace: "payment" }));

    const { status, body } = await gateway.post("/api/v1/signals/alertmanager", { ...batch, alerts });

    expect(status).toBe(200);
    expect(body.results.map((result: { status: string }) => result.status)).toEqual(alerts.map(() => "refused"));
  });
});

const nodes = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false };
const autoscaler = alert({ horizontalpodautoscaler: "api", namespace: "payment" });
const node = alert({ node: "worker-1" });
const batch = { version: "4", status: "firing", alerts: [autoscaler, node] };

function alert(labels: Readonly<Record<string, string>>) {
  return { status: "firing", labels: { alertname: "Trouble", ...labels }, startsAt: "2026-11-15T06:00:00Z" };
}

/** As an API server answers that a role keeps from reading `plural`. */
function without(plural: string, { scope }: { readonly scope: "labels" | "all" }): ServedOptions {
  const wrap = (client: KubeClient): KubeClient => ({
    ...client,
    async get(type, ref, call) {
      if (type.plural !== plural) return await client.get(type, ref, call);
      const user = "system:serviceaccount:kubernaut-system:interlock-gateway";
      throw new KubeError("forbidden", `${plural} is forbidden: User "${user}" cannot get resource "${plural}"`);
    },
  });
  return { settings: { ...settings, scope }, wrap };
}
