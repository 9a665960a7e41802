import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { embeddedClient, freezeJson, openLogStore, serveApi } from "../../src/apiserver/index.ts";
import { type KubeClient, namespaces, type ResourceType } from "../../src/kube/index.ts";
import { installCrds } from "../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { volatileStore } from "../../test/doubles/volatile-store.ts";
import { machineMs } from "../locks/machine-time.ts";
import { median } from "../locks/quantile.ts";
import { printTable } from "../locks/table.ts";
import { bareCreates, bareFanout } from "./bare-http.ts";
import type { Measured } from "./embedded-store.ts";
import { Clients, type Created } from "./load.ts";
import type { Plan } from "./plans.ts";
import { keyOf } from "./sample.ts";

const token = "a-token-for-the-benchmark";
const watchers = 100;

/** The embedded API server on a disk, with our definitions in it, as clients see it over HTTP. */
export async function measureHttp(folder: string, { http: plan }: Plan): Promise<Measured> {
  const directory = mkdtempSync(join(folder, "http-"));
  const parts = { clock: systemClock(), random: systemRandom() };
  const store = await openLogStore({ directory, parse: freezeJson, clock: parts.clock });
  const served = await serveApi({ ...parts, store, tokens: { admin: token }, acceptPlainTokens: true });
  const client = embeddedClient(served.api);
  const clients = new Clients();
  const bare = await bareCreates(folder);
  const port = Number(new URL(served.url).port);
  /** The number of the next object to create. */
  let from = 0;
  try {
    await prepare(client);
    const one = await creates({ inFlight: 1, count: plan.oneByOne });
    const many = await creates({ inFlight: 64, count: plan.in64 });
    const fanout = await fanouts();
    printTable(
      "Server over HTTP",
      ["", "server", "bare", "ratio"],
      [
        ["creates/s, 64 in flight", many.perSecond, many.barePerSecond, many.perSecond / many.barePerSecond],
        ["  CPU of the server for one, µs", many.cpuMicros, many.bareCpuMicros, many.cpuMicros / many.bareCpuMicros],
        ["ms per create, 1 in flight", one.p50Ms, one.bareP50Ms, one.p50Ms / one.bareP50Ms],
        [`ms per event to ${watchers} watchers`, fanout.ms, fanout.bareMs, fanout.ms / fanout.bareMs],
      ],
    );
    return {
      figures: {
        httpCreate64PerSecond: many.perSecond,
        httpCreateP50Ms: one.p50Ms,
        fanout100VsBareHttp: fanout.ms / fanout.bareMs,
      },
      calibration: {
        bareHttpCreate64PerSecond: many.barePerSecond,
        bareHttpCreateP50Ms: one.bareP50Ms,
        httpCreateCpuMicros: many.cpuMicros,
        bareHttpCreateCpuMicros: many.bareCpuMicros,
        bareHttpFanout100Ms: fanout.bareMs,
      },
    };
  } finally {
    clients.close();
    await bare.close();
    await served.close();
    await store.close();
    rmSync(directory, { recursive: true });
  }

  /** Ours and the bare server in turn, because machines have moods. */
  async function creates({ inFlight, count }: { inFlight: number; count: number }) {
    const ours: (Created & { cpuMicros: number })[] = [];
    const bares: typeof ours = [];
    for (let round = 0; round <= plan.rounds; round++) {
      ours.push(await withCpu(count, () => clients.create({ port, token, from, count, inFlight })));
      from += count;
      bares.push(await withCpu(count, () => clients.create({ port: bare.port, token, from: 0, count, inFlight })));
    }
    // The first round is for the compiler.
    const middle = (all: typeof ours, figure: keyof (typeof ours)[0]) => median(all.slice(1).map((one) => one[figure]));
    return {
      perSecond: middle(ours, "perSecond"),
      p50Ms: middle(ours, "p50Ms"),
      barePerSecond: middle(bares, "perSecond"),
      bareP50Ms: middle(bares, "p50Ms"),
      cpuMicros: middle(ours, "cpuMicros"),
      bareCpuMicros: middle(bares, "cpuMicros"),
    };
  }

  /** Without a disk: how long a change takes to become durable is another figure. */
  async function fanouts() {
    const served = await serveApi({
      ...parts,
      store: volatileStore(),
      tokens: { admin: token },
      acceptPlainTokens: true,
    });
    const port = Number(new URL(served.url).port);
    const client = embeddedClient(served.api);
    const { frame, change } = await fanoutSource(client);
    const ours: number[] = [];
    const bares: number[] = [];
    for (let round = 0; round <= plan.fanoutRounds; round++) {
      const { resourceVersion } = await client.list(configMaps, { namespace: "default" });
      const path = `/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=${resourceVersion}`;
      ours.push(await eventMs({ port, path, send: change }));
      const other = await bareFanout();
      bares.push(await eventMs({ port: other.port, path: "/", send: async () => other.send(frame) }));
      await other.close();
    }
    await served.close();
    return { ms: median(ours.slice(1)), bareMs: median(bares.slice(1)) };
  }

  async function eventMs({ port, path, send }: { port: number; path: string; send: () => Promise<void> }) {
    const { events } = plan;
    const ended = await clients.watch({ port, token, path, watchers, events });
    const startedAt = machineMs();
    for (let i = 0; i < events; i++) {
      await send();
      await nextTurn();
    }
    return ((await ended()).endedAt - startedAt) / events;
  }
}

/** The CPU of this process, where the servers are, beside what `work` returns. */
async function withCpu<T>(count: number, work: () => Promise<T>): Promise<T & { cpuMicros: number }> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { ...result, cpuMicros: (user + system) / count };
}

const configMaps: ResourceType = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

/** One object that changes again and again, and one event of it as it is on the wire. */
async function fanoutSource(client: KubeClient) {
  const ref = { namespace: "default", name: "fanout" };
  const data = { text: "x".repeat(1_200) };
  let count = 0;
  await client.create(configMaps, { metadata: ref, data } as object as Parameters<typeof client.create>[1]);
  const object = await client.get(configMaps, ref);
  return {
    frame: Buffer.from(`${JSON.stringify({ type: "MODIFIED", object })}\n`),
    async change() {
      await client.patch(configMaps, ref, { merge: { metadata: { annotations: { count: String(count++) } } } });
    },
  };
}

async function prepare(client: KubeClient) {
  const wanted = new Set(Array.from({ length: 100 }, (_, i) => keyOf(i).namespace));
  for (const name of wanted) await client.create(namespaces, { metadata: { name } });
  await installCrds(client);
}
