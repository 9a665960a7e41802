import { beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../src/gateway/index.ts";
import { KubeError, type KubeObject } from "../../src/kube/index.ts";
import {
  fixedKinds,
  kindsWith,
  parseTarget,
  type RemediationRequest,
  remediationRequests,
  type Signal,
} from "../../src/resources/index.ts";
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

  it("is about no Node that is not there", async () => {
    const admission = await gateway.admit(read({ alertname: "HostOutOfMemory", job: "node", instance: "web-1:9100" }));

    expect(admission).toMatchObject({ kind: "ignored", because: expect.stringContaining("no Node has the name") });
    expect(await world.incidents()).toEqual([]);
  });

  it("is about the host that it names where the API server has no Nodes", async () => {
    const elsewhere = await (await GatewayWorld.open()).gateway();

    expect(await elsewhere.preview(read({ alertname: "X", job: "node", instance: "web-1:9100" }))).toMatchObject({
      subject: "node/web-1",
    });
  });

  it("is counted without asking the API server again", async () => {
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

  it("has to come again while the Nodes cannot be read", async () => {
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

  it("is answered with 200 and the reason, and recorded", async () => {
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

  it("does not spoil the others of its batch, nor make them slow", async () => {
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

  it("is not about an object whose kind is unknown here, but about its namespace", async () => {
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
  it("is answered with what to allow, rather than to come again for ever", async () => {
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

/** As a gateway of the first version opens incidents: they have no version of their identity. */
describe("an incident that was opened under another identity", () => {
  // The chart `prometheus` adds the node of the endpoint, which once was taken for the subject.
  const chart = {
    alertname: "HighErrorRate",
    job: "kubernetes-service-endpoints",
    namespace: "payment",
    service: "api",
  };
  const alert = { ...chart, node: "infra-1", instance: "10.244.3.7:8080" };
  let world: GatewayWorld;
  let former: RemediationRequest;

  beforeEach(async () => {
    world = await GatewayWorld.open();
    const gateway = await world.gateway();
    const signal = read(alert);
    await gateway.admit(asOfVersion("1", signal));
    former = await withIdentityVersion(null, world);
    expect(former.spec.targetResource).toEqual({ kind: "Node", name: "infra-1" });
    await gateway.stop();
  });

  it.each([
    ["counts in the status", false],
    ["keeps an occurrence log", true],
  ])("is counted on, and none is opened or closed, by a gateway that %s", async (_how, hasLog) => {
    const gateway = await world.gateway(hasLog ? { occurrenceLog: await world.occurrenceLog() } : {});

    const first = await gateway.admit(read(alert));
    const [second] = await gateway.admitAll([read(alert)]);
    await world.flush();

    const name = former.metadata.name;
    expect([first, second]).toMatchObject([
      { kind: "counted", incident: { metadata: { name } } },
      { kind: "counted", incident: { metadata: { name } } },
    ]);
    const { status, metadata } = await world.only();
    expect(metadata.uid).toBe(former.metadata.uid);
    expect(status).toMatchObject({ phase: "Pending", deduplication: { occurrenceCount: 3 } });
  });

  it("is ended by its alert, and shown by a dry run", async () => {
    const gateway = await world.gateway();

    expect(await gateway.preview(read(alert))).toMatchObject({ kind: "counted", incident: former.metadata.name });
    expect((await gateway.admit(read(alert, "resolved"))).kind).toBe("resolved");
    expect((await world.only()).status?.resolvedAt).toBeDefined();
  });

  it("is followed by one of the present identity when it is closed", async () => {
    const gateway = await world.gateway();
    await gateway.admit(read(alert));
    await world.close(former);
    await world.settle();

    const next = await gateway.admit(read(alert));
    const again = await gateway.admit(read(alert));

    expect([next.kind, again.kind]).toEqual(["created", "counted"]);
    const opened = (await world.incidents()).find(({ metadata }) => metadata.uid !== former.metadata.uid);
    expect(opened?.spec.targetResource).toEqual({ kind: "Service", name: "api", namespace: "payment" });
    expect(opened?.metadata.annotations).toMatchObject({ "kubernaut.ai/identity-version": "3" });
  });

  it("is followed by one of the present identity also if it is closed while a count is on its way", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog() });
    await gateway.admit(read(alert));
    await world.close(former);
    await world.flush();
    await world.flush();

    const all = await world.incidents();
    expect(all.map(({ spec }) => spec.targetResource.kind).sort()).toEqual(["Node", "Service"]);
  });

  it("remembers which of its series have ended", async () => {
    const gateway = await world.gateway();
    await gateway.admit(read(alert, "resolved"));
    await world.close(former);
    await world.settle();

    expect((await gateway.admit(read(alert))).kind).toBe("ignored");
    expect(await world.incidents()).toHaveLength(1);
  });

  it("is counted on by all that it was made of, until it is closed, and each has its own afterwards", async () => {
    const gateway = await world.gateway();
    const other = { ...alert, namespace: "batch", service: "worker" };

    expect((await gateway.admit(read(other))).kind).toBe("counted");
    await world.close(former);
    await world.settle();
    await gateway.admit(read(alert));
    await gateway.admit(read(other));

    expect(await world.incidents()).toHaveLength(3);
  });

  it("is counted on also by an alert that names no object any more, which then is ignored", async () => {
    const ruleless = { alertname: "HighErrorRate", node: "infra-1", job: "apiserver" };
    const gateway = await world.gateway();

    expect((await gateway.admit(read(ruleless))).kind).toBe("counted");
    await world.close(former);
    await world.settle();

    expect((await gateway.admit(read(ruleless))).kind).toBe("ignored");
    expect(await world.incidents()).toHaveLength(1);
  });
});

describe.each([
  ["its namespace", { job: "kube-state-metrics" }],
  ["a workload in it", { deployment: "api" }],
])("an incident that the second version opened for a sum in a monitoring namespace, about %s", (_what, more) => {
  const alert = { alertname: "KubeDeploymentReplicasMismatch", namespace: "monitoring", ...more };
  let world: GatewayWorld;
  let former: RemediationRequest;

  beforeEach(async () => {
    world = await GatewayWorld.open();
    const gateway = await world.gateway();
    await gateway.admit(asOfVersion("2", read(alert)));
    former = await withIdentityVersion("2", world);
    await gateway.stop();
  });

  it("is counted on, and none is opened or closed, though the alert names no object any more", async () => {
    const gateway = await world.gateway();

    expect((await gateway.admit(read(alert))).kind).toBe("counted");

    const { metadata, status } = await world.only();
    expect(metadata.uid).toBe(former.metadata.uid);
    expect(status).toMatchObject({ phase: "Pending", deduplication: { occurrenceCount: 2 } });
  });

  it("is ended by its alert, which is ignored once it is closed", async () => {
    const gateway = await world.gateway();

    expect((await gateway.admit(read(alert, "resolved"))).kind).toBe("resolved");
    await world.close(former);
    await world.settle();

    expect((await gateway.admit(read(alert))).kind).toBe("ignored");
    expect(await world.incidents()).toHaveLength(1);
  });

  it("takes no signal whose identity only the first version would have found here", async () => {
    await withIdentityVersion("3", world);
    const gateway = await world.gateway();

    expect((await gateway.admit(read(alert))).kind).toBe("ignored");
  });
});

/** The signal as a gateway of an earlier version reads it. */
function asOfVersion(version: string, { formerIdentities, distinctBy: _, noSubject: __, ...signal }: Signal): Signal {
  const former = formerIdentities?.find((one) => one.version === version);
  if (!former) throw new Error(`version ${version} found the same`);
  const { subject, distinctBy } = former;
  return { ...signal, subject, ...(distinctBy && { distinctBy }) };
}

/** The only incident, as a gateway of that version would have opened it. */
async function withIdentityVersion(version: string | null, world: GatewayWorld): Promise<RemediationRequest> {
  const { name = "" } = (await world.only()).metadata;
  const merge = { metadata: { annotations: { "kubernaut.ai/identity-version": version } } };
  await world.client.patch(remediationRequests, { namespace: settings.namespace, name }, { merge });
  return world.only();
}

describe("an incident whose identity is the same", () => {
  it("is counted on as before", async () => {
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
