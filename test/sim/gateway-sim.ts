import { memoryLocks } from "../../src/coordination/index.ts";
import type { Disk } from "../../src/disk/index.ts";
import { type Gateway, type GatewayOptions, openFileJournal, startGateway } from "../../src/gateway/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import {
  builtInKinds,
  defaultFingerprintFields,
  installCrds,
  executionNamespace as namespace,
  type RemediationRequest,
  remediationRequests,
  type Signal,
} from "../../src/resources/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { Dice } from "../chaos/dice.ts";
import { LossyDisk } from "../durability/lossy-disk.ts";
import { ExecutorServer } from "./executor-server.ts";
import { Violation } from "./lock-history.ts";
import type { SimResult } from "./lock-sim.ts";
import { Process, World } from "./world.ts";

/** What a gateway acts with; a mutant spoils it. */
export type MutateGateway = (options: GatewayOptions) => GatewayOptions;

const settings: GatewayOptions["settings"] = {
  ...{ namespace, fingerprintFields: defaultFingerprintFields, scope: "all" as const },
  ...{ flushMs: 1_000, lockWaitMs: 500, lookupTimeoutMs: 2_000 },
};
const troubleMs = 30_000;
const restMs = 120_000;

/** One run: gateways that die and come back on disks that lose what was not synced, and senders who insist. */
export async function simulateGateway(
  seed: number,
  faults = new Map<string, number>(),
  mutate: MutateGateway = (options) => options,
): Promise<SimResult> {
  const world = new World(seed, faults);
  const server = new ExecutorServer(world);
  const truth = server.cluster.client();
  await installCrds(truth);
  const open = new OpenIncidents(server);
  const openers = new Openers();
  const replicas = Array.from(
    { length: world.chance.whole(1, 3) },
    (_, i) => new Replica(world, server, { i, mutate, openers }),
  );
  const senders = new Senders(world, replicas);
  const trouble = new Trouble(world, server, { replicas, truth });
  const result = (violation?: string) => ({ steps: world.steps, grants: senders.accepted, lost: 0, violation });
  try {
    await world.run(troubleMs, () => open.check());
    trouble.end();
    server.heal();
    await world.run(troubleMs + restMs, () => open.check());
    senders.check((await truth.list(remediationRequests, { namespace })).items, openers);
    return result();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return result(error.message);
  }
}

/** Never two open incidents of one fingerprint. */
class OpenIncidents {
  readonly #open = new Map<string, Set<string>>();
  #violation: Violation | undefined;

  constructor({ cluster }: ExecutorServer) {
    cluster.witness("remediationrequests.kubernaut.ai", ({ do: what, entry }) => {
      const { spec, status, metadata } = entry.object as RemediationRequest;
      const open = this.#open.get(spec.signalFingerprint) ?? new Set();
      this.#open.set(spec.signalFingerprint, open);
      if (what === "put" && status?.phase !== "Completed") open.add(metadata.name ?? "");
      else open.delete(metadata.name ?? "");
      if (open.size > 1) this.#violation ??= new Violation("G1 one open incident", [...open].join(" and "));
    });
  }

  check(): void {
    if (this.#violation) throw this.#violation;
  }
}

/** Who tried to create which incident. */
class Openers {
  readonly #writers = new Map<string, Set<string>>();

  noting(client: KubeClient, writer: string): KubeClient {
    return {
      ...client,
      create: (type, object, call) => {
        const { name = "" } = object.metadata;
        this.#writers.set(name, (this.#writers.get(name) ?? new Set()).add(writer));
        return client.create(type, object, call);
      },
    };
  }

