import { beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../src/gateway/index.ts";
import { KubeError, type KubeObject } from "../../src/kube/index.ts";
import { fixedKinds, kindsWith, parseTarget, type Signal } from "../../src/resources/index.ts";
import { alertmanager } from "../../src/sources/index.ts";
import { deployments, GatewayWorld, namespaces, pods, settings } from "./gateway-world.ts";
import { servedGateway } from "./served-gateway.ts";

const exporterPod = { namespace: "monitoring", pod: "node-exporter-x8k2p" };
const exporter = { alertname: "NodeFilesystemAlmostOutOfSpace", job: "node-exporter", ...exporterPod };

describe("an alert of a node exporter", () => {
  let world: GatewayWorld;
  let gateway: Gateway;

  beforeEach(async () => {
    world = await GatewayWorld.open(["monitoring"]);
    await world.node("worker-1", { InternalIP: "10.0.0.5", Hostname: "worker-1.example.com" });
    await world.node("worker-2", { InternalIP: "10.0.0.6", Hostname: "worker-2.example.com" });
    await world.object(pods, {
      metadata: { name: exporterPod.pod, namespace: "monitoring" },
      spec: { nodeName: "worker-2" },
    } as KubeObject);
    gateway = await world.gateway();
  });

  it.each([
    ["by nodename", { nodename: "worker-1", instance: "10.9.9.9:9100" }, "node/worker-1"],
    ["by the host name that is its own", { instance: "worker-1:9100" }, "node/worker-1"],
    ["by the host name that is an address of it", { instance: "worker-1.example.com:9100" }, "node/worker-1"],
    ["by its address", { instance: "10.0.0.5:9100" }, "node/worker-1"],
    ["by the node of the exporter's Pod", { instance: "10.244.3.7:9100" }, "node/worker-2"],
    ["by the Pod when the instance is localhost", { instance: "localhost:9100" }, "node/worker-2"],
    ["by the Pod when the instance is a Service", { instance: "exporters.monitoring.svc:9100" }, "node/worker-2"],
  ])("finds its Node %s", async (_by, labels, expected) => {
    expect(await gateway.preview(read({ ...exporter, ...labels }))).toMatchObject({ subject: expected });
  });

  it("is about no Node if none matches", async () => {
    const admission = await gateway.admit(read({ alertname: "HostOutOfMemory", job: "node", instance: "web-1:9100" }));

    expect(admission).toMatchObject({ kind: "ignored", because: expect.stringContaining("no Node has the name") });
    expect(await world.incidents()).toEqual([]);
  });

  it("is about the host that it names if the API server has no Nodes", async () => {
    const elsewhere = await (await GatewayWorld.open()).gateway();

    expect(await elsewhere.preview(read({ alertname: "X", job: "node", instance: "web-1:9100" }))).toMatchObject({
      subject: "node/web-1",
    });
  });

  it("is counted without another request to the API server", async () => {
    const occurrenceLog = await world.occurrenceLog();
    let asked = 0;
    const client = {
      ...world.client,
      list: (async (...call: Parameters<typeof world.client.list>) => {
        if (call[0].kind === "Node") asked++;
        return world.client.list(...call);
      }) as typeof world.client.list,
    };
    const busy = await world.gateway({ client, occurrenceLog });
    const alert = read({ ...exporter, instance: "10.0.0.5:9100" });
    await busy.admit(alert);

    const [again] = await busy.admitAll([alert]);

    expect(again).toMatchObject({ kind: "counted" });
    expect(asked).toBe(1);
  });

  it("is rejected while the Nodes cannot be read", async () => {
    const client = {
      ...world.client,
      list: (async (...call: Parameters<typeof world.client.list>) => {
        if (call[0].kind === "Node") throw new KubeError("unavailable", "connection refused");
        return world.client.list(...call);
      }) as typeof world.client.list,
    };
    const broken = await world.gateway({ client });

    await expect(broken.admit(read({ ...exporter, instance: "10.0.0.5:9100" }))).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(await world.incidents()).toEqual([]);
  });
});

describe("an alert that names no object", () => {
  const targetDown = { alertname: "KubeSchedulerDown", job: "kube-scheduler" };

  it("gets 200 with the reason, and is recorded", async () => {
    const served = await servedGateway();
    try {
      const { status, body } = await served.post("/api/v1/signals/alertmanager", webhook(targetDown));

      expect(status).toBe(200);
      expect(body.results).toMatchObject([
        {
          status: "ignored",
          message: expect.stringContaining("it names no object to act on: no label names an object"),
        },
      ]);
      expect(served.ledger.events()).toMatchObject([
        { type: "signal.ignored", facts: { signal_name: "KubeSchedulerDown", because: expect.any(String) } },
      ]);
      expect(await served.incidents()).toEqual([]);
    } finally {
      await served.close();
    }
  });

  it("neither affects nor delays the others of its batch", async () => {
    const world = await GatewayWorld.open();
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog() });
    const disk = read({ alertname: "DiskFull", node: "worker-1" });
    await gateway.admit(disk);

    const admissions = await gateway.admitAll([read({ alertname: "Watchdog" }), disk]);

    expect(admissions.map(({ kind }) => kind)).toEqual(["ignored", "counted"]);
  });

  it("gets the target that a rule gives it", async () => {
    const world = await GatewayWorld.open();
    const ruleTarget = ({ name, labels }: Signal) => {
      const read = name === "KubeSchedulerDown" && parseTarget(`kube-system/deployment/${labels["job"]}`);
      return read && read.kind === "target" ? read.target : undefined;
    };
    const gateway = await world.gateway({ ruleTarget });

    expect((await gateway.admit(read(targetDown))).kind).toBe("created");
    expect((await gateway.admit(read(targetDown))).kind).toBe("counted");
    expect((await gateway.admit(read({ ...targetDown, alertname: "Watchdog" }))).kind).toBe("ignored");
    expect((await world.only()).spec.targetResource).toEqual({
      kind: "deployment",
      namespace: "kube-system",
      name: "kube-scheduler",
    });
  });

  it("is about the namespace of an object whose kind is unknown", async () => {
    const certificate = {
      ...{ alertname: "CertManagerCertificateExpiringSoon", job: "cert-manager", name: "tls", pod: "cert-manager-x" },
      ...{ namespace: "cert-manager", exported_namespace: "payment" },
    };
    const known = { kind: "Certificate", plural: "certificates", group: "cert-manager.io", namespaced: true };
    const world = await GatewayWorld.open();
    const without = await world.gateway();
    const withKind = await world.gateway({ kinds: fixedKinds(kindsWith([known])) });

    expect(await without.preview(read(certificate))).toMatchObject({ subject: "namespace/payment" });
    expect(await withKind.preview(read(certificate))).toMatchObject({
      subject: "payment/certificate.cert-manager.io/tls",
    });
  });
});

