import { createHmac } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openSignalRoutes } from "../../src/app/signal-routes.ts";
import { loadConfig } from "../../src/config/index.ts";
import type { SignalRoute } from "../../src/gateway/index.ts";
import { LedgerError, type LedgerEvent, memoryLedger } from "../../src/ledger/index.ts";
import { parseTarget, type Signal } from "../../src/resources/index.ts";
import { settings } from "./gateway-world.ts";
import { type ServedGateway, servedGateway, token } from "./served-gateway.ts";

const examples = join(import.meta.dirname, "../../examples/senders");
const payload = (sender: string, status: "firing" | "resolved") =>
  JSON.parse(readFileSync(join(examples, sender, `${status}.json`), "utf8"));

const api = "payment/deployment/payment-api";
const apiReading = parseTarget(api);
const apiTarget = apiReading.kind === "target" ? apiReading.target : undefined;

/** Every sender of docs/senders.md: what its example payload becomes. */
const senders: Readonly<Record<string, Expected>> = {
  grafana: { name: "Replicas missing", severity: "critical", target: api },
  "alertmanager-groups": { name: "KubeDeploymentReplicasMismatch", severity: "warning", target: api },
  pagerduty: { name: "payment-api answers slowly", severity: "P1" },
  datadog: { name: "Replicas missing", severity: "P2", target: api },
  cloudevents: { name: "com.example.replicas-missing", severity: "critical", target: api },
  newrelic: { name: "Pods missing", severity: "critical", target: api },
  dynatrace: { name: "Pods not ready", severity: "availability", target: api },
  sentry: { name: "Too many errors", severity: "critical", target: api },
  opsgenie: { name: "Replicas missing", severity: "P2", target: api },
  zabbix: { name: "High CPU utilization", severity: "high", target: api },
  splunk: { name: "Payment errors", severity: "unknown", target: api },
  elastic: { name: "Replicas missing", severity: "high", target: api },
  cloudwatch: { name: "payment-api-cpu", severity: "critical", target: api },
  "azure-monitor": { name: "KubePodCrashLooping", severity: "sev2", target: api },
  "google-cloud": { name: "Container restarts", severity: "critical", target: "payment/pod/payment-api-6c9f-x2k4q" },
  "uptime-kuma": { name: "payment API", severity: "critical", target: api },
  checkmk: { name: "Filesystem /var", severity: "critical", target: "node/worker-1" },
};

interface Expected {
  readonly name: string;
  readonly severity: string;
  /** Absent: the sender names no object. */
  readonly target?: string;
}

describe("the payload of", () => {
  let served: ServedGateway;
  afterEach(() => served?.close());

  it("every example is tested, and documented in docs/senders.md", () => {
    const page = readFileSync(join(examples, "../../docs/senders.md"), "utf8");

    expect(readdirSync(examples).sort()).toEqual(Object.keys(senders).sort());
    expect(Object.keys(senders).filter((sender) => !page.includes(`examples/senders/${sender}`))).toEqual([]);
  });

  it.each(Object.entries(senders))("%s becomes the documented signal", async (sender, { name, severity, target }) => {
    const { reader } = routeOf(await routesFor(sender), sender);

    const [firing] = signalsIn(reader.read(payload(sender, "firing"), "2026-11-15T06:05:00.000Z"));

    const found = firing?.subject && [firing.subject.namespace, firing.subject.kind, firing.subject.name];
    expect({ name: firing?.name, severity: firing?.severity, status: firing?.status }).toEqual({
      name,
      severity,
      status: "firing",
    });
    expect(found?.filter(Boolean).join("/").toLowerCase()).toBe(target);
    expect(firing?.series).not.toBe("");
  });

  it.each(Object.keys(senders).filter((sender) => existsSync(join(examples, sender, "resolved.json"))))(
    "%s opens an incident and ends it",
    async (sender) => {
      served = await servedGateway({
        routes: await routesFor(sender),
        // PagerDuty names no object: a rule does.
        ruleTarget: () => apiTarget,
      });
      const { path } = routeOf(await routesFor(sender), sender);

      const opened = await served.post(path, payload(sender, "firing"));
      const again = await served.post(path, payload(sender, "firing"));
      const ended = await served.post(path, payload(sender, "resolved"));

      expect([opened.status, again.status, ended.status], JSON.stringify([opened.body, ended.body])).toEqual([
        201, 202, 202,
      ]);
      expect(ended.body.results).toMatchObject([{ status: "resolved" }]);
      const [incident, ...others] = await served.incidents();
      expect(others).toEqual([]);
      expect(incident?.status?.resolvedAt).toBeDefined();
      expect(incident?.spec.signalSource).toBe(sender);
    },
  );
});