  /** What an incident was opened with stays its own. If it is closed before that was written, its status does not say so. */
  mayNotHaveWritten({ metadata, status }: RemediationRequest): boolean {
    const written = status?.deduplication?.occurrencesByWriter ?? {};
    const openers = [...(this.#writers.get(metadata.name ?? "") ?? [])];
    return status?.phase === "Completed" && openers.some((writer) => !(writer in written));
  }
}

interface ReplicaPlan {
  readonly i: number;
  readonly mutate: MutateGateway;
  readonly openers: Openers;
}

/** One gateway over all of its lives, each on what the last has left on disk. */
class Replica {
  gateway: Gateway | undefined;
  readonly #world: World;
  readonly #server: ExecutorServer;
  readonly #i: number;
  readonly #mutate: MutateGateway;
  readonly #openers: Openers;
  readonly #disk: LossyDisk;
  readonly #hasJournal: boolean;
  #process: Process | undefined;
  #lives = 0;

  constructor(world: World, server: ExecutorServer, { i, mutate, openers }: ReplicaPlan) {
    this.#world = world;
    this.#server = server;
    this.#i = i;
    this.#mutate = mutate;
    this.#openers = openers;
    this.#disk = new LossyDisk(new Dice(world.chance.whole(1, 1e9)));
    this.#hasJournal = world.chance.happens(0.7);
    void this.#live();
  }

  crash(): void {
    this.#process?.kill();
    this.gateway = undefined;
    if (this.#world.chance.happens(0.5)) this.#disk.cutPower();
    else this.#disk.kill();
    this.#world.in(this.#world.chance.between(1, 3_000), () => void this.#live());
  }

  pause(ms: number): void {
    this.#process?.pause(ms);
  }

  async #live() {
    const { chance } = this.#world;
    const life = ++this.#lives;
    const offsetMs = chance.between(-3_600_000, 3_600_000);
    const process = new Process(this.#world, `gateway-${this.#i}-${life}`, { offsetMs, rate: 1 });
    this.#process = process;
    const [clock, log] = [process.clock, silentLogger];
    const disk = this.#slow(this.#disk.open().disk, process);
    const journal = this.#hasJournal
      ? await openFileJournal({ directory: "/lossy", clock, log, segmentBytes: 2_000, openDisk: async () => disk })
      : undefined;
    if (process.dead) return;
    // Without a journal nobody could go on with the figures of an earlier life.
    const writer = journal ? `gw-${this.#i}` : `gw-${this.#i}-${life}`;
    const client = this.#openers.noting(this.#server.clientOf(process), writer);
    this.gateway = startGateway(
      this.#mutate({
        ...{
          client,
          clock,
          log,
          settings,
          journal,
          random: chance,
          kinds: builtInKinds,
          metrics: promMetrics(),
          writer,
        },
        locks: memoryLocks({ clock, random: chance, who: process.name }),
        ledger: this.#server.ledgerOf(process),
      }),
    );
  }

  /** A disk takes its time, and a process may die before it is told. */
  #slow(disk: Disk, process: Process): Disk {
    const late = <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) => {
      return async (...args: Args): Promise<T> => {
        await new Promise<void>((resolve) => this.#world.in(this.#world.chance.between(0.1, 20), resolve));
        const answer = await this.#whileTimePasses(process, call(...args));
        await new Promise<void>((resolve) => process.handle(resolve));
        return answer;
      };
    };
    const { directory, names, open, rename, remove, sync, close } = disk;
    return {
      ...{ directory, names: late(names), rename: late(rename), remove: late(remove), sync: late(sync), close },
      open: late(async (name, mode) => {
        const { size, read, write, truncate, sync: syncFile, close: closeFile } = await open(name, mode);
        return {
          ...{ size: late(size), read: late(read), write: late(write), truncate: late(truncate) },
          ...{ sync: late(syncFile), close: late(closeFile) },
        };
      }),
    };
  }

  /** The disk takes turns of the event loop of which the world knows nothing: it has to go on meanwhile, in small steps. */
  async #whileTimePasses<T>(process: Process, work: Promise<T>): Promise<T> {
    let isOver = false;
    const turn = () => void (isOver || process.dead || this.#world.in(0.1, turn));
    turn();
    return work.finally(() => {
      isOver = true;
    });
  }
}

/** They send again until they are told that it was kept. */
class Senders {
  accepted = 0;
  readonly #world: World;
  readonly #replicas: readonly Replica[];
  readonly #sent = new Map<string, { accepted: number; unsure: number; waiting: number }>();

