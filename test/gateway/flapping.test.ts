import { beforeEach, describe, expect, it } from "vitest";
import { memoryLocks } from "../../src/coordination/index.ts";
import type { Gateway } from "../../src/gateway/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { startOrchestrator } from "../../src/orchestrator/index.ts";
import { diagnose } from "../../src/policy/index.ts";
import {
  builtInKinds,
  executionNamespace,
  fixedKinds,
  labelKeys,
  remediationRequests,
} from "../../src/resources/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { defaultSettings } from "../orchestrator/orchestrator-world.ts";
import { GatewayWorld, namespace, resolved, signal } from "./gateway-world.ts";

describe("a flapping alert", () => {
  let world: GatewayWorld;
  let gateway: Gateway;
  let work: Work;

  beforeEach(async () => {
    world = await GatewayWorld.open([executionNamespace]);
    work = { calls: 0, objectsRead: 0, bytesWritten: 0 };
    const client = countWork(world.client, work);
    gateway = await world.gateway({ client: permittedClient(client, "gateway") });
    await orchestrator(world, client);
  });

  it("costs the same however many closed incidents it has", async () => {
    const turn = async (n: number) => {
      const firingAt = at(n, 0);
      await gateway.admit(signal({ firingAt }));
      await world.settle();
      await gateway.admit(resolved({ firingAt, endedAt: at(n, 5) }));
      await world.settle();
    };
    for (let n = 1; n < 3; n++) await turn(n);
    const early = await workOf(turn, [3, 4, 5]);
    for (let n = 6; n < 40; n++) await turn(n);
    const late = await workOf(turn, [40, 41, 42]);

    expect((await world.incidents()).length).toBeGreaterThan(38);
    expect(late.calls).toBe(early.calls);
    expect(late.objectsRead).toBe(early.objectsRead);
    // Numbers in names and times may have a digit more.
    expect(late.bytesWritten).toBeLessThan(early.bytesWritten * 1.02);
  });

  it("is ignored if it is reported late, also if its end is recorded in an incident before the newest", async () => {
    const other = (n: number) => signal({ series: "other", firingAt: at(n, 0) });
    await gateway.admit(signal({ firingAt: at(1, 0) }));
    await gateway.admit(resolved({ firingAt: at(1, 0), endedAt: at(9, 0) }));
    await world.settle();
    for (let n = 2; n < 8; n++) {
      await gateway.admit(other(n));
      await gateway.admit(resolved({ ...other(n), status: "resolved", endedAt: at(n, 5) }));
      await world.settle();
    }
    const restarted = await world.gateway();

    expect(await restarted.admit(signal({ firingAt: at(8, 0) }))).toMatchObject({ kind: "ignored" });
    expect(await restarted.admit(signal({ firingAt: at(9, 1) }))).toMatchObject({ kind: "created" });
  });

  it("is counted on the next incident after an operator deleted the newest", async () => {
    for (let n = 1; n < 4; n++) {
      await gateway.admit(signal({ firingAt: at(n, 0) }));
      await gateway.admit(resolved({ firingAt: at(n, 0), endedAt: at(n, 5) }));
      await world.settle();
    }
    const newest = (await world.incidents()).find(({ metadata }) => metadata.labels?.[labelKeys.latestOf]);
    await world.client.delete(remediationRequests, { namespace, name: newest?.metadata.name ?? "" });
    await world.settle();

    const admission = await gateway.admit(signal({ firingAt: at(9, 0) }));

    expect(admission).toMatchObject({ kind: "created", incident: { metadata: { name: newest?.metadata.name } } });
  });

  it("writes only the changed series, however many fire in its incident", async () => {
    const turn = (name: string) => async (n: number) => {
      const common = { name, series: "flapping", firingAt: at(n, 0) };
      await gateway.admit(signal(common));
      await gateway.admit(resolved({ ...common, endedAt: at(n, 5) }));
      await world.settle();
    };
    const fire = async (name: string, count: number) => {
      for (let i = 0; i < count; i++) await gateway.admit(signal({ name, series: `series-${i}` }));
    };
    await fire("Alone", 1);
    await fire("Beside", 60);
    await world.settle();

    const alone = await workOf(turn("Alone"), [1, 2, 3]);
    const beside = await workOf(turn("Beside"), [1, 2, 3]);

    expect(beside.calls).toBe(alone.calls);
    expect(beside.bytesWritten).toBeLessThan(alone.bytesWritten * 1.1);
  });

  /** What so many turns cost together. */
  async function workOf(turn: (n: number) => Promise<void>, turns: readonly number[]): Promise<Work> {
    Object.assign(work, { calls: 0, objectsRead: 0, bytesWritten: 0 });
    for (const n of turns) await turn(n);
    return { ...work };
  }
});

interface Work {
  calls: number;
  objectsRead: number;
  bytesWritten: number;
}

/** `client`, whose reads and writes are added up. Watches are not calls of a turn. */
function countWork(client: KubeClient, work: Work): KubeClient {
  const write =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    (...args: A) => {
      work.calls++;
      work.bytesWritten += JSON.stringify(args.slice(1, 3)).length;
      return call(...args);
    };
  return {
    ...client,
    get: (async (...call: Parameters<KubeClient["get"]>) => {
      work.calls++;
      work.objectsRead++;
      return client.get(...call);
    }) as KubeClient["get"],
    list: (async (...call: Parameters<KubeClient["list"]>) => {
      const answer = await client.list(...call);
      work.calls++;
      work.objectsRead += answer.items.length;
      return answer;
    }) as KubeClient["list"],
    create: write(client.create) as KubeClient["create"],
    update: write(client.update) as KubeClient["update"],
    patch: write(client.patch) as KubeClient["patch"],
  };
}

/** One that has no rules: an incident waits for one until it is withdrawn. */
async function orchestrator(world: GatewayWorld, client: KubeClient): Promise<void> {
  const { clock, ledger, log } = world;
  const random = systemRandom();
  startOrchestrator({
    client: permittedClient(client, "orchestrator"),
    analyzer: { analyze: async (spec) => diagnose(spec, [], builtInKinds), subscribe: () => () => {} },
    locks: memoryLocks({ clock, random, who: "test" }),
    ledger,
    kinds: fixedKinds(builtInKinds),
    namespace: executionNamespace,
    catalogNamespace: namespace,
    settings: defaultSettings,
    clock,
    random,
    log,
    metrics: promMetrics(),
  });
  await world.settle();
}

function at(minute: number, second: number): string {
  return new Date(Date.UTC(2026, 10, 15, 6, minute, second)).toISOString();
}
