import { CoordinationError, isCoordinationError } from "../../src/coordination/errors.ts";
import { keyOf } from "../../src/coordination/key.ts";
import { kubernetesWatermarks } from "../../src/coordination/kubernetes/kubernetes-watermarks.ts";
import { memoryWatermarks } from "../../src/coordination/memory/memory-watermarks.ts";
import { openWatermark, type WatermarkStore } from "../../src/coordination/watermarks/watermarks.ts";
import { sleep } from "../../src/time/index.ts";
import { ApiServer, namespace } from "./kube-network.ts";
import { Violation } from "./lock-history.ts";
import type { SimResult } from "./lock-sim.ts";
import { Network } from "./network.ts";
import { Process, World } from "./world.ts";

/** A kind of watermark store under simulation. `stored` is the truth, read past the network. */
export interface WatermarkBackend {
  readonly stored: WatermarkStore;
  open(process: Process): WatermarkStore;
  strike(): void;
  heal(): void;
}

const pollers = 5;
const fewestSteps = 220;
const overlapMs = 2_000;
const stream = keyOf("gitlab", "gitlab.example.com", 42, "merge_requests");
/** The source's clock at the beginning of the run. */
const epochMs = 1_750_000_000_000;

interface Item {
  readonly id: string;
  readonly updatedAt: string;
  readonly atMs: number;
  /** Transactions commit late: an item shows up after its time, though never by more than the overlap. */
  readonly visibleAt: number;
}

/** Several pollers of one stream that crash and stall, and items that fail for a while: none is ever skipped. */
export async function simulateWatermarks(
  seed: number,
  makeBackend: (world: World) => WatermarkBackend,
  faults = new Map<string, number>(),
): Promise<SimResult> {
  const world = new World(seed, faults);
  const backend = makeBackend(world);
  const source = new Source(world);
  const processes: Process[] = [];
  let peace = false;
  let open = true;
  let broken: unknown;
  let reached = 0;

  const check = () => {
    if (broken) throw broken;
  };
  const inspect = async () => {
    const record = await backend.stored.read(stream);
    if (!record) return;
    const cursorMs = Date.parse(record.cursor.updatedAt);
    if (cursorMs < reached) throw new Violation("forward", `the watermark went back from ${reached} to ${cursorMs}`);
    reached = cursorMs;
    const skipped = source.items.find(({ id, atMs }) => !source.finished.has(id) && atMs < cursorMs - overlapMs);
    if (skipped) throw new Violation("no item lost", `item ${skipped.id} is not finished, and will never be polled`);
  };
  const hire = (name: string) => {
    const offsetMs = world.chance.between(-3_600_000, 3_600_000);
    const process = new Process(world, name, { offsetMs, rate: 1 + world.chance.between(-0.01, 0.01) });
    world.struck("clock skew and drift");
    processes.push(process);
    void poll(process, backend.open(process), source, () => open).catch((error) => {
      broken ??= error;
    });
  };
  const strike = () => {
    if (peace) return;
    const { chance } = world;
    const victim = chance.pick(processes.filter(({ dead }) => !dead));
    const kind = chance.whole(0, 9);
    if (kind <= 3) {
      world.struck("pause");
      victim.pause(chance.between(1, 10_000));
    } else if (kind <= 5) {
      world.struck("crash");
      victim.kill();
      world.in(chance.between(1, 2_000), () => hire(`${victim.name}'`));
    } else backend.strike();
    world.in(chance.between(50, 2_000), strike);
  };

  try {
    for (let i = 0; i < pollers; i++) hire(`p${i}`);
    world.in(300, strike);
    while (world.steps < fewestSteps) {
      await world.run(world.now + 500, check);
      await inspect();
    }
    // With all faults over, everything that ever happened is worked off, and the watermark follows.
    source.dry();
    peace = true;
    backend.heal();
    for (let turn = 0; turn < 120 && !source.allFinished(); turn++) {
      await world.run(world.now + 500, check);
      await inspect();
    }
    open = false;
    if (!source.allFinished()) throw new Violation("liveness", "with all faults over, an item was never finished");
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { steps: world.steps, grants: source.finished.size, lost: 0, violation: error.message };
  }
  return { steps: world.steps, grants: source.finished.size, lost: 0, violation: undefined };
}

