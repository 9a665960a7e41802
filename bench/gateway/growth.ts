import { join } from "node:path";
import { openApi } from "../../src/apiserver/api/open-api.ts";
import { embeddedClient } from "../../src/apiserver/index.ts";
import { memoryLocks } from "../../src/coordination/index.ts";
import { type Gateway, openFileOccurrenceLog, startGateway } from "../../src/gateway/index.ts";
import { informer, type KubeClient, namespaces } from "../../src/kube/index.ts";
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
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { volatileStore } from "../../test/doubles/volatile-store.ts";
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

/** Gateway and orchestrator in this process, on objects in memory: the processor time of a turn is all theirs. */
export async function growth(folder: string): Promise<Growth> {
  const flap = await flapCosts(folder);
  const series = await seriesCosts(folder);
  return {
    flapGrowth: flap.late / flap.early,
    seriesGrowth: series.beside / series.alone,
    flapTurnCpuMs: flap.early,
    seriesTurnCpuMs: series.alone,
  };
}

/** An alert that fires and resolves: each turn opens an incident that is withdrawn. The first turns happen in a system of their own. */
async function flapCosts(folder: string) {
  await using old = await openStages(join(folder, "flap-late"));
  await using young = await openStages(join(folder, "flap-early"));
  const flap = ({ gateway, closed }: Stages): Turn => {
    return async (n) => {
      await gateway.admit(alert("Flap", "one", n, "firing"));
      const ended = await gateway.admit(alert("Flap", "one", n, "resolved"));
      if (ended.kind !== "resolved") throw new Error(`turn ${n} was ${ended.kind}`);
      await closed(ended.incident.metadata.name ?? "");
    };
  };
  const [late, early] = [repeated(flap(old)), repeated(flap(young))];
  await late(1_000);
  const [lateMs, earlyMs] = await compare(late, early);
  return { late: lateMs, early: earlyMs };
}

/** One series of an incident that fires and resolves while another keeps the incident open. */
async function seriesCosts(folder: string) {
  await using stages = await openStages(join(folder, "series"));
  const { gateway } = stages;
  const flap = (name: string): Turn => {
    return async (n) => {
      await gateway.admit(alert(name, "flapping", 1 + n, "firing"));
      await gateway.admit(alert(name, "flapping", 1 + n, "resolved"));
    };
  };
  const fire = (name: string, count: number) =>
    gateway.admitAll(Array.from({ length: count }, (_, i) => alert(name, `series-${i}`, 0, "firing")));
  await fire("Alone", 1);
  await fire("Beside", 999);
  const [beside, alone] = [repeated(flap("Beside")), repeated(flap("Alone"))];
  await beside(500);
  await alone(500);
  const [besideMs, aloneMs] = await compare(beside, alone);
  return { beside: besideMs, alone: aloneMs };
}

type Turn = (n: number) => Promise<void>;

/** Makes so many more turns; resolves to the processor milliseconds of each. */
type Turns = (count: number) => Promise<readonly number[]>;

function repeated(turn: Turn): Turns {
  let next = 0;
  return async (count) => {
    const taken: number[] = [];
    for (let i = 0; i < count; i++) {
      const before = process.cpuUsage();
      await turn(next++);
      const { user, system } = process.cpuUsage(before);
      taken.push((user + system) / 1_000);
    }
    return taken;
  };
}

/**
 * The medians of 100 turns each, ten of one and ten of the other in turn: the compiler, the garbage collector and other
 * processes affect both alike. Turns that are seconds apart differ by a third for those reasons alone.
 */
async function compare(one: Turns, other: Turns): Promise<readonly [number, number]> {
  const costs: [number[], number[]] = [[], []];
  for (let window = 0; window < 10; window++) {
    costs[0].push(...(await one(10)));
    costs[1].push(...(await other(10)));
  }
  return [median(costs[0]), median(costs[1])];
}

interface Stages extends AsyncDisposable {
  readonly gateway: Gateway;
  /** Resolves when the incident is closed, without asking for it again and again: that would be measured, too. */
  closed(name: string): Promise<void>;
}

async function openStages(folder: string): Promise<Stages> {
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
  const stop = new AbortController();
  return {
    gateway,
    closed: followClosed(client, stop.signal),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await orchestrator.stop({ deadlineMs: 5_000 });
      await gateway.stop();
      await locks.close();
    },
  };
}

function followClosed(client: KubeClient, signal: AbortSignal): Stages["closed"] {
  const phases: ReadonlySet<string | undefined> = new Set(closedIncidentPhases);
  const problem = (error: unknown) => console.error(error);
  const incidents = informer({
    client,
    clock,
    random,
    problem,
    signal,
    type: remediationRequests,
    query: { namespace },
  });
  const isClosed = (name: string) => phases.has(incidents.get({ namespace, name })?.status?.phase);
  return (name) =>
    new Promise((resolve) => {
      if (isClosed(name)) return resolve();
      const stop = incidents.subscribe(() => {
        if (!isClosed(name)) return;
        stop();
        resolve();
      });
    });
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
