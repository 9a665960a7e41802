import { afterEach, describe, expect, it } from "vitest";
import { type Locks, memoryLocks } from "../../src/coordination/index.ts";
import { remediationRequests } from "../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { settings } from "./gateway-world.ts";
import { type ServedGateway, type ServedOptions, servedGateway, token } from "./served-gateway.ts";

const generic = "/api/v1/signals";
const webhook = "/api/v1/signals/alertmanager";
const nodes = (count: number, prefix = "n") =>
  Array.from({ length: count }, (_, i) => ({ name: "DiskFull", target: `node/${prefix}${i}` }));
const statuses = (body: { results: readonly { status: string }[] }) => body.results.map(({ status }) => status);

describe("limits of a gateway:", () => {
  let served: ServedGateway;
  const serve = async (limits: Partial<typeof settings>, options: ServedOptions = {}) => {
    served = await servedGateway({ ...options, settings: { ...settings, ...limits } });
    return served;
  };
  afterEach(() => served.close());

  it("open incidents of a sender are limited, with 429, Retry-After and a metric, and repeats still count", async () => {
    const { post, incidents, metrics } = await serve({ maxOpenIncidentsPerSender: 3 });

    const first = await post(generic, nodes(5));
    const again = await post(generic, nodes(3));

    expect(first.status).toBe(429);
    expect(Number(first.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(statuses(first.body).sort()).toEqual(["created", "created", "created", "limited", "limited"]);
    expect(await incidents()).toHaveLength(3);
    const known = new Set((await incidents()).map(({ spec }) => spec.targetResource.name));
    expect(statuses(again.body)).toEqual(nodes(3).map((_, i) => (known.has(`n${i}`) ? "counted" : "limited")));
    const text = await metrics.text();
    expect(text).toContain("gateway_open_incidents 3");
    expect(text).toMatch(/gateway_signals_total\{source="generic",outcome="limited"\} [2-9]/);
  });

  it("no lock is taken for signals of a sender at its limit, so that invented fingerprints leave no object", async () => {
    const locks = memoryLocks({ clock: systemClock(), random: systemRandom(), who: "test" });
    const taken: string[] = [];
    const recording: Locks = {
      ...locks,
      acquire: (key, options) => {
        taken.push(String(key));
        return locks.acquire(key, options);
      },
    };
    const { post } = await serve({ maxOpenIncidentsPerSender: 1 }, { locks: recording });
    await post(generic, nodes(1));
    expect(taken).toHaveLength(1);

    const refused = await post(generic, nodes(20, "invented"));

    expect(refused.status).toBe(429);
    expect(taken).toHaveLength(1);
  });

  it("Alertmanager, which does not retry after 429, gets 503 at its limit", async () => {
    const { post } = await serve({ maxOpenIncidentsPerSender: 1 });
    const alerts = ["a", "b"].map((node) => ({ status: "firing", labels: { alertname: "DiskFull", node } }));

    const { status, headers } = await post(webhook, { version: "4", alerts });

    expect([status, headers.get("retry-after")]).toEqual([503, "30"]);
  });

  it("a sender at its limit does not limit others, and has room again when an incident is closed", async () => {
    const tokens = `test ${token}\nother another-token-of-16`;
    const { post, client, incidents } = await serve({ maxOpenIncidentsPerSender: 1 }, { tokens });
    const other = { headers: { authorization: "Bearer another-token-of-16" } };
    await post(generic, nodes(1));

    expect((await post(generic, nodes(1, "x"))).status).toBe(429);
    expect((await post(generic, nodes(1, "y"), other)).status).toBe(201);

    const own = (await incidents()).find(({ spec }) => spec.targetResource.name === "n0");
    const { name = "", namespace = "" } = own?.metadata ?? {};
    const status = { phase: "Completed", outcome: "Remediated", completedAt: new Date().toISOString() };
    await client.patch(remediationRequests, { name, namespace }, { merge: { status } }, { subresource: "status" });
    await expect.poll(async () => (await post(generic, nodes(1, "x"))).status).toBeLessThan(300);
  });

  it("all open incidents together are limited, with 503", async () => {
    const { post } = await serve({ maxOpenIncidents: 2 });

    const { status, body } = await post(generic, nodes(3));

    expect(status).toBe(503);
    expect(body.results).toContainEqual(expect.objectContaining({ status: "limited", limit: "total" }));
  });

  it("a request with too many signals gets 413, in each format", async () => {
    const { post, incidents } = await serve({}, { limits: { signalsPerRequest: 10 } });

    const answers = await Promise.all([
      post(generic, nodes(11)),
      post(generic, { signals: nodes(11) }),
      post(webhook, { version: "4", alerts: Array(11).fill({}) }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([413, 413, 413]);
    expect(await incidents()).toEqual([]);
  });

  it("many signals in one request are admitted in slices, and other requests proceed in between", async () => {
    const { post, url, incidents } = await serve({}, { limits: { bodyBytes: 1_000_000 } });
    let isOver = false;
    let answered = 0;

    const large = post(generic, nodes(1_500)).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await (await fetch(`${url}/healthz`)).arrayBuffer();
      answered++;
    }

    expect((await large).status).toBe(201);
    expect(await incidents()).toHaveLength(1_500);
    expect(answered).toBeGreaterThan(3);
  });

  it("a large label and a large payload are truncated with a note, and the alert is admitted", async () => {
    const { post, incidents } = await serve({}, { limits: { bodyBytes: 1_000_000 } });
    const labels = { alertname: "DiskFull", node: "worker-1", log: "x".repeat(300_000) };

    const { status } = await post(webhook, { version: "4", alerts: [{ status: "firing", labels }] });

    expect(status).toBe(201);
    const [incident] = await incidents();
    expect(incident?.spec.signalLabels?.["log"]).toMatch(/truncated from 300000 characters/);
    expect(incident?.spec.originalPayload).toMatch(/truncated from \d+ characters\)$/);
    expect(JSON.stringify(incident).length).toBeLessThan(25_000);
  });
});
