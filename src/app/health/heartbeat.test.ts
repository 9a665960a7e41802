import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { recordingLogger } from "../../../test/doubles/recording-logger.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { Chance } from "../../../test/sim/chance.ts";
import { leases } from "../../kube/index.ts";
import { readHeartbeat } from "../../resources/index.ts";
import { promMetrics } from "../../telemetry/index.ts";
import { HealthReports } from "./health-reports.ts";
import { startHeartbeat } from "./heartbeat.ts";

const namespace = "locks";
const interval = 15_000;

describe("a heartbeat", () => {
  it("shows the version, the stages and their problems", async () => {
    const { health, heartbeats, start } = world();
    health.reporter("rules")(["rules/a.yaml: has no match"]);
    await start().beat();

    expect(await heartbeats()).toEqual([
      expect.objectContaining({
        version: "1.2.3",
        isAlive: true,
        stages: [{ name: "executor", isReady: true }],
        problems: [
          { area: "watches", message: "watch of pods: failing" },
          { area: "rules", message: "rules/a.yaml: has no match" },
        ],
      }),
    ]);
  });

  it("contains the figures of the ledger, the locks and the signals", async () => {
    const { metrics, heartbeats, start } = world();
    metrics.gauge("ro_locks_held", "x", () => 2);
    metrics.gauge("agent_locks_held", "x", () => 1);
    metrics.gauge("ledger_database_lag_events", "x", () => 7);
    metrics.gauge("ledger_database_lag_seconds", "x", () => 90.4);
    const signals = metrics.counter("gateway_signals_total", "x", {
      outcome: ["refused", "invalid", "ignored", "created"],
    });
    for (const outcome of ["refused", "invalid", "ignored", "created"] as const) signals.with({ outcome }).inc();
    await start("gateway").beat();

    expect(await heartbeats()).toEqual([
      expect.objectContaining({
        ledger: { events: 7, seconds: 90 },
        locks: { held: 3, waiting: 0, oldestWaitSeconds: 0 },
        signals: { refused: 2, ignored: 1, rejectedRequests: 0 },
      }),
    ]);
  });

  it("reports that the gateway cannot write incidents, until it can", async () => {
    const { metrics, heartbeats, start } = world();
    let stalls = 2;
    metrics.gauge("gateway_stalled_objects", "x", () => stalls, { reason: ["Forbidden"] });
    const heartbeat = start("gateway");
    await heartbeat.beat();
    const during = await heartbeats();
    stalls = 0;
    await heartbeat.beat();

    const problem = { area: "signals", message: "incidents cannot be written (Forbidden)" };
    expect(during[0]?.problems).toContainEqual(problem);
    expect((await heartbeats())[0]?.problems).not.toContainEqual(problem);
  });

  it("is written once per interval, even if nothing changes", async () => {
    const { client, clock, start } = world();
    await start().beat();
    const before = await version();

    await clock.advance(4 * interval);

    expect((await version()) - before).toBe(4);

    async function version() {
      return Number((await client.list(leases, { namespace })).resourceVersion);
    }
  });

  it("is dead after three intervals without a renewal", async () => {
    const { cluster, clock, heartbeats, start } = world();
    await start().beat();
    cluster.forbid("update", "leases");

    await clock.advance(2.9 * interval);
    expect(await heartbeats()).toEqual([expect.objectContaining({ isAlive: true })]);
    await clock.advance(0.2 * interval);

    expect(await heartbeats()).toEqual([expect.objectContaining({ isAlive: false })]);
  });

  it("is taken over after a restart in the same directory, and removed at a regular stop", async () => {
    const { heartbeats, start } = world();
    await start().beat();
    const second = start();
    await second.beat();
    expect(await heartbeats()).toHaveLength(1);

    await second.close();

    expect(await heartbeats()).toEqual([]);
  });

  it("of a crashed process is removed after an hour by the next process that starts", async () => {
    const { cluster, clock, heartbeats, start } = world();
    await start("notify").beat();
    cluster.forbid("update", "leases");
    await clock.advance(3_600_000 + interval);

    await start("executor").beat();

    expect((await heartbeats()).map(({ stages }) => stages[0]?.name)).toEqual(["executor"]);
  });

  it("is logged once when it cannot be written, and tried again", async () => {
    const { cluster, clock, log, start } = world();
    cluster.forbid("create", "leases");
    await start().beat();
    await clock.advance(3 * interval);

    expect(log.events.filter(({ event }) => event === "heartbeat not written")).toHaveLength(1);
  });
});

function world() {
  const clock = new ManualClock();
  const cluster = testCluster({ clock, random: new Chance(7), namespaces: [namespace] });
  const client = cluster.client();
  const [metrics, log, health] = [promMetrics(), recordingLogger(), new HealthReports()];
  const heartbeats = async () =>
    (await client.list(leases, { namespace })).items.flatMap(
      (lease) => readHeartbeat(lease, client.serverNowMs()) ?? [],
    );
  const start = (role = "executor") =>
    startHeartbeat({
      ...{ client, namespace, intervalMs: interval, role, directory: `/data/${role}`, version: "1.2.3", health },
      stages: () => [{ name: role, isReady: true }],
      watchProblems: () => ["watch of pods: failing"],
      ...{ metrics, clock, log },
    });
  return { clock, cluster, client, metrics, log, health, heartbeats, start };
}