  constructor(world: World, replicas: readonly Replica[]) {
    this.#world = world;
    this.#replicas = replicas;
    const { chance } = world;
    for (let i = chance.whole(20, 60); i > 0; i--) {
      const signals = Array.from({ length: chance.whole(1, 6) }, () => chance.whole(1, 3));
      for (const node of signals) this.#of(node).waiting++;
      world.in(chance.between(0, troubleMs), () => void this.#send(signals));
    }
  }

  /** What was accepted is counted; what was sent without an answer is counted at most once for each time it was sent. */
  check(incidents: readonly RemediationRequest[], openers: Openers): void {
    for (const [node, { accepted, unsure, waiting }] of this.#sent) {
      const own = incidents.filter(({ spec }) => spec.targetResource.name === node);
      const total = own.reduce((sum, { status }) => sum + (status?.deduplication?.occurrenceCount ?? 0), 0);
      const told = `${accepted} were accepted and ${unsure} sent in vain on ${node}, ${total} are counted`;
      if (waiting > 0) throw new Violation("G2 liveness", `${waiting} signals on ${node} were never accepted`);
      const isAllSaid = !own.some((incident) => openers.mayNotHaveWritten(incident));
      if (total < accepted && isAllSaid) throw new Violation("G3 nothing lost", told);
      if (total > accepted + unsure) throw new Violation("G4 counted once", told);
    }
  }

  async #send(nodes: readonly number[]): Promise<void> {
    const { chance } = this.#world;
    const { gateway } = chance.pick(this.#replicas);
    const again = (left: readonly number[]) => {
      if (left.length > 0) this.#world.in(chance.between(100, 3_000), () => void this.#send(left));
    };
    if (!gateway?.isReady) return again(nodes);
    const answers = await Promise.race([gateway.admitAll(nodes.map((node) => this.#signal(node))), this.#patience()]);
    const left = nodes.filter((node, i) => {
      const kind = answers?.[i]?.kind ?? "failed";
      if (kind === "failed") this.#of(node).unsure++;
      else this.#accept(node, kind);
      return kind === "failed";
    });
    again(left);
  }

  #accept(node: number, kind: string) {
    if (kind !== "created" && kind !== "counted") throw new Error(`a signal that fires was ${kind}`);
    const sent = this.#of(node);
    sent.accepted++;
    sent.waiting--;
    this.accepted++;
  }

  #patience(): Promise<undefined> {
    return new Promise((resolve) => this.#world.in(20_000, () => resolve(undefined)));
  }

  #of(node: number) {
    const name = `worker-${node}`;
    const known = this.#sent.get(name) ?? { accepted: 0, unsure: 0, waiting: 0 };
    this.#sent.set(name, known);
    return known;
  }

  #signal(node: number): Signal {
    const firingAt = new Date(1_700_000_000_000 + this.#world.now).toISOString();
    return {
      ...{ status: "firing", source: "alertmanager", name: "DiskFull", severity: "critical", series: `s${node}` },
      ...{ subject: { kind: "Node", name: `worker-${node}` }, labels: {}, annotations: {}, firingAt, payload: {} },
    };
  }
}

/** Crashes, pauses, a server that falters, and an orchestrator that closes incidents. */
class Trouble {
  #ended = false;

  constructor(
    world: World,
    server: ExecutorServer,
    { replicas, truth }: { replicas: readonly Replica[]; truth: KubeClient },
  ) {
    const pace = world.chance.between(300, 5_000);
    const plan = () =>
      world.in(pace * world.chance.between(0.2, 2), () => {
        if (this.#ended) return;
        void this.#strike(world, server, replicas, truth);
        plan();
      });
    plan();
  }

  end(): void {
    this.#ended = true;
  }

  async #strike(world: World, server: ExecutorServer, replicas: readonly Replica[], truth: KubeClient) {
    const { chance } = world;
    const victim = chance.pick(replicas);
    switch (chance.whole(0, 4)) {
      case 0:
        world.struck("pause");
        return victim.pause(chance.between(1, 8_000));
      case 1:
        if (!victim.gateway) return;
        world.struck("crash");
        return victim.crash();
      case 2:
        return server.falter();
      default:
        return await this.#close(world, truth);
    }
  }

  async #close(world: World, truth: KubeClient) {
    const { items } = await truth.list(remediationRequests, { namespace });
    const open = items.filter(({ status }) => status?.phase !== "Completed");
    if (open.length === 0) return;
    world.struck("incident closed");
    const { name = "" } = world.chance.pick(open).metadata;
    const status = {
      phase: "Completed",
      outcome: "Remediated",
      completedAt: new Date(1_700_000_000_000).toISOString(),
    };
    await truth.patch(remediationRequests, { namespace, name }, { merge: { status } }, { subresource: "status" });
  }
}
