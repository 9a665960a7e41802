import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { recordingLogger } from "../../../test/doubles/recording-logger.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { Chance } from "../../../test/sim/chance.ts";
import { leases } from "../../kube/index.ts";
import { promMetrics } from "../../telemetry/index.ts";
import { keyOf } from "../key.ts";
import { observeJanitor } from "../observed/observe-janitor.ts";
import { startJanitor } from "./janitor.ts";
import { kubernetesLocks } from "./kubernetes-locks.ts";

const namespace = "locks";
const minute = 60_000;

describe("the janitor", () => {
  it("removes idle Leases every few minutes, and reports it in the log and in a metric", async () => {
    const { clock, locks, client, metrics, log } = world();
    await (await locks.acquire(keyOf("target", "a"))).release();

    await clock.advance(30 * minute);

    const left = (await client.list(leases, { namespace })).items.map((lease) => lease.metadata.annotations);
    expect(left).toEqual([expect.objectContaining({ "kubernaut.ai/key": "janitor:locks" })]);
    expect(log.events).toContainEqual(
      expect.objectContaining({ level: "info", event: "idle leases removed", fields: { locks: 1, claims: 0 } }),
    );
    expect(await metrics.text()).toContain('gateway_leases_removed_total{kind="lock"} 1');
  });

  it("leaves the sweep to another one that is at it", async () => {
    const { clock, locks, log, open } = world();
    await (await locks.acquire(keyOf("target", "a"))).release();
    await open().acquire(keyOf("janitor", namespace));

    await clock.advance(30 * minute);

    expect(log.events).toEqual([]);
  });

  it("reports a failure, and tries again", async () => {
    const { clock, cluster, metrics, log } = world();
    cluster.forbid("list", "leases");

    await clock.advance(20 * minute);

    expect(log.events).toContainEqual(
      expect.objectContaining({ level: "warn", event: "removal of idle leases failed" }),
    );
    expect(await metrics.text()).toMatch(/gateway_lease_sweep_failures_total [2-9]/);
  });

  it("stops when it is closed", async () => {
    const { clock, cluster, janitor, log } = world();
    await janitor.close();
    cluster.forbid("list", "leases");

    await clock.advance(30 * minute);

    expect(log.events).toEqual([]);
  });
});

function world() {
  const clock = new ManualClock();
  const random = new Chance(5);
  const cluster = testCluster({ clock, random, namespaces: [namespace] });
  const client = cluster.client();
  const open = () => kubernetesLocks({ client, clock, random, namespace, prefix: "gw-lock-", who: "a" });
  const locks = open();
  const [metrics, log] = [promMetrics(), recordingLogger()];
  const events = observeJanitor({ stage: "gateway", metrics, log });
  const janitor = startJanitor({ client, clock, random, namespace, locks, events });
  return { clock, cluster, client, locks, open, metrics, log, janitor };
}