describe("alert groups of Alertmanager's API v2", () => {
  let served: ServedGateway;
  afterEach(() => served.close());
  const path = "/api/v1/signals/alertmanager-groups";
  const [group] = payload("alertmanager-groups", "firing");
  const [alert] = group.alerts;
  const firing = { ...alert, endsAt: "9999-12-31T00:00:00Z" };

  it("are the same alerts as those of the webhook", async () => {
    served = await servedGateway();
    const { labels, fingerprint, startsAt } = alert;
    const webhook = { version: "4", alerts: [{ status: "firing", labels, fingerprint, startsAt }] };

    const first = await served.post("/api/v1/signals/alertmanager", webhook);
    const second = await served.post(path, [{ ...group, alerts: [firing] }]);
    const ended = await served.post(path, [
      { ...group, alerts: [{ ...alert, endsAt: "2026-01-01T00:00:00Z", startsAt: "2025-12-31T00:00:00Z" }] },
    ]);

    expect([first.status, second.status, ended.status]).toEqual([201, 202, 202]);
    expect(await served.incidents()).toHaveLength(1);
  });

  it("count an alert of two receivers once, and ignore silenced or inhibited alerts", async () => {
    served = await servedGateway();
    const suppressed = (by: object, fingerprint: string) => ({
      ...firing,
      fingerprint,
      status: { state: "suppressed", ...by },
    });

    const { status, body } = await served.post(path, [
      {
        ...group,
        alerts: [firing, suppressed({ silencedBy: ["s1"] }, "f2"), suppressed({ inhibitedBy: ["i1"] }, "f3")],
      },
      { ...group, receiver: { name: "other" }, alerts: [firing, 7] },
    ]);

    expect(status).toBe(201);
    expect(body.results).toMatchObject([
      { status: "created" },
      { status: "ignored", message: "Ignored: it is silenced in Alertmanager." },
      { status: "ignored", message: "Ignored: another alert inhibits it in Alertmanager." },
      { status: "ignored", message: "Ignored: the same alert is in another group of this request." },
      { status: "invalid", problems: ["[1].alerts[1] is not an object"] },
    ]);
  });

  it("are limited in number also inside groups", async () => {
    served = await servedGateway({ limits: { signalsPerRequest: 3 } });

    const { status } = await served.post(path, [{ alerts: [firing, firing] }, { alerts: [firing, firing] }]);

    expect(status).toBe(413);
  });
});

