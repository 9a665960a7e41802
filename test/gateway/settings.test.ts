import { createHmac } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { selfSigned } from "../../src/apiserver/index.ts";
import { openGateway, type RunningGateway } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { keyOf, kubernetesLocks } from "../../src/coordination/index.ts";
import { type KubeClient, kubeEvents, type ResourceType } from "../../src/kube/index.ts";
import { remediationRequests } from "../../src/resources/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { freePort } from "../services/free-port.ts";
import { GatewayWorld, signal } from "./gateway-world.ts";

const nodes: ResourceType = { apiVersion: "v1", kind: "Node", plural: "nodes", namespaced: false };
const configMaps: ResourceType = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const token = "a-token-of-sixteen";

describe("the setting", () => {
  let world: GatewayWorld;
  let directory: string;
  let running: RunningGateway | undefined;

  beforeEach(async () => {
    world = await GatewayWorld.open();
    directory = await mkdtemp(join(tmpdir(), "interlock-settings-"));
  });

  afterEach(async () => {
    await running?.close();
    running = undefined;
    await rm(directory, { recursive: true, force: true });
  });

  /** A gateway with these lines below `gateway:`. */
  async function open(
    lines: readonly string[],
    client: KubeClient = permittedClient(world.client, "gateway"),
    more: readonly string[] = [],
  ): Promise<RunningGateway> {
    const usual = ["listen: 127.0.0.1:0", "scope: all", `tokens: test ${token}`];
    const own = usual.filter((line) => !lines.some((other) => other.split(":")[0] === line.split(":")[0]));
    const below = [...own, ...lines].map((line) => `  ${line}`);
    const text = ["locks:", "  backend: kubernetes", "gateway:", ...below, ...more].join("\n");
    const loaded = loadConfig({ yaml: { path: "interlock.yaml", text }, env: {} });
    if (loaded.kind !== "loaded") throw new Error(loaded.problems.join("\n"));
    const { clock, ledger, log } = world;
    const metrics = promMetrics();
    running = await openGateway({
      loaded,
      client,
      ledger,
      directory,
      clock,
      random: systemRandom(),
      log,
      metrics,
    });
    return running;
  }

  async function post({ url }: RunningGateway, body: unknown, bearer = token): Promise<number> {
    const response = await fetch(`${url}/api/v1/signals`, {
      method: "POST",
      headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  }
  const disk = { name: "DiskFull", target: "node/worker-1" };

  async function postAlert({ url }: RunningGateway, labels: Record<string, string>) {
    const response = await fetch(`${url}/api/v1/signals/alertmanager?dryRun=true`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ version: "4", alerts: [{ status: "firing", labels }] }),
    });
    const { results } = (await response.json()) as { results: { status: string; subject?: string }[] };
    return results[0];
  }

  it("sources.alertmanager.provenance is a file with rows that come before the built-in ones", async () => {
    const path = join(directory, "provenance.yaml");
    const row = { name: "team", match: { exporter: "team" }, subject: ["app=StatefulSet"] };
    await writeFile(path, JSON.stringify({ provenance: [row] }));
    const labels = { alertname: "X", job: "team", namespace: "payment", pod: "x-0", app: "db" };

    const before = await postAlert(await open([]), labels);
    await running?.close();
    const after = await postAlert(
      await open([], undefined, ["sources:", "  alertmanager:", `    provenance: ${path}`]),
      labels,
    );

    expect([before?.subject, after?.subject]).toEqual(["payment/pod/x-0", "payment/statefulset/db"]);
  });

  const mapped = ["sources:", "  watchman:", "    map:", "      name: item.title", "      target: item.what"];

  it("sources.<name>.map makes a route for the payloads of that name", async () => {
    const { url } = await open([], undefined, mapped);

    const response = await fetch(`${url}/api/v1/signals/watchman?dryRun=true`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ title: "Slow", what: "node/worker-1" }),
    });

    expect(await response.json()).toMatchObject({
      results: [{ subject: "node/worker-1", spec: { signalSource: "watchman" } }],
    });
  });

  it("sources.<name>.map keeps the gateway from starting if an expression is wrong", async () => {
    const wrong = mapped.map((line) => line.replace("item.what", "event.what"));

    await expect(open([], undefined, wrong)).rejects.toThrow(
      /sources\.watchman\.map: target "event\.what": Unknown variable/,
    );
  });

  it.each(["secret", "secretFile"])(
    "sources.pagerduty.%s accepts webhooks that are signed with it",
    async (setting) => {
      const secret = "secret-of-the-subscription";
      const file = join(directory, "secrets");
      await writeFile(file, `older-secret\n${secret}\n`);
      const value = setting === "secret" ? secret : file;
      const { url } = await open([], undefined, ["sources:", "  pagerduty:", `    ${setting}: ${value}`]);
      const body = JSON.stringify({ event: { event_type: "pagey.ping" } });
      const post = async (by: string) => {
        const signature = `v1=${createHmac("sha256", by).update(body).digest("hex")}`;
        const headers = { "content-type": "application/json", "x-pagerduty-signature": signature };
        return (await fetch(`${url}/api/v1/signals/pagerduty`, { method: "POST", headers, body })).status;
      };

      expect([await post(secret), await post("another")]).toEqual([200, 401]);
    },
  );

  it("sources.alertmanager.provenance keeps the gateway from starting if its rows are wrong", async () => {
    const path = join(directory, "provenance.yaml");
    await writeFile(path, "provenance: [{ name: team }]");

    await expect(open([], undefined, ["sources:", "  alertmanager:", `    provenance: ${path}`])).rejects.toThrow(
      /provenance\.yaml:1: provenance\[0\]\.match/,
    );
  });

  it("rules.dir names rules that may give a target to an alert that names no object", async () => {
    const rule = "rules: [{ name: r, match: { signalName: SchedulerDown }, target: node/a, workflow: w }]";
    await writeFile(join(directory, "rules.yaml"), rule);
    const gateway = await open([], undefined, ["rules:", `  dir: ${directory}`]);

    expect(await postAlert(gateway, { alertname: "SchedulerDown" })).toMatchObject({
      status: "created",
      subject: "node/a",
    });
    expect(await postAlert(gateway, { alertname: "Watchdog" })).toMatchObject({ status: "ignored" });
  });

  it("rules.dir may contain invalid rules: signals are admitted", async () => {
    await writeFile(join(directory, "rules.yaml"), "rules: 5");
    const gateway = await open([], undefined, ["rules:", `  dir: ${directory}`]);

    expect(await post(gateway, disk)).toBe(201);
    expect(world.log.events.map(({ event }) => event)).toContain("rules not loaded");
  });

  it("listen is the address of the gateway", async () => {
    const port = await freePort();

    expect((await open([`listen: 127.0.0.1:${port}`])).url).toBe(`http://127.0.0.1:${port}`);
  });

  it("tokens lists the senders", async () => {
    const gateway = await open(["tokens: other another-token-of-16"]);

    expect(await post(gateway, disk)).toBe(401);
    expect(await post(gateway, disk, "another-token-of-16")).toBe(201);
  });

  it("tokenFile lists more senders", async () => {
    const file = join(directory, "tokens");
    await writeFile(file, "other another-token-of-16\n");
    const gateway = await open([`tokenFile: ${file}`]);

    expect(await post(gateway, disk, "another-token-of-16")).toBe(201);
    expect(gateway.tokenFile).toBe(file);
  });

  it("tlsCertFile and tlsKeyFile are used for TLS", async () => {
    const { certificate, key } = selfSigned(["127.0.0.1"], systemClock().wallMs(), systemRandom());
    const [certFile, keyFile] = [join(directory, "tls.crt"), join(directory, "tls.key")];
    await writeFile(certFile, certificate);
    await writeFile(keyFile, key);

    const gateway = await open([`tlsCertFile: ${certFile}`, `tlsKeyFile: ${keyFile}`]);

    expect(gateway.url).toMatch(/^https:/);
    expect(await statusOver(`${gateway.url}/healthz`, certificate)).toBe(200);
  });

  it("tlsCertFile must name a certificate: otherwise the gateway does not start, and the error names the file", async () => {
    const file = join(directory, "nothing-here");

    await expect(open([`tlsCertFile: ${file}`, `tlsKeyFile: ${file}`])).rejects.toThrow(
      `gateway.tlsCertFile ${file} and gateway.tlsKeyFile ${file}: ENOENT`,
    );
  });

  it("namespace is the namespace of incidents", async () => {
    const gateway = await open(["namespace: payment"], world.client);

    await post(gateway, disk);

    expect((await world.client.list(remediationRequests, { namespace: "payment" })).items).toHaveLength(1);
  });

  it("scope limits the objects for which incidents are opened", async () => {
    const gateway = await open(["scope: labels"]);

    expect(await post(gateway, disk)).toBe(200);
  });

  it("fingerprint lists the fields that two signals of one incident share", async () => {
    const gateway = await open(["fingerprint: target, labels.team"]);

    expect(await post(gateway, { ...disk, labels: { team: "a" } })).toBe(201);
    expect(await post(gateway, { ...disk, labels: { team: "b" } })).toBe(201);
    expect(await post(gateway, { name: "Another", target: "node/worker-1", labels: { team: "a" } })).toBe(202);
  });

  it("durability is the place where a count is stored first", async () => {
    const gateway = await open(["durability: status"]);

    await post(gateway, disk);

    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(1);
    expect(await readdir(directory)).not.toContain("occurrences");
  });

  it("flushInterval is the time after which counts are written to the status", async () => {
    const gateway = await open(["flushInterval: 300ms"]);
    await post(gateway, disk);

    await world.clock.advance(299);
    await world.settle();
    expect((await world.only()).status).toBeUndefined();
    await world.clock.advance(2);
    await world.settle();

    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(1);
  });

  it("lockWait is the maximum wait for another gateway that opens the incident", async () => {
    const { clock, client } = world;
    const { gateway } = await open(["lockWait: 50ms", "durability: status"]);
    const sample = await gateway.admit(signal());
    const fingerprint = "fingerprint" in sample ? sample.fingerprint : "";
    await world.close(await world.only());
    await world.settle();
    const place = { client, namespace: "kubernaut-system", prefix: "gw-lock-" };
    const others = kubernetesLocks({ ...place, clock, random: systemRandom(), who: "somebody" });
    await others.acquire(keyOf("incident", fingerprint));

    let admitted = "";
    const admission = gateway.admit(signal()).then(({ kind }) => {
      admitted = kind;
    });
    await world.clock.advance(49);
    await world.settle();
    expect(admitted).toBe("");
    for (let i = 0; i < 20; i++) await world.clock.advance(5);
    await world.settle();
    expect(admitted).toBe("created");
    await admission;
    await Promise.all([others.close(), world.clock.advance(10_000)]);
  });

  it("lookupTimeout is the timeout of reading the object of a signal", async () => {
    const get = ((type, ref, call) => {
      if (type.plural !== "pods") return world.client.get(type, ref, call);
      return new Promise((_, reject) => call?.signal?.addEventListener("abort", () => reject(new Error("aborted"))));
    }) as KubeClient["get"];
    const { gateway } = await open(["lookupTimeout: 40ms"], { ...world.client, get });

    const admission = gateway.admit(signal({ subject: { kind: "Pod", namespace: "payment", name: "a" } }));
    const refused = expect(admission).rejects.toMatchObject({ code: "unavailable" });
    await world.clock.advance(41);

    await refused;
  });

  it("maxBodyBytes is the maximum size of a request", async () => {
    const gateway = await open(["maxBodyBytes: 100"]);

    expect(await post(gateway, disk)).toBe(201);
    expect(await post(gateway, { ...disk, labels: { a: "x".repeat(100) } })).toBe(413);
  });

  it("maxSignalsPerRequest is the maximum number of signals in one request", async () => {
    const gateway = await open(["maxSignalsPerRequest: 2"]);

    expect(await post(gateway, [disk, disk])).toBeLessThan(300);
    expect(await post(gateway, [disk, disk, disk])).toBe(413);
  });

  it.each([
    ["maxOpenIncidentsPerSender", 429],
    ["maxOpenIncidents", 503],
  ])("%s is the maximum number of open incidents", async (setting, status) => {
    const gateway = await open([`${setting}: 1`]);

    expect(await post(gateway, disk)).toBe(201);
    expect(await post(gateway, { ...disk, target: "node/worker-2" })).toBe(status);
    expect(await post(gateway, disk)).toBe(202);
  });

  it.each([
    ["sources.kubernetes: outside a cluster Kubernetes is not watched unless it is set", [], []],
    [
      "sources.kubernetes: in a cluster nodes and Events are signals by default",
      ["objects:", "  server: in-cluster"],
      ["Evicted", "NodeDiskPressure"],
    ],
    [
      "sources.kubernetes: in a cluster that can be turned off",
      ["objects:", "  server: in-cluster", "sources:", "  kubernetes: false"],
      [],
    ],
    [
      "sources.kubernetes: with it, nodes and Events are signals",
      ["sources:", "  kubernetes: true"],
      ["Evicted", "NodeDiskPressure"],
    ],
    [
      "sources.eventReasons: other Events are not",
      ["sources:", "  kubernetes: true", "  eventReasons: BackOff"],
      ["NodeDiskPressure"],
    ],
  ])("%s", async (_what, more, expected) => {
    await open([], undefined, more);
    await world.clock.advance(100);
    const at = new Date(world.clock.wallMs() + 60_000).toISOString().replace(/\.\d+Z/, "Z");
    const conditions = [{ type: "DiskPressure", status: "True", lastTransitionTime: at }];
    await world.object(nodes, { metadata: { name: "worker-1" } });
    await world.client.patch(
      nodes,
      { name: "worker-1" },
      { merge: { status: { conditions } } },
      { subresource: "status" },
    );
    await evicted(at);
    await passTime(4_000);

    expect((await world.incidents()).map(({ spec }) => spec.signalName).sort()).toEqual(expected);
    await closeInTime();
  });

  it.each([
    ["1m", ["Evicted"]],
    ["5s", []],
  ])(
    "watermarks.overlap: after a restart, with %s, Events that show up late are signals: %j",
    async (overlap, expected) => {
      const more = ["sources:", "  kubernetes: true", "watermarks:", `  overlap: ${overlap}`];
      await open([], undefined, more);
      await passTime(120_000);
      await closeInTime();
      await evicted(new Date(world.clock.wallMs() - 30_000).toISOString().replace(/\.\d+Z/, "Z"));

      await open([], undefined, more);
      await passTime(20_000);

      expect((await world.incidents()).map(({ spec }) => spec.signalName)).toEqual(expected);
      await closeInTime();
    },
  );

  it.each(["interlock-watermarks", "batch"])(
    "watermarks.namespace: in %s, and no ConfigMap is written beside settings and rules",
    async (namespace) => {
      const more = ["sources:", "  kubernetes: true", "watermarks:", `  namespace: ${namespace}`];
      await open([], namespace === "batch" ? world.client : undefined, more);
      await passTime(10_000);

      const { items } = await world.client.list(configMaps);

      expect(items.length).toBeGreaterThan(0);
      expect([...new Set(items.map(({ metadata }) => metadata.namespace))]).toEqual([namespace]);
      await closeInTime();
    },
  );

  async function evicted(at: string): Promise<void> {
    await world.client.create(kubeEvents, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e", namespace: "payment" },
      involvedObject: { apiVersion: "v1", kind: "Pod", name: "api-1", namespace: "payment", uid: "u" },
      type: "Warning",
      reason: "Evicted",
      message: "the node was low on disk",
      source: { component: "kubelet" },
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    });
  }

  async function passTime(ms: number): Promise<void> {
    for (let i = 0; i < 40; i++) await world.clock.advance(ms / 40);
  }

  async function closeInTime(): Promise<void> {
    const closing = running?.close();
    await passTime(4_000);
    await closing;
    running = undefined;
  }

  it("signalsPerSecond is the maximum rate of one sender", async () => {
    const gateway = await open(["signalsPerSecond: 1"]);

    const statuses: number[] = [];
    for (let i = 0; i < 11; i++) statuses.push(await post(gateway, disk));

    expect(statuses.at(9)).toBe(202);
    expect(statuses.at(10)).toBe(429);
  });
});

describe("a gateway without any setting", () => {
  it("creates a token once, and rejects requests without it", async () => {
    const world = await GatewayWorld.open();
    const directory = await mkdtemp(join(tmpdir(), "interlock-settings-"));
    const loaded = loadConfig({ env: { GATEWAY_LISTEN: "127.0.0.1:0" } });
    if (loaded.kind !== "loaded") throw new Error("it has to load");
    const { clock, ledger, log, client } = world;
    const files: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      const metrics = promMetrics();
      const running = await openGateway({
        loaded,
        client,
        ledger,
        directory,
        clock,
        random: systemRandom(),
        log,
        metrics,
      });
      files.push(await readFile(running.tokenFile ?? "", "utf8"));
      expect((await fetch(`${running.url}/api/v1/signals`, { method: "POST" })).status).toBe(401);
      await running.close();
    }

    expect(files[0]).toMatch(/^local \S{32}$/m);
    expect(files[1]).toBe(files[0]);
    await rm(directory, { recursive: true, force: true });
  });
});

function statusOver(url: string, ca: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { ca, agent: false }, (response) => resolve(response.resume().statusCode)).on("error", reject);
  });
}
