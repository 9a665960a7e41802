import { join } from "node:path";
import { openApi } from "../../src/apiserver/api/open-api.ts";
import { embeddedClient } from "../../src/apiserver/index.ts";
import { volatileStore } from "../../src/apiserver/volatile-store.ts";
import { memoryLocks } from "../../src/coordination/index.ts";
import { type Gateway, openFileOccurrenceLog, startGateway } from "../../src/gateway/index.ts";
import { type KubeClient, namespaces } from "../../src/kube/index.ts";
import { type Ledger, memoryLedger } from "../../src/ledger/index.ts";
import { startOrchestrator } from "../../src/orchestrator/index.ts";
import { defaultPolicy, diagnose } from "../../src/policy/index.ts";
import {
  builtInKinds,
  closedIncidentPhases,
  executionNamespace,
  fixedKinds,
  installCrds,
  remediationRequests,
  type Signal,
} from "../../src/resources/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { sleep, systemClock, systemRandom } from "../../src/time/index.ts";
import { median } from "../locks/quantile.ts";
import { gatewaySettings, namespace } from "./servers.ts";
import { patient } from "./signal-to-run.ts";

const [clock, random] = [systemClock(), systemRandom()];

export interface Growth {
  /** Processor time of one turn of a flapping alert, the 1,000th / the 10th. */
  readonly flapGrowth: number;
  /** Processor time of one turn of one series, beside 999 others that fire on the same incident / alone. */
  readonly seriesGrowth: number;
  readonly flapTurnCpuMs: number;
  readonly seriesTurnCpuMs: number;
}

/** Gateway and orchestrator in this process, on objects in memory: what a turn costs is all theirs. */
export async function growth(folder: string): Promise<Growth> {
  const flap = await withStages(join(folder, "flap"), flapCosts);
  const series = await withStages(join(folder, "series"), seriesCosts);
  return {
    flapGrowth: flap.late / flap.early,
    seriesGrowth: series.beside / series.alone,
    flapTurnCpuMs: flap.early,
    seriesTurnCpuMs: series.alone,
  };
}

/** An alert that fires and resolves: each turn opens an incident that is withdrawn. */
async function flapCosts({ client, gateway }: Stages) {
  const turn = (name: string) => async (n: number) => {
    await gateway.admit(alert(name, "one", n, "firing"));
    const ended = await gateway.admit(alert(name, "one", n, "resolved"));
    if (ended.kind !== "resolved") throw new Error(`turn ${n} was ${ended.kind}`);
    await closed(client, ended.incident.metadata.name ?? "");
  };
  await costs(warmUp, turn("Warm"));
  const all = await costs(1_000 + window, turn("Flap"));
  const half = window / 2;
  return { early: median(all.slice(0, 2 * half)), late: median(all.slice(1_000 - half, 1_000 + half)) };
}

/** One series of an incident that fires and resolves while another keeps the incident open. */
async function seriesCosts({ gateway }: Stages) {
  const turn = (name: string, round = 0) => {
    return async (n: number) => {
      const at = 1 + round * window + n;
      await gateway.admit(alert(name, "flapping", at, "firing"));
      await gateway.admit(alert(name, "flapping", at, "resolved"));
    };
  };
  const fire = (name: string, count: number) =>
    gateway.admitAll(Array.from({ length: count }, (_, i) => alert(name, `series-${i}`, 0, "firing")));
  await fire("Warm", 1);
  await costs(warmUp, turn("Warm"));
  await fire("Alone", 1);
  await fire("Beside", 999);
  const alone: number[] = [];
  const beside: number[] = [];
  // In turn, so that what else the machine does concerns both.
  for (let round = 0; round < 10; round++) {
    alone.push(...(await costs(window, turn("Alone", round))));
    beside.push(...(await costs(window, turn("Beside", round))));
  }
  return { alone: median(alone), beside: median(beside) };
}

/** The processor time of each of so many turns, in milliseconds. */
async function costs(turns: number, turn: (n: number) => Promise<void>): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let n = 0; n < turns; n++) {
    const before = process.cpuUsage();
    await turn(n);
    const { user, system } = process.cpuUsage(before);
    taken.push((user + system) / 1_000);
  }
  return taken;
}

const warmUp = 1_000;
const window = 20;

interface Stages {
  readonly client: KubeClient;
  readonly gateway: Gateway;
}

async function withStages<T>(folder: string, measure: (stages: Stages) => Promise<T>): Promise<T> {
  const client = embeddedClient(await openApi({ store: volatileStore({ keptChanges: 1_000 }), clock, random }));
  for (const name of [namespace, executionNamespace]) {
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  await installCrds(client);
  const ledger: Ledger = { ...memoryLedger(), append: async () => {} };
  const locks = memoryLocks({ clock, random, who: "bench" });
  const common = { client, locks, ledger, kinds: fixedKinds(builtInKinds), clock, random, log: silentLogger };
  const gateway = startGateway({
    ...common,
    occurrenceLog: await openFileOccurrenceLog({ directory: folder, clock, log: silentLogger }),
    writer: "bench",
    settings: gatewaySettings,
    metrics: promMetrics(),
  });
  const orchestrator = startOrchestrator({
    ...common,
    analyzer: { analyze: async (spec) => diagnose(spec, [], builtInKinds), subscribe: () => () => {} },
    namespace: executionNamespace,
    catalogNamespace: namespace,
    settings: { ...defaultPolicy, ...patient },
    metrics: promMetrics(),
  });
  await Promise.all([gateway.ready, orchestrator.ready]);
  try {
    return await measure({ client, gateway });
  } finally {
    await orchestrator.stop({ deadlineMs: 5_000 });
    await gateway.stop();
    await locks.close();
  }
}

const startMs = Date.parse("2026-11-15T06:00:00.000Z");

function alert(name: string, series: string, turn: number, status: Signal["status"]): Signal {
  const at = (ms: number) => new Date(startMs + turn * 10_000 + ms).toISOString();
  return {
    status,
    source: "alertmanager",
    name,
    severity: "warning",
    subject: { kind: "Node", name: "worker-1" },
    series,
    labels: { alertname: name, severity: "warning", node: "worker-1", series },
    annotations: { summary: "The file system is nearly full." },
    firingAt: at(0),
    ...(status === "resolved" && { endedAt: at(5_000) }),
    payload: {},
  };
}

async function closed(client: KubeClient, name: string): Promise<void> {
  const phases: ReadonlySet<string | undefined> = new Set(closedIncidentPhases);
  for (;;) {
    const incident = await client.get(remediationRequests, { namespace, name });
    if (phases.has(incident?.status?.phase)) return;
    await sleep(clock, 1);
  }
}
