import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openClient } from "../../src/app/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { type RemediationRequest, remediationRequests } from "../../src/resources/index.ts";
import { sleep, systemClock, systemRandom } from "../../src/time/index.ts";
import { type ApiServer, startApiServer } from "../services/api-server.ts";
import { type GatewayProcess, startGatewayProcess } from "../services/gateway-process.ts";

const clock = systemClock();

describe("gateways in processes of their own, on one API server", { timeout: 120_000 }, () => {
  let api: ApiServer;
  let client: KubeClient;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "interlock-gateways-"));
    api = await startApiServer();
    client = await openClient(api.kubeconfigFile, { env: process.env, clock, random: systemRandom() });
  });

  afterAll(async () => {
    await api.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const gateway = (name: string, env: Record<string, string> = {}) =>
    startGatewayProcess(api.kubeconfigFile, join(directory, name), { LOCKS_BACKEND: "kubernetes", ...env });

  it("open one incident for 1,000 posts of one fingerprint to three of them, and count every one", async () => {
    const three = await Promise.all([gateway("one"), gateway("two"), gateway("three")]);
    const signal = { name: "StormOfOne", target: "node/worker-1" };

    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, (_, i) => post(three[i % 3] as GatewayProcess, signal)),
    );

    expect(statuses.filter((status) => status !== 202)).toEqual([201]);
    const incident = await counted("StormOfOne", 1_000);
    expect(Object.values(incident.status?.deduplication?.occurrencesByWriter ?? {}).reduce((a, b) => a + b)).toBe(
      1_000,
    );
    await Promise.all(three.map((process) => process.stop()));
  });

  it("lose no count when one is killed between its occurrence log and the status", async () => {
    const env = { GATEWAY_FLUSH_INTERVAL: "1h" };
    const doomed = await gateway("doomed", env);
    const signal = { name: "KilledWhileCounting", target: "node/worker-2" };
    for (let i = 0; i < 50; i++) expect(await post(doomed, signal)).toBe(i === 0 ? 201 : 202);
    await doomed.kill();
    const [before] = await named("KilledWhileCounting");
    expect(before?.status?.deduplication?.occurrenceCount ?? 0).toBe(0);

    const next = await gateway("doomed", env);

    await counted("KilledWhileCounting", 50);
    await next.stop();
  });

  it("write their counts when they are stopped", async () => {
    const one = await gateway("stopped", { GATEWAY_FLUSH_INTERVAL: "1h" });
    for (let i = 0; i < 5; i++) await post(one, { name: "Stopped", target: "node/worker-3" });

    await one.stop();

    expect((await named("Stopped"))[0]?.status?.deduplication?.occurrenceCount).toBe(5);
  });

  async function named(name: string): Promise<readonly RemediationRequest[]> {
    const { items } = await client.list(remediationRequests, { namespace: "kubernaut-system" });
    return items.filter(({ spec }) => spec.signalName === name);
  }

  /** The only incident of that name, once it has been counted so often. */
  async function counted(name: string, count: number): Promise<RemediationRequest> {
    for (;;) {
      const incidents = await named(name);
      expect(incidents).toHaveLength(1);
      const [incident] = incidents;
      const seen = incident?.status?.deduplication?.occurrenceCount ?? 0;
      expect(seen).toBeLessThanOrEqual(count);
      if (incident && seen === count) return incident;
      await sleep(clock, 100);
    }
  }
});

async function post({ url, token }: GatewayProcess, body: object): Promise<number> {
  const response = await fetch(`${url}/api/v1/signals`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}
