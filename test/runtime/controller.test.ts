import { describe, expect, it } from "vitest";
import type { KubeClient, KubeObject, ResourceType } from "../../src/kube/index.ts";
import { Controller, keysFrom } from "../../src/kube/runtime/controller.ts";
import { informer } from "../../src/kube/runtime/informer.ts";
import { sleep } from "../../src/time/index.ts";
import { ApiServer, namespace } from "../sim/kube-network.ts";
import { Process, World } from "../sim/world.ts";

describe("a controller behind a bad network", () => {
  it("has reconciled the last state of every object, in seeds 1 to 500", { timeout: 60_000 }, async () => {
    const violations: string[] = [];
    let looks = 0;
    for (let seed = 1; seed <= 500; seed++) {
      const result = await simulateController(seed);
      looks += result.looks;
      for (const violation of result.violations) violations.push(`seed ${seed}: ${violation}`);
    }

    console.log(`controller: 500 seeds, ${looks} runs of reconcile`);
    expect(violations).toEqual([]);
    expect(looks).toBeGreaterThan(5_000);
  });
});

const things: ResourceType = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const names = ["a", "b", "c", "d", "e"];

/** Runs that take their time, fail, and sometimes never end; a server and a process that falter. */
async function simulateController(seed: number) {
  const world = new World(seed);
  const { chance } = world;
  const server = new ApiServer(world);
  const process = new Process(world, "controller", { offsetMs: 0, rate: 1 });
  const { clock } = process;
  const stop = new AbortController();
  const violations: string[] = [];
  const working = new Set<string>();
  const stuck = new Set<string>();
  const lastSeen = new Map<string, string>();
  let looks = 0;
  let peace = false;

  const informed = informer({
    ...{ client: server.clientOf(process), type: things, query: { namespace }, clock, random: chance },
    ...{ signal: stop.signal, problem() {}, silenceMs: 3_000, backoff: { baseMs: 20, maxMs: 500, jitter: 0.5 } },
  });
  const controller = new Controller({
    name: "sim",
    sources: [keysFrom(informed, ({ metadata }) => [metadata.name as string])],
    async reconcile(name) {
      looks++;
      if (working.has(name)) violations.push(`two at work on ${name}`);
      working.add(name);
      const seen = titleOf(informed.get({ namespace, name }));
      await sleep(clock, chance.between(1, 60));
      if (!peace && chance.happens(0.01)) {
        stuck.add(name);
        await new Promise(() => {});
      }
      working.delete(name);
      if (!peace && chance.happens(0.2)) throw new Error("try again");
      lastSeen.set(name, seen);
      return chance.happens(0.1) ? chance.between(0, 200) : undefined;
    },
    ...{ clock, random: chance, problem() {}, concurrency: 2, stuckAfterMs: 500 },
    backoff: { baseMs: 20, maxMs: 500, jitter: 0.5 },
  });

  const write = () => {
    if (peace) return;
    void writeSomething(server.cluster.client(), world);
    world.in(chance.between(1, 60), write);
  };
  const strike = () => {
    if (peace) return;
    if (chance.happens(0.3)) process.pause(chance.between(1, 1_000));
    else server.falter();
    world.in(chance.between(20, 500), strike);
  };
  write();
  strike();
  while (world.steps < 200) await world.run(world.now + 50, () => {});
  peace = true;
  server.heal();
  await world.run(world.now + 15_000, () => {});

  for (const name of names) {
    const stored = titleOf(await server.cluster.client().get(things, { namespace, name }));
    const seen = lastSeen.get(name) ?? "nothing";
    // Who is stuck stalls its own key, and only that.
    if (!stuck.has(name) && seen !== stored) violations.push(`${name} is ${stored}, last seen was ${seen}`);
  }
  const left = controller.stop({ deadlineMs: 1_000 });
  stop.abort();
  await world.run(world.now + 5_000, () => {});
  if ([...(await left)].sort().join() !== [...stuck].sort().join()) violations.push(`stop left ${await left}`);
  return { looks, violations };
}

async function writeSomething(client: KubeClient, { chance }: World) {
  const metadata = { name: chance.pick(names), namespace };
  const object = { metadata, data: { value: chance.id() } };
  if (chance.happens(0.2)) await client.delete(things, metadata);
  else if ((await client.create(things, object)).kind === "already-exists") await client.update(things, object);
}

function titleOf(object: KubeObject | undefined): string {
  return object ? `${object.metadata.uid}@${object.metadata.resourceVersion}` : "nothing";
}
