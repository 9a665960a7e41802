import { afterEach, describe, expect, it } from "vitest";
import { KubeError } from "../../src/kube/index.ts";
import { settings } from "./gateway-world.ts";
import { type ServedGateway, type ServedOptions, servedGateway } from "./served-gateway.ts";

const dry = "/api/v1/signals?dryRun=true";
const disk = { name: "DiskFull", target: "node/worker-1" };

describe("a dry run", () => {
  let served: ServedGateway;
  const serve = async (options: ServedOptions = {}) => {
    served = await servedGateway(options);
    return served;
  };
  afterEach(() => served.close());

  it("reports the incident that a signal would open, and opens none", async () => {
    const { post, incidents, ledger } = await serve();

    const { status, body } = await post(dry, disk);
    const recorded = ledger.events().length;
    const real = await post("/api/v1/signals", disk);

    expect(status).toBe(200);
    expect(body.dryRun).toBe(true);
    expect(body.results).toMatchObject([
      { status: "created", subject: "node/worker-1", target: "node/worker-1", spec: { signalName: "DiskFull" } },
    ]);
    expect(recorded).toBe(0);
    expect(real.status).toBe(201);
    expect(body.results[0].incident).toBe(real.body.results[0].incident);
    expect(body.results[0].fingerprint).toBe(real.body.results[0].fingerprint);
    expect(await incidents()).toHaveLength(1);
  });

  it("reports the incident on which a signal would be counted, and counts nothing", async () => {
    const { post, incidents } = await serve();
    await post("/api/v1/signals", disk);

    const { body } = await post(dry, [disk, { ...disk, status: "resolved" }]);

    const [incident] = await incidents();
    expect(body.results).toMatchObject([
      { status: "counted", incident: incident?.metadata.name },
      { status: "resolved", incident: incident?.metadata.name },
    ]);
    expect(incident?.status?.resolvedAt).toBeUndefined();
    expect(incident?.status?.deduplication?.occurrenceCount ?? 0).toBeLessThanOrEqual(1);
  });

  it.each(["1", "TRUE", "yes", "", "true&dryRun=true"])(
    "is never taken for a real request: dryRun=%s is refused",
    async (value) => {
      const { post, incidents } = await serve();

      expect(await post(`/api/v1/signals?dryRun=${value}`, disk)).toMatchObject({ status: 400 });

      expect(await incidents()).toHaveLength(0);
    },
  );

  it("uses up nothing of the rate of its sender", async () => {
    const { post } = await serve({ limits: { signalsPerSecond: 1 } });

    const statuses = [(await post(dry, Array(10).fill(disk))).status, (await post(dry, disk)).status];

    expect(statuses).toEqual([200, 429]);
    expect((await post("/api/v1/signals", disk)).status).toBe(201);
  });

  it("explains at most 100 signals, because more could stall the process", async () => {
    const { post } = await serve();

    const most = await post(dry, Array(100).fill(disk));
    const more = await post(dry, Array(101).fill(disk));

    expect(most.status).toBe(200);
    expect(more).toMatchObject({ status: 413, body: { detail: expect.stringContaining("at most 100 signals") } });
  });

  it("reports signals that are out of scope, invalid or without effect", async () => {
    const { post } = await serve({ settings: { ...settings, scope: "labels" } });

    const { body } = await post(dry, [
      disk,
      { name: "x" },
      { ...disk, status: "resolved" },
      { ...disk, target: "widget/a" },
    ]);

    expect(body.results).toMatchObject([
      { status: "refused", fix: "kubectl get node, and correct the name worker-1 in the signal" },
      { status: "invalid", problems: [expect.stringContaining("target")] },
      { status: "ignored", message: "There is no open incident that it could end." },
      { status: "invalid", problems: [expect.stringContaining('"widget"')] },
    ]);
  });

  it("responds with 503 and Retry-After while a backend does not respond", async () => {
    const wrap: ServedOptions["wrap"] = (client) => ({
      ...client,
      list: (async (...call: Parameters<typeof client.list>) => {
        if (call[1]?.labelSelector) throw new KubeError("unavailable", "not now");
        return client.list(...call);
      }) as typeof client.list,
    });
    const { post } = await serve({ wrap });

    const { status, headers } = await post(dry, disk);

    expect(status).toBe(503);
    expect(headers.get("retry-after")).toBe("2");
  });
});