describe("alerts about a whole namespace", () => {
  it("are two incidents if they are of two jobs", async () => {
    const world = await GatewayWorld.open();
    const gateway = await world.gateway();
    const down = { alertname: "TargetDown", namespace: "payment" };

    const first = await gateway.admit(read({ ...down, job: "api" }));
    const second = await gateway.admit(read({ ...down, job: "worker" }));
    const again = await gateway.admit(read({ ...down, job: "api" }));

    expect([first.kind, second.kind, again.kind]).toEqual(["created", "created", "counted"]);
    expect(await world.incidents()).toHaveLength(2);
  });

  it("are two incidents if they are about two Services", async () => {
    const world = await GatewayWorld.open();
    const gateway = await world.gateway();

    for (const service of ["api", "worker"]) {
      await gateway.admit(read({ alertname: "TargetDown", namespace: "payment", job: "x", service }));
    }

    const targets = (await world.incidents()).map(({ spec }) => spec.targetResource.name);
    expect(targets.sort()).toEqual(["api", "worker"]);
  });
});

describe("an object that the gateway may not read", () => {
  it("gets a result with the missing permission, not a retry", async () => {
    const world = await GatewayWorld.open();
    await world.label(namespaces, "payment", { "kubernaut.ai/managed": "true" });
    world.cluster.forbid("get", "deployments.apps");
    world.cluster.forbid("get", "deployments");
    const gateway = await world.gateway({ settings: { ...settings, scope: "labels" } });

    const admission = await gateway.admit(read({ alertname: "X", namespace: "payment", deployment: "api" }));

    expect(admission).toMatchObject({
      kind: "forbidden",
      because: expect.stringContaining("the gateway may not read payment/deployment/api"),
      fix: expect.stringContaining("--verb=get --resource=deployments.apps"),
    });
  });
});

describe("an alert that repeats with another value of a label outside its identity", () => {
  it("is counted on the open incident", async () => {
    const world = await GatewayWorld.open();
    await world.object(deployments, { metadata: { name: "api", namespace: "payment" } });
    const gateway = await world.gateway();
    const labels = { alertname: "X", namespace: "payment", deployment: "api" };

    expect((await gateway.admit(read(labels))).kind).toBe("created");
    expect((await gateway.admit(read({ ...labels, job: "kube-state-metrics" }))).kind).toBe("counted");
  });
});

function read(labels: Record<string, string>, status = "firing"): Signal {
  const payload = alertmanager.read(webhook(labels, status), "2026-11-15T06:00:00.000Z");
  const [reading] = payload.kind === "signals" ? payload.readings : [];
  if (reading?.kind !== "signal") throw new Error(JSON.stringify(reading ?? payload));
  return reading.signal;
}

function webhook(labels: Record<string, string>, status = "firing") {
  const ended = status === "resolved" ? { endsAt: "2026-11-15T06:10:00Z" } : {};
  return { version: "4", alerts: [{ status, labels, annotations: {}, startsAt: "2026-11-15T06:00:00Z", ...ended }] };
}