describe("a webhook of PagerDuty", () => {
  let served: ServedGateway;
  afterEach(() => served.close());
  const path = "/api/v1/signals/pagerduty";
  const secret = "the-secret-of-the-subscription";
  const body = JSON.stringify(payload("pagerduty", "firing"));
  const sign = (text: string, by = secret) => `v1=${createHmac("sha256", by).update(text).digest("hex")}`;

  const serve = async (secrets: readonly string[]) => {
    const routes = await openSignalRoutes({ sources: noSources }, async () => secrets);
    served = await servedGateway({ routes, ruleTarget: () => apiTarget });
  };
  const post = async (headers: Record<string, string>, text: string | undefined = body) => {
    const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: text };
    return (await fetch(`${served.url}${path}`, init)).status;
  };

  it("that is signed needs no token, and may send only signals of PagerDuty", async () => {
    await serve([secret]);

    expect(await post({ "x-pagerduty-signature": sign(body) })).toBe(201);
    expect((await served.incidents())[0]?.spec.signalSource).toBe("pagerduty");
  });

  it("may have several signatures while the secret is replaced", async () => {
    await serve(["an-older-secret", secret]);

    expect(await post({ "x-pagerduty-signature": `${sign(body, "an-even-older")},${sign(body)}` })).toBe(201);
  });

  it.each([
    ["is not signed", {}],
    ["is signed with another secret", { "x-pagerduty-signature": sign(body, "guess") }],
    ["has the signature of another body", { "x-pagerduty-signature": sign("{}") }],
    ["has an empty signature", { "x-pagerduty-signature": "" }],
    ["has a signature without version", { "x-pagerduty-signature": sign(body).slice(3) }],
    ["has a good token and a wrong signature", { authorization: `Bearer ${token}`, "x-pagerduty-signature": "v1=00" }],
    [
      "has a good signature and a wrong token",
      { authorization: "Bearer nobody-knows-this", "x-pagerduty-signature": sign(body) },
    ],
  ])("that %s gets 401, and its body is not parsed", async (_what, headers) => {
    await serve([secret]);

    expect(await post(headers)).toBe(401);
    expect(await served.incidents()).toEqual([]);
    expect(await served.metrics.text()).toMatch(/gateway_requests_turned_away_total\{reason="(no|unknown)-token"\} 1/);
  });

  it("without a body gets 401, although there is no body to check", async () => {
    await serve([secret]);

    const response = await fetch(`${served.url}${path}`, {
      method: "POST",
      headers: { "x-pagerduty-signature": sign("") },
    });

    expect(response.status).toBe(401);
  });

  it("that is signed gets 401 if no secret is configured", async () => {
    await serve([]);

    expect(await post({ "x-pagerduty-signature": sign(body) })).toBe(401);
    expect(await post({ authorization: `Bearer ${token}`, "x-pagerduty-signature": sign(body) })).toBe(201);
  });

  it("about anything but the begin or end of an incident is ignored", async () => {
    await serve([secret]);
    const ping = { event: { event_type: "pagey.ping", data: { type: "ping" } } };

    const { status, body: answer } = await served.post(path, ping);

    expect(status).toBe(200);
    expect(answer.results).toMatchObject([
      { status: "ignored", message: expect.stringContaining("selects only items") },
    ]);
  });
});

describe("a payload that is ignored", () => {
  let served: ServedGateway;
  afterEach(() => served.close());
  const ping = { event: { event_type: "pagey.ping" } };

  it("leaves one ledger row for all of its repeats", async () => {
    served = await servedGateway();

    for (let i = 0; i < 5; i++) await served.post("/api/v1/signals/pagerduty", ping);

    expect(served.ledger.events()).toMatchObject([
      { type: "signal.ignored", facts: { signal_source: "pagerduty", sender: "test", because: expect.any(String) } },
    ]);
  });

  it("must be sent again if the ledger could not store its row", async () => {
    const ledger = memoryLedger();
    let isBroken = true;
    const append = (event: LedgerEvent) =>
      isBroken ? Promise.reject(new LedgerError("failed", "the disk failed")) : ledger.append(event);
    served = await servedGateway({ ledger: { ...ledger, append } });

    const first = await served.post("/api/v1/signals/pagerduty", ping);
    isBroken = false;
    const second = await served.post("/api/v1/signals/pagerduty", ping);

    expect([first.status, second.status]).toEqual([503, 200]);
    expect(ledger.events()).toHaveLength(1);
  });

  it.each(["signal.refused", "signal.ignored"])(
    "as a signal (%s) leaves one ledger row for all of its repeats",
    async (type) => {
      served = await servedGateway({ settings: { ...settings, scope: "labels" } });
      const status = type === "signal.ignored" ? "resolved" : "firing";

      for (let i = 0; i < 5; i++)
        await served.post("/api/v1/signals", { name: "DiskFull", target: "node/worker-1", status });

      expect(served.ledger.events().map((event) => event.type)).toEqual([type]);
    },
  );
});

