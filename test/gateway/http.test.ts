import { afterEach, describe, expect, it } from "vitest";
import { KubeError } from "../../src/kube/index.ts";
import { settings } from "./gateway-world.ts";
import { type ServedGateway, type ServedOptions, servedGateway, token } from "./served-gateway.ts";

const generic = "/api/v1/signals";
const webhook = "/api/v1/signals/alertmanager";
const disk = { name: "DiskFull", target: "node/worker-1" };

describe("a request with signals", () => {
  let served: ServedGateway;
  const serve = async (options: ServedOptions = {}) => {
    served = await servedGateway(options);
    return served;
  };
  afterEach(() => served.close());

  it("gets 201 with the name of the new incident, then 202", async () => {
    const { post, incidents } = await serve();

    const first = await post(generic, disk);
    const second = await post(generic, disk);

    const [incident] = await incidents();
    expect([first.status, second.status]).toEqual([201, 202]);
    expect(first.body.results).toMatchObject([
      { status: "created", incident: incident?.metadata.name, namespace: "kubernaut-system" },
    ]);
    expect(second.body.results).toMatchObject([{ status: "counted", incident: incident?.metadata.name }]);
  });

  it("gets the time of a signal without one from the API server, whose clock all gateways share", async () => {
    const wrap: ServedOptions["wrap"] = (client) => ({ ...client, serverNowMs: () => client.serverNowMs() + 60_000 });
    const { post, incidents } = await serve({ wrap });

    await post(generic, disk);

    const [incident] = await incidents();
    const { firingTime = "", receivedTime = "" } = incident?.spec ?? {};
    expect(Date.parse(receivedTime) - Date.parse(firingTime)).toBeLessThan(30_000);
  });

  it("gets 200 with the reason and the fix if it is out of scope", async () => {
    const { post } = await serve({ settings: { ...settings, scope: "labels" } });

    const { status, body } = await post(generic, disk);

    expect(status).toBe(200);
    expect(body.results).toMatchObject([
      {
        status: "refused",
        message: "No incident opened: no such node: node/worker-1 does not exist.",
        fix: "kubectl get node, and correct the name worker-1 in the signal",
      },
    ]);
  });

  it("gets 503 with Retry-After while a backend does not respond, and may be sent again", async () => {
    let isDown = true;
    const wrap: ServedOptions["wrap"] = (client) => ({
      ...client,
      create: (async (...call: Parameters<typeof client.create>) => {
        if (isDown) throw new KubeError("unavailable", "secret address 10.0.0.1 refused");
        return client.create(...call);
      }) as typeof client.create,
    });
    const { post, incidents } = await serve({ wrap });

    const down = await post(generic, disk);
    isDown = false;
    const up = await post(generic, disk);

    expect(down.status).toBe(503);
    expect(Number(down.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(down.text).not.toContain("10.0.0.1");
    expect(up.status).toBe(201);
    expect((await incidents())[0]?.status?.deduplication?.occurrenceCount).toBe(1);
  });

  it("gets a result for each alert of a batch, and the valid ones are admitted", async () => {
    const { post, incidents } = await serve();
    const alert = (node: string, change = {}) => ({ status: "firing", labels: { alertname: "Full", node }, ...change });

    const { status, body } = await post(webhook, {
      version: "4",
      truncatedAlerts: 3,
      alerts: [alert("a"), alert("a"), { status: "firing" }, alert("b", { status: "resolved" }), alert("c/d")],
    });

    expect(status).toBe(201);
    expect(body.truncatedAlerts).toBe(3);
    const kinds = body.results.map((result: { status: string }) => result.status);
    expect(kinds.slice(0, 2).sort()).toEqual(["counted", "created"]);
    expect(kinds.slice(2)).toEqual(["invalid", "ignored", "ignored"]);
    expect(await incidents()).toHaveLength(1);
    expect(await served.metrics.text()).toContain("gateway_truncated_alerts_total 3");
  });

  it.each([
    ["no JSON", "{", 400],
    ["nothing", "", 400],
    ["lists in lists without end", "[".repeat(90_000), 400],
    ["a deep payload", `{"name":"X","target":"node/a","labels":${"[".repeat(40_000)}${"]".repeat(40_000)}}`, 400],
    ["an invalid signal", "[7]", 422],
    ["a list that is no webhook", "[]", 200],
    ["an unknown kind", { name: "X", target: "widget/a" }, 422],
    ["a field too many", { ...disk, extra: 1 }, 422],
    ["too much", { ...disk, labels: { a: "x".repeat(200_000) } }, 413],
  ])("gets a reason if it has %s", async (_what, body, status) => {
    const { post, incidents } = await serve();

    const answer = await post(generic, body);

    expect(answer.status).toBe(status);
    if (status !== 200) {
      expect(answer.headers.get("content-type")).toContain("application/problem+json");
      expect(answer.body).toMatchObject({ status, title: expect.any(String), detail: expect.any(String) });
    }
    expect(await incidents()).toEqual([]);
  });

  it("lists all its problems at once", async () => {
    const { post } = await serve();

    const { body } = await post(generic, [{ target: "node/a" }, { name: "x" }]);

    expect(body.problems).toEqual([
      "signals[0].name is missing or is not text",
      "signals[1].target is missing: write namespace/kind/name or kind/name",
    ]);
  });

  it("must be JSON, sent with POST to an existing path", async () => {
    const { post } = await serve();

    expect((await post(generic, disk, { headers: { "content-type": "text/plain" } })).status).toBe(415);
    const got = await post(generic, disk, { method: "GET" });
    expect([got.status, got.headers.get("allow")]).toEqual([405, "POST"]);
    expect((await post("/api/v1/other", disk)).status).toBe(404);
  });

  it.each(["constructor", "__proto__", "toString", "text/plain", "application/jsonp", ";", "application/yaml"])(
    "gets 415 with the content type %s",
    async (type) => {
      const { post } = await serve();

      for (const path of [generic, webhook, "/api/v1/signals/kubernetes-event", "/api/v1/webhooks/gitlab"]) {
        const { status } = await post(path, disk, { headers: { "content-type": type, "x-gitlab-token": token } });
        expect([path, status]).toEqual([path, 415]);
      }
    },
  );

  it("may be a Kubernetes Event of the type Warning", async () => {
    const { post } = await serve();
    const involvedObject = { kind: "Node", name: "worker-1" };
    const path = "/api/v1/signals/kubernetes-event";

    expect((await post(path, { type: "Warning", reason: "EvictionThresholdMet", involvedObject })).status).toBe(201);
    expect((await post(path, { type: "Normal", reason: "Started", involvedObject })).status).toBe(422);
  });

  describe("without the right token", () => {
    it.each([
      ["no token", ""],
      ["an empty token", "Bearer "],
      ["another scheme", `Basic ${token}`],
      ["another token", "Bearer wrong-wrong-wrong-wrong"],
      ["the beginning of the token", `Bearer ${token.slice(0, -1)}`],
      ["something long", `Bearer ${"x".repeat(5_000)}`],
    ])("gets 401 for %s, without details", async (_what, authorization) => {
      const { post, incidents } = await serve();

      const answer = await post(generic, disk, { headers: { authorization } });

      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expect(answer.text).not.toContain(token);
      expect(answer.text).not.toContain("incident");
      expect(await incidents()).toEqual([]);
    });

    it("gets 403 with a token for other sources", async () => {
      const { post } = await serve({ tokens: `am ${token} alertmanager` });

      expect((await post(generic, disk)).status).toBe(403);
      expect((await post(webhook, { alerts: [] })).status).toBe(200);
    });

    it("leaves no token in the log", async () => {
      const { post, log } = await serve({ tokens: `short x;test ${token}` });
      await post(generic, disk, { headers: { authorization: "Bearer another-secret-token-1" } });

      const logged = JSON.stringify(log.events);
      expect(logged).toContain("line 1 is not");
      expect(logged).not.toMatch(/another-secret|sixteen-letters/);
    });
  });

  it("is accepted with a token in the file, until its line is removed", async () => {
    let lines = "";
    const { post } = await serve({ tokens: "", readFile: async () => lines });

    expect((await post(generic, disk)).status).toBe(401);
    lines = `# rotated\nold ${token}\nnew another-token-of-16\n`;
    expect((await post(generic, disk)).status).toBe(201);
    lines = "new another-token-of-16\n";
    expect((await post(generic, disk)).status).toBe(401);
    expect((await post(generic, disk, { headers: { authorization: "Bearer another-token-of-16" } })).status).toBe(202);
  });

  it("is accepted while the file of tokens is being replaced", async () => {
    let isThere = true;
    const { post } = await serve({
      tokens: "",
      readFile: async () => {
        if (!isThere) throw Object.assign(new Error(token), { code: "ENOENT" });
        return `test ${token}`;
      },
    });
    await post(generic, disk);
    isThere = false;

    expect((await post(generic, disk)).status).toBe(202);
  });

  it("is rejected above the rate of its sender, with the status after which the sender retries", async () => {
    const { post } = await serve({ limits: { signalsPerSecond: 1 }, tokens: `a ${token};b another-token-of-16` });
    const many = {
      alerts: Array.from({ length: 10 }, () => ({ status: "firing", labels: { alertname: "x", node: "a" } })),
    };
    await post(webhook, many);

    const alertmanager = await post(webhook, many);
    const other = await post(generic, disk);

    expect([alertmanager.status, other.status]).toEqual([503, 429]);
    expect(Number(other.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await post(generic, disk, { headers: { authorization: "Bearer another-token-of-16" } })).status).toBe(201);
  });

  it("needs no token for health, readiness and metrics", async () => {
    const { url } = await serve();

    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining([generic, webhook, "/readyz"]));
  });

  it("gets 503 while the ledger rejects events, although the gateway is ready", async () => {
    const { post, ledger } = await serve();
    await ledger.close();

    expect((await post(generic, disk)).status).toBe(503);
    expect((await fetch(`${served.url}/readyz`)).status).toBe(200);
  });
});