async function poll(process: Process, store: WatermarkStore, source: Source, goesOn: () => boolean) {
  const { chance } = source.world;
  while (goesOn() && !process.dead) {
    await sleep(process.clock, chance.between(50, 800));
    if (process.dead) return;
    const serverDate = source.date();
    const options = { from: "all", serverDate, overlapMs } as const;
    const watermark = await openWatermark(store, stream, options).catch(expected);
    if (!watermark || process.dead) continue;

    const listed = source.list(Date.parse(watermark.queryFrom()));
    await sleep(process.clock, chance.between(1, 300));
    if (process.dead) return;
    for (const { id } of listed) if (chance.happens(0.7)) source.finished.add(id);
    const items = listed.map((item) => ({ ...item, finished: source.finished.has(item.id) }));
    await watermark.advance(items, serverDate).catch(expected);
  }
}

/** Something that is polled: its own clock, items that come and show up late. */
class Source {
  readonly world: World;
  readonly items: Item[] = [];
  readonly finished = new Set<string>();
  #flows = true;

  constructor(world: World) {
    this.world = world;
    this.#produce();
  }

  date(): Date {
    return new Date(epochMs + Math.floor(this.world.now));
  }

  list(fromMs: number): Item[] {
    return this.items.filter(({ atMs, visibleAt }) => atMs >= fromMs && visibleAt <= this.world.now);
  }

  dry(): void {
    this.#flows = false;
  }

  allFinished(): boolean {
    return this.items.every(({ id }) => this.finished.has(id));
  }

  #produce() {
    this.world.in(this.world.chance.between(20, 600), () => {
      if (!this.#flows) return;
      const atMs = epochMs + Math.floor(this.world.now);
      const visibleAt = this.world.now + this.world.chance.between(0, overlapMs - 1);
      const updatedAt = new Date(atMs).toISOString();
      this.items.push({ id: String(this.items.length), updatedAt, atMs, visibleAt });
      this.#produce();
    });
  }
}

export type MutateWatermarks = (store: WatermarkStore, world: World) => WatermarkStore;

/** A store that does everything in one step, as the Redis script does. */
export function oneStepWatermarks(world: World, mutate: MutateWatermarks = (store) => store): WatermarkBackend {
  const timedOut = () => new CoordinationError("unavailable", "the call timed out");
  const network = new Network(world, { timeoutMs: 1_000, timedOut });
  const stored = mutate(memoryWatermarks(), world);
  return {
    stored,
    open: (process) => ({
      guarantee: "single",
      read: (key) => network.call(process, () => stored.read(key)),
      write: (key, next, revision) => network.call(process, () => stored.write(key, next, revision)),
    }),
    strike() {
      world.struck("store silent");
      network.silence(world.chance.between(100, 4_000));
    },
    heal: () => network.heal(),
  };
}

/** Watermarks as ConfigMaps on an API server. */
export function kubernetesWatermarkBackend(world: World): WatermarkBackend {
  const server = new ApiServer(world);
  return {
    stored: kubernetesWatermarks({ client: server.cluster.client(), namespace }),
    open: (process) => kubernetesWatermarks({ client: server.clientOf(process), namespace }),
    strike: () => server.falter(),
    heal: () => server.heal(),
  };
}

/** Writes any value, regardless of the current one (no compare-and-swap). */
export const writesRegardless: MutateWatermarks = (store) => ({
  ...store,
  async write(key, next) {
    const current = await store.read(key);
    return store.write(key, next, current?.revision ?? "absent");
  },
});

/** Seed 002's poller: a restart begins at now, because nothing was kept. */
export const forgetsNowAndThen: MutateWatermarks = (store, world) => ({
  ...store,
  read: async (key) => (world.chance.happens(0.1) ? undefined : store.read(key)),
  async write(key, next, expected) {
    const current = await store.read(key);
    const cursor = expected === "absent" ? { updatedAt: new Date(epochMs + world.now).toISOString() } : next.cursor;
    return store.write(key, { ...next, cursor }, current?.revision ?? "absent");
  },
});

function expected(error: unknown): undefined {
  if (isCoordinationError(error, "unavailable") || isCoordinationError(error, "lost")) return undefined;
  throw error;
}