describe("a source with a mapping", () => {
  let served: ServedGateway;
  afterEach(() => served.close());
  const tokens = `test ${token}\nnr newrelic-token-1234 newrelic\nother generic-token-1234 generic`;
  const as = (bearer: string) => ({ headers: { authorization: `Bearer ${bearer}` } });
  const body = payload("newrelic", "firing");

  it("is selected at the generic route by a token for it alone", async () => {
    served = await servedGateway({ routes: await routesFor("newrelic"), tokens });

    const { status } = await served.post("/api/v1/signals", body, as("newrelic-token-1234"));

    expect(status).toBe(201);
    expect((await served.incidents())[0]?.spec.signalSource).toBe("newrelic");
  });

  it("accepts no signals of other tokens, and no plain signal may name it", async () => {
    served = await servedGateway({ routes: await routesFor("newrelic"), tokens });
    const forged = { name: "Pods missing", target: api, source: "newrelic", status: "resolved" };

    const other = await served.post("/api/v1/signals/newrelic", body, as("generic-token-1234"));
    const claimed = await served.post("/api/v1/signals", forged);

    expect([other.status, claimed.status]).toEqual([403, 403]);
  });

  it("has a result for each item that its mapping cannot read", async () => {
    served = await servedGateway({ routes: await routesFor("newrelic") });

    const { status, body: answer } = await served.post("/api/v1/signals/newrelic", [body, { state: "ACTIVATED" }, 7]);

    expect(status).toBe(201);
    expect(answer.results).toMatchObject([
      { status: "created" },
      {
        status: "invalid",
        problems: [
          expect.stringMatching(/^items\[1\]\.name: item\.alertConditionNames/),
          expect.anything(),
          expect.anything(),
          expect.anything(),
          expect.anything(),
        ],
      },
      { status: "invalid" },
    ]);
  });

  it("explains its mapping field by field in a dry run", async () => {
    served = await servedGateway({ routes: await routesFor("newrelic") });

    const { body: answer } = await served.post("/api/v1/signals/newrelic?dryRun=true", body);

    expect(answer.results[0].mapping).toEqual(
      expect.arrayContaining([
        { field: "when", from: 'item.state in ["ACTIVATED", "CLOSED", "RESOLVED"]', value: "true" },
        { field: "name", from: "item.alertConditionNames[0]", value: "Pods missing" },
        { field: "target", from: 'item.namespace + "/deployment/" + item.deployment', value: api },
        { field: "labels.policy", from: "item.alertPolicyNames[0]", value: "Kubernetes" },
      ]),
    );
    expect(await served.incidents()).toEqual([]);
  });
});

describe("CloudEvents", () => {
  let served: ServedGateway;
  afterEach(() => served.close());
  const event = payload("cloudevents", "firing");

  it.each([
    ["application/cloudevents+json", event, 201],
    ["application/cloudevents-batch+json; charset=utf-8", [event, { ...event, subject: "node/worker-1" }], 201],
    ["application/cloudevents+json", { ...event, specversion: "0.3" }, 422],
    ["application/json", { name: "binary mode has no attributes in its body" }, 422],
  ])("as %s get %o", async (type, body, status) => {
    served = await servedGateway();

    const answer = await served.post("/api/v1/signals/cloudevents", body, { headers: { "content-type": type } });

    expect(answer.status, answer.text).toBe(status);
  });
});

const noSources = loadedSources("");

function loadedSources(text: string) {
  const loaded = loadConfig({ yaml: { path: "interlock.yaml", text }, env: {} });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
  return loaded.config.sources;
}

/** The routes of a gateway whose settings are the sender's example. */
function routesFor(sender: string): Promise<readonly SignalRoute[]> {
  const file = join(examples, sender, "map.yaml");
  const sources = existsSync(file) ? loadedSources(readFileSync(file, "utf8")) : noSources;
  return openSignalRoutes({ sources }, async () => []);
}

function routeOf(routes: readonly SignalRoute[], sender: string): SignalRoute {
  const route = routes.find(({ path }) => path === `/api/v1/signals/${sender}`);
  if (!route) throw new Error(`${sender} has no route`);
  return route;
}

function signalsIn(reading: ReturnType<SignalRoute["reader"]["read"]>): readonly Signal[] {
  if (reading.kind === "problems") throw new Error(reading.problems.join("\n"));
  return reading.readings.map((one) => {
    if (one.kind !== "signal") throw new Error(JSON.stringify(one));
    return one.signal;
  });
}
