import { memoryLocks } from "../../src/coordination/index.ts";
import { type Gateway, type OccurrenceLog, openFileOccurrenceLog, startGateway } from "../../src/gateway/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { builtInKinds, defaultFingerprintFields, fixedKinds, installCrds } from "../../src/resources/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { GatewayHistory } from "./gateway-history.ts";
import { type Desk, GatewaySenders } from "./gateway-senders.ts";
import { Violation } from "./lock-history.ts";
import type { SimResult } from "./lock-sim.ts";
import { Replicas } from "./replicas.ts";
import { SimDisk } from "./sim-disk.ts";
import { SimServer } from "./sim-server.ts";
import { type Process, World } from "./world.ts";

/** What a mutant spoils. `truth` is the server without the network between. */
export interface GatewayMutation {
  readonly client?: (client: KubeClient, truth: KubeClient) => KubeClient;
  readonly occurrenceLog?: (occurrenceLog: OccurrenceLog) => OccurrenceLog;
  readonly ledger?: (ledger: Ledger) => Ledger;
  readonly gateway?: (gateway: Gateway) => Pick<Gateway, "admitAll">;
}

export interface GatewaySimOptions {
  readonly replicas?: number;
  readonly troubleMs?: number;
  readonly mutation?: GatewayMutation;
}

/** Longer than the wait of any earlier request. */
const restMs = 60_000;

/** One run: senders report a few problems to gateways, with faults; then everything heals and all accepted signals must be stored. */
export async function simulateGateway(
  seed: number,
  faults = new Map<string, number>(),
  { replicas, troubleMs = 40_000, mutation = {} }: GatewaySimOptions = {},
): Promise<SimResult> {
  const world = new World(seed, faults);
  const server = new SimServer(world);
  const history = new GatewayHistory(world);
  await installCrds(server.cluster.client());
  server.cluster.witness("remediationrequests.kubernaut.ai", (change) => history.incident(change));
  const gateways = new Gateways(server, history, mutation);
  const crew = new Replicas(world, server, {
    name: "gateway",
    count: replicas ?? world.chance.whole(2, 4),
    start: (process, place) => gateways.start(process, place),
    hurry: ["remediationrequests.kubernaut.ai"],
    longestPauseMs: 8_000,
  });
  const senders = new GatewaySenders({ world, server, history, desks: () => gateways.desks() });
  try {
    await world.run(troubleMs, () => history.check());
    senders.end();
    crew.heal();
    server.heal();
    gateways.heal();
    await world.run(troubleMs + restMs, () => history.check());
    history.atRest(server.ledger.events());
    return { steps: world.steps, grants: history.acknowledged, lost: 0, violation: undefined };
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return { steps: world.steps, grants: history.acknowledged, lost: 0, violation: error.message };
  }
}

/** The gateways. Some places have a disk for an occurrence log, which the next process finds there. */
class Gateways {
  readonly #server: SimServer;
  readonly #history: GatewayHistory;
  readonly #mutation: GatewayMutation;
  readonly #disks = new Map<number, SimDisk | undefined>();
  readonly #withDisk: number;
  #desks: Desk[] = [];

  constructor(server: SimServer, history: GatewayHistory, mutation: GatewayMutation) {
    this.#server = server;
    this.#history = history;
    this.#mutation = mutation;
    this.#withDisk = server.world.chance.pick([0, 0.5, 1, 1]);
  }

  desks(): readonly Desk[] {
    this.#desks = this.#desks.filter(({ process }) => !process.dead);
    return this.#desks;
  }

  heal(): void {
    for (const disk of this.#disks.values()) disk?.heal();
  }

  start(process: Process, place: number): () => void {
    const disk = this.#diskOf(place);
    if (!disk) this.#begin(process, process.name, undefined);
    else void this.#beginWith(disk, process, place);
    return () => {
      this.#history.interrupted(process.name);
      disk?.abandon();
    };
  }

  async #beginWith(disk: SimDisk, process: Process, place: number) {
    // A process that cannot open it dies and is started again.
    const open = (): Promise<OccurrenceLog> =>
      openFileOccurrenceLog({
        ...{ directory: "/lossy", clock: process.clock, log: silentLogger },
        // Small, so that one follows the other.
        segmentBytes: 2_000,
        openDisk: async () => disk.open(process, () => this.#history.interrupted(process.name)),
      }).catch(open);
    const occurrenceLog = await open();
    const { occurrenceLog: spoil = same } = this.#mutation;
    this.#begin(process, `place-${place}`, spoil(occurrenceLog));
  }

  #begin(process: Process, writer: string, occurrenceLog: OccurrenceLog | undefined) {
    const { clock } = process;
    const { chance } = this.#server.world;
    const { client: spoilClient = same, ledger: spoilLedger = same, gateway: spoil = same } = this.#mutation;
    const gateway = startGateway({
      ...{
        writer,
        occurrenceLog,
        clock,
        random: chance,
        log: silentLogger,
        metrics: promMetrics(),
        kinds: fixedKinds(builtInKinds),
      },
      client: spoilClient(this.#clientOf(process), this.#server.cluster.client()),
      // Each has its own: locks save work, and nothing may depend on them.
      locks: memoryLocks({ clock, random: chance, who: process.name }),
      ledger: spoilLedger(this.#server.ledgerOf(process)),
      settings: {
        ...{ namespace: "default", fingerprintFields: defaultFingerprintFields, scope: "all" },
        ...{ flushMs: 1_000, lockWaitMs: 2_000, lookupTimeoutMs: 2_000 },
        ...{ maxOpenIncidents: 10_000, maxOpenIncidentsPerSender: 10_000 },
      },
    });
    this.#desks.push({ process, gateway: spoil(gateway) });
  }

  /** A client that gets no response to a write may repeat it. */
  #clientOf(process: Process): KubeClient {
    const client = this.#server.clientOf(process);
    const unanswered = (error: unknown) => {
      this.#history.interrupted(process.name);
      throw error;
    };
    return {
      ...client,
      create: (type, object, call) => client.create(type, object, call).catch(unanswered),
      patch: (type, ref, patch, call) => client.patch(type, ref, patch, call).catch(unanswered),
    };
  }

  #diskOf(place: number): SimDisk | undefined {
    const { world } = this.#server;
    if (!this.#disks.has(place)) {
      this.#disks.set(place, world.chance.happens(this.#withDisk) ? new SimDisk(world) : undefined);
    }
    return this.#disks.get(place);
  }
}

function same<T>(honest: T): T {
  return honest;
}
