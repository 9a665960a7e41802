import { hostname } from "node:os";
import { resolve } from "node:path";
import { iso, type KubeClient, type KubeLease, leases, refOf } from "../../kube/index.ts";
import {
  type HealthProblem,
  type Heartbeat,
  heartbeatSelector,
  readHeartbeat,
  type StageHealth,
  toHeartbeatLease,
} from "../../resources/index.ts";
import type { Logger, MetricSample, PromMetrics } from "../../telemetry/index.ts";
import { type Clock, sleep } from "../../time/index.ts";
import type { Stage } from "../stage.ts";
import type { HealthReports } from "./health-reports.ts";

export interface HeartbeatOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly intervalMs: number;
  /** `up`, or the name of the only stage in the process. */
  readonly role: string;
  /** The data directory of the process. */
  readonly directory: string;
  readonly version: string;
  readonly stages: () => readonly StageHealth[];
  readonly health: HealthReports;
  readonly watchProblems: () => readonly string[];
  readonly metrics: PromMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface RunningHeartbeat {
  /** Writes the health now, instead of at the next interval. Never rejects. */
  beat(): Promise<void>;
  /** Stops, and removes the Lease: a process that ended on request is not missing. */
  close(): Promise<void>;
}

/** Heartbeats of crashed processes are removed after this time. */
const forgottenAfterMs = 3_600_000;

/** Writes the health of this process to a Lease at every interval, for `interlock status`. */
export function startHeartbeat(options: HeartbeatOptions): RunningHeartbeat {
  const { client, clock, log, intervalMs } = options;
  const stop = new AbortController();
  const startedAt = iso(client.serverNowMs());
  let written: KubeLease | undefined;
  let hasFailed = false;
  let writing: Promise<void> = Promise.resolve();

  function beat(): Promise<void> {
    writing = writing.then(async () => {
      if (stop.signal.aborted) return;
      try {
        written = await writeLease(client, toLease(await observe(options, startedAt), options), written);
        hasFailed = false;
      } catch (error) {
        // Reported once: `interlock status` shows the age of the last heartbeat.
        if (!hasFailed) log.warn("heartbeat not written", { error });
        hasFailed = true;
        written = undefined;
      }
    });
    return writing;
  }

  async function run() {
    await removeForgotten(options).catch((error: unknown) => log.warn("old heartbeats not removed", { error }));
    while (!stop.signal.aborted) {
      await beat();
      await sleep(clock, intervalMs, stop.signal, { background: true }).catch(() => {});
    }
  }

  const running = run();
  return {
    beat,
    async close() {
      stop.abort();
      await running;
      await writing;
      if (!written) return;
      const { uid } = written.metadata;
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      await client
        .delete(leases, refOf(written), preconditions)
        .catch((error: unknown) => log.warn("heartbeat not removed", { error }));
    },
  };
}

/** The health of a stage that runs in this process. */
export function stageHealth(name: string, { isReady, problem }: Pick<Stage, "isReady" | "problem">): StageHealth {
  return { name, isReady, ...(problem !== undefined && { problem }) };
}

async function observe(options: HeartbeatOptions, startedAt: string): Promise<Heartbeat> {
  const { version, stages, health, watchProblems, metrics } = options;
  const watches = watchProblems().map((message) => ({ area: "watches", message }) as const);
  const [held, waiting, waits] = await Promise.all(
    [/_locks_held$/, /_locks_waiting$/, /_lock_oldest_wait_seconds$/].map((name) => metrics.series(name)),
  );
  const [rows, ages] = await Promise.all(
    [/^ledger_database_lag_events$/, /^ledger_database_lag_seconds$/].map((name) => metrics.series(name)),
  );
  return {
    process: `${hostname()}/${process.pid}`,
    version,
    startedAt,
    stages: stages(),
    problems: [...watches, ...(await listSignalStalls(metrics)), ...health.list()],
    ledger: { events: sum(rows), seconds: Math.round(max(ages)) },
    locks: { held: sum(held), waiting: sum(waiting), oldestWaitSeconds: Math.round(max(waits)) },
    ...(stages().some(({ name }) => name === "gateway") && { signals: await countSignals(metrics) }),
  };
}

/** Outcomes of signals that a sender or an operator can correct. */
const refusals: ReadonlySet<string | number | undefined> = new Set(["refused", "forbidden", "invalid", "limited"]);

async function countSignals(metrics: PromMetrics): Promise<NonNullable<Heartbeat["signals"]>> {
  const signals = await metrics.series(/^gateway_signals_total$/);
  return {
    refused: sum(signals.filter(({ labels }) => refusals.has(labels["outcome"]))),
    ignored: sum(signals.filter(({ labels }) => labels["outcome"] === "ignored")),
    rejectedRequests: sum(await metrics.series(/^gateway_requests_turned_away_total$/)),
  };
}

/** Lists failing writes of the gateway. Only metrics show them, because the object itself cannot be written. */
async function listSignalStalls(metrics: PromMetrics): Promise<readonly HealthProblem[]> {
  const stalls = await metrics.series(/^gateway_stalled_objects$/);
  return stalls
    .filter(({ value }) => value > 0)
    .map(({ labels }) => ({ area: "signals", message: `incidents cannot be written (${labels["reason"]})` }));
}

function sum(series: readonly MetricSample[] = []): number {
  return series.reduce((total, { value }) => total + value, 0);
}

function max(series: readonly MetricSample[] = []): number {
  return Math.max(0, ...series.map(({ value }) => value));
}

function toLease(heartbeat: Heartbeat, { client, namespace, role, directory, intervalMs }: HeartbeatOptions) {
  const seat = `${hostname()}:${resolve(directory)}`;
  return toHeartbeatLease(heartbeat, { namespace, role, seat, nowMs: client.serverNowMs(), intervalMs });
}

/** Kubernetes updates a Lease only by its version. */
async function writeLease(client: KubeClient, lease: KubeLease, known: KubeLease | undefined): Promise<KubeLease> {
  const current = known ?? (await client.get(leases, refOf(lease)));
  if (current) {
    const { resourceVersion, uid } = current.metadata;
    const metadata = { ...lease.metadata, ...(resourceVersion && { resourceVersion }), ...(uid && { uid }) };
    const updated = await client.update(leases, { ...lease, metadata });
    if (updated.kind === "updated") return updated.object;
    if (updated.kind === "conflict") throw new Error(updated.message);
  }
  const created = await client.create(leases, lease);
  if (created.kind === "created") return created.object;
  throw new Error(`the Lease ${lease.metadata.name} was written by another process`);
}

async function removeForgotten({ client, namespace }: HeartbeatOptions): Promise<void> {
  const { items } = await client.list(leases, { namespace, labelSelector: heartbeatSelector });
  for (const lease of items) {
    const heartbeat = readHeartbeat(lease, client.serverNowMs());
    if (heartbeat && heartbeat.ageMs <= forgottenAfterMs) continue;
    const { resourceVersion } = lease.metadata;
    await client.delete(leases, refOf(lease), resourceVersion ? { preconditions: { resourceVersion } } : {});
  }
}
