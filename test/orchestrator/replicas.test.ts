import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import {
  CoordinationError,
  kubernetesLocks,
  type Locks,
  memoryLocks,
  RedisConnection,
  redisLocks,
} from "../../src/coordination/index.ts";
import { remediationRequests } from "../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { type Death, dyingClient } from "../doubles/dying-client.ts";
import { startRedis } from "../services/redis.ts";
import { diskRule, minute, OrchestratorWorld } from "./orchestrator-world.ts";

/** A Redis that has just started grants nothing before the longest lock of an earlier one would be over. */
const short = { ttlMs: 1_000, waitMs: 30_000 };

/** Locks for one replica, on each backend; in memory all replicas are one process. */
const backends: Readonly<Record<string, (world: OrchestratorWorld) => Promise<() => Promise<Locks>>>> = {
  async memory({ clock }) {
    const locks = memoryLocks({ clock, random: systemRandom(), who: "test" });
    return async () => locks;
  },
  async kubernetes({ clock, client }) {
    const shared = { clock, random: systemRandom(), client, namespace: "kubernaut-system", prefix: "ro-lock-" };
    return async () => kubernetesLocks({ ...shared, who: "test" });
  },
  async redis({ clock, cleanUp }) {
    const redis = await startRedis();
    cleanUp(() => redis.stop());
    const random = systemRandom();
    return async () => {
      const connection = new RedisConnection({ url: redis.url, clock, random, name: "test", onProblem: () => {} });
      const locks = redisLocks({ connection, clock, random, who: "test", maxTtlMs: 1_000, defaults: short });
      await connection.connect();
      cleanUp(() => connection.close());
      return locks;
    };
  },
};

describe.each(Object.keys(backends))("three orchestrators with locks in %s", (backend) => {
  let world: OrchestratorWorld;
  afterEach(() => world.close());

  it("create one execution for fifty incidents with one target", async () => {
    world = await OrchestratorWorld.open({ clock: systemClock() });
    const locksFor = await (backends[backend] as (typeof backends)[string])(world);
    await world.executor();
    for (let i = 0; i < 3; i++) {
      const locks = await locksFor();
      world.cleanUp(() => locks.close());
      await world.orchestrator({ locks });
    }

    const drafts = Array.from({ length: 50 }, (_, i) => world.draft(`disk-${i}`, { signalName: `Disk${i}` }));
    await Promise.all(drafts.map((draft) => world.client.create(remediationRequests, draft)));

    await until(async () => (await phases(world)).every((phase) => phase === "Executing"));
    const [execution, ...others] = await world.executions();
    expect(others).toEqual([]);
    expect(decisions(world)).toEqual({ run: 1, follow: 49 });

    await until(async () => (await world.run()) !== undefined);
    await world.reportRun("True");
    await until(async () => (await phases(world)).every((phase) => phase === "Verifying"));
    const notices = (await world.notices()).map(({ spec }) => spec);
    expect(notices.map(({ context }) => context?.entries?.length ?? 0).toSorted()).toEqual([0, 49]);
    expect(notices.map(({ context }) => context?.execution)).toEqual([
      execution?.metadata.name,
      execution?.metadata.name,
    ]);
    expect(await world.executions()).toHaveLength(1);
  }, 120_000);
});

describe("an orchestrator whose lock backend does not respond", () => {
  let world: OrchestratorWorld;
  afterEach(() => world.close());

  it("starts nothing, and continues when the backend is back", async () => {
    world = await OrchestratorWorld.open();
    await world.executor();
    const { locks } = world;
    let isDown = true;
    const acquire: Locks["acquire"] = async (key, options) => {
      if (isDown) throw new CoordinationError("unavailable", "no response");
      return locks.acquire(key, options);
    };
    await world.orchestrator({ locks: { ...locks, acquire } });

    const name = await world.incident("disk");
    await world.passTime(5 * minute);
    expect(await world.executions()).toEqual([]);
    expect(await world.status(name)).toMatchObject({ phase: "Analyzing" });

    isDown = false;
    await world.passTime(10 * minute);
    expect(await world.status(name)).toMatchObject({ phase: "Executing" });
  });
});

describe("without a common lock", () => {
  let world: OrchestratorWorld;
  afterEach(() => world.close());

  it("orchestrators start one run at a time, and every incident ends", async () => {
    world = await OrchestratorWorld.open();
    await world.workflow({ workflowId: "tuned", parameters: { properties: { signal: { type: "string" } } } });
    world.rules.set({ ...diskRule, workflow: "tuned", parameters: { signal: "{{ signalName }}" } });
    await world.executor();
    for (let i = 0; i < 3; i++) {
      await world.orchestrator({ locks: memoryLocks({ clock: world.clock, random: systemRandom(), who: `${i}` }) });
    }

    const drafts = Array.from({ length: 6 }, (_, i) => world.draft(`disk-${i}`, { signalName: `Disk${i}` }));
    await Promise.all(drafts.map((draft) => world.client.create(remediationRequests, draft)));
    await world.settle();

    for (let done = 0; done < 6; done++) {
      const running = (await world.executions()).filter(({ status }) => status?.phase === "Running");
      expect(running).toHaveLength(1);
      await world.reportRun("True");
      await world.passTime(5 * minute + 10);
    }
    expect((await world.executions()).filter(({ status }) => status?.phase === "Completed")).toHaveLength(6);
  });
});

describe("when an orchestrator crashes at any of its writes", () => {
  const deaths = Array.from({ length: 12 }, (_, i) => i + 1).flatMap((write): Death[] => [
    { write, when: "before" },
    { write, when: "after" },
  ]);

  it.each(deaths)(
    "($when write $write) another one continues: one run, one notice, all incidents closed",
    async (death) => {
      const world = await OrchestratorWorld.open();
      await world.executor();
      await world.orchestrator({ client: dyingClient(world.client, death) });
      const first = await world.incident("disk");
      const second = await world.incident("inodes", { signalName: "DiskInodes" });
      // A dead holder's lock in memory would never be given back: the next process has its own.
      const locks = memoryLocks({ clock: world.clock, random: systemRandom(), who: "next" });
      await world.orchestrator({ locks });
      await world.passTime(1_000);

      await world.reportRun("True");
      await world.passTime(20 * minute);

      for (const name of [first, second]) {
        expect(await world.status(name)).toMatchObject({ phase: "Completed" });
        expect(world.eventTypes(name).filter((type) => type === "incident.closed")).toHaveLength(1);
      }
      expect(await world.executions()).toHaveLength(1);
      expect((await world.notices()).map(({ spec }) => spec.context?.entries?.length ?? 0).toSorted()).toEqual([0, 1]);
      await world.close();
    },
  );
});

async function phases(world: OrchestratorWorld): Promise<readonly (string | undefined)[]> {
  return (await world.client.list(remediationRequests)).items.map(({ status }) => status?.phase);
}

function decisions(world: OrchestratorWorld): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  const ids = new Map(world.ledger.events().map((event) => [event.id, event]));
  for (const { type, facts } of ids.values()) {
    if (type === "incident.decided") counts[`${facts["verdict"]}`] = (counts[`${facts["verdict"]}`] ?? 0) + 1;
  }
  return counts;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(20);
}
