import { locksOver } from "../../src/coordination/locks/lock-table.ts";
import type { LinkListener, LockLink, LockOperation, Replies } from "../../src/coordination/redis/lock-link.ts";
import { RedisLockStore } from "../../src/coordination/redis/redis-lock-store.ts";
import { Agenda } from "../../src/time/index.ts";
import { type Deleted, maxTtlMs } from "./lock-history.ts";
import type { Mutate } from "./lock-mutants.ts";
import { keys, type LockBackend } from "./lock-sim.ts";
import { RedisModel } from "./redis-model.ts";
import type { Process, World } from "./world.ts";

const commandTimeoutMs = 1_000;

export interface RedisBackendOptions {
  readonly mutate?: Mutate;
  readonly releaseWithoutOwnerCheck?: boolean;
  /** Compare clients with one another alone: for mutants that write something else into the store. */
  readonly storeIsNoYardstick?: boolean;
  /** Messages still take their time, but nothing goes wrong. */
  readonly calm?: boolean;
}

/** One Redis and the network around it. */
export function redisBackend(world: World, options: RedisBackendOptions = {}): LockBackend {
  const server = new Server(world);
  const { mutate = (store) => store } = options;
  if (options.calm) server.heal();
  server.model.releaseWithoutOwnerCheck = options.releaseWithoutOwnerCheck ?? false;
  return {
    truth: {
      holderOf: (key) => server.model.holderOf(key),
      endingOf: (holder) => server.model.endings.get(holder),
      get untrusted() {
        return server.incomplete || options.storeIsNoYardstick === true;
      },
    },
    open(process) {
      const clientId = world.chance.id();
      const { clock } = process;
      const link = new SimulatedLink(world, server, process, clientId);
      const agenda = new Agenda(clock, 4);
      const store = new RedisLockStore({ clock, random: world.chance, agenda, link, who: process.name });
      return locksOver(mutate(store, process), { clock, random: world.chance, who: process.name, clientId });
    },
    strike: () => server.strike(),
    heal: () => server.heal(),
  };
}

class Server {
  readonly model: RedisModel;
  readonly connections = new Set<Connection>();
  /** Holders renew what a restarted server does not have, and nothing is granted meanwhile: its record misses them. */
  get incomplete(): boolean {
    return this.#lostData || (this.#restarts > 0 && this.#deleted);
  }
  #lostData = false;
  #deleted = false;
  faulty = true;
  runId = "run-0";
  up = true;
  #startedAt = -1e9;
  #restarts = 0;
  readonly #rate: number;
  readonly #world: World;
  /** Each seed draws its own mix of faults, so that rare combinations are common in some run. */
  readonly odds: { slow: number; requestLost: number; replyLost: number; pushLost: number; pushTwice: number };

  constructor(world: World) {
    const { chance } = world;
    this.#world = world;
    this.#rate = 1 + chance.between(-0.002, 0.002);
    this.model = new RedisModel(
      () => 1_700_000_000_000 + world.now * this.#rate,
      (clientId, message) => this.#publish(clientId, message),
    );
    const odds = (most: number) => (chance.happens(0.5) ? chance.between(0, most) : 0);
    this.odds = {
      slow: odds(0.1),
      requestLost: odds(0.05),
      replyLost: odds(0.05),
      pushLost: odds(0.2),
      pushTwice: odds(0.2),
    };
  }

  get upMs(): number {
    return Math.floor((this.#world.now - this.#startedAt) / 1_000) * 1_000;
  }

  chance(fault: "slow" | "requestLost" | "replyLost" | "pushLost" | "pushTwice", name: string): boolean {
    if (!this.faulty || !this.#world.chance.happens(this.odds[fault])) return false;
    this.#world.struck(name);
    return true;
  }

  delay(): number {
    const { chance } = this.#world;
    return this.chance("slow", "delayed message") ? chance.between(5, 2 * maxTtlMs) : chance.between(0.05, 3);
  }

  strike(): Deleted | undefined {
    const { chance } = this.#world;
    const connection = chance.pick([...this.connections]);
    const kind = chance.whole(0, 9);
    if (kind === 8) {
      const key = chance.pick(keys);
      this.#world.struck("lock deleted by a third party");
      this.#deleted = true;
      return this.model.deleteLock(key);
    }
    if (kind <= 2 && connection) {
      this.#world.struck("connection cut");
      connection.cut();
    } else if (kind <= 5 && connection) {
      this.#world.struck("black hole");
      connection.blackHoled = true;
    } else if (kind === 6) {
      this.#restart(true);
    } else if (kind === 7) {
      this.#restart(false);
    }
    return undefined;
  }

  heal(): void {
    this.faulty = false;
  }

  #restart(losesData: boolean) {
    this.#world.struck(losesData ? "store restart, data lost" : "store restart, data kept");
    if (losesData) {
      this.#lostData = true;
      this.model.forgetEverything();
    }
    this.runId = `run-${++this.#restarts}`;
    this.up = false;
    for (const connection of [...this.connections]) connection.cut();
    this.#world.in(this.#world.chance.between(10, 2_000), () => {
      this.up = true;
      this.#startedAt = this.#world.now;
    });
  }

  #publish(clientId: string, message: string): boolean {
    let received = false;
    for (const connection of this.connections) {
      if (connection.clientId !== clientId || !connection.serverOpen) continue;
      received = true;
      if (this.chance("pushLost", "push lost")) continue;
      connection.push(message);
      if (this.chance("pushTwice", "push duplicated")) connection.push(message);
    }
    return received;
  }
}

/** A TCP connection: in order both ways, lost as a whole, and each end learns of that in its own time. */
class Connection {
  readonly clientId: string;
  clientOpen = true;
  serverOpen = true;
  blackHoled = false;
  readonly #world: World;
  readonly #server: Server;
  readonly #link: SimulatedLink;
  #toServerAt = 0;
  #toClientAt = 0;

  constructor(world: World, server: Server, link: SimulatedLink, clientId: string) {
    this.#world = world;
    this.#server = server;
    this.#link = link;
    this.clientId = clientId;
    server.connections.add(this);
  }

  toServer(run: () => void): void {
    this.#toServerAt = Math.max(this.#toServerAt, this.#world.now + this.#server.delay());
    this.#world.at(this.#toServerAt, () => {
      if (this.serverOpen && !this.blackHoled && this.#server.up) run();
    });
  }

  toClient(run: () => void): void {
    this.#toClientAt = Math.max(this.#toClientAt, this.#world.now + this.#server.delay());
    this.#world.at(this.#toClientAt, () => {
      if (this.blackHoled) return;
      this.#link.process.handle(() => {
        if (this.clientOpen) run();
      });
    });
  }

  push(message: string): void {
    this.toClient(() => this.#link.pushed(message));
  }

  /** Both ends lose it: the client soon, the server perhaps much later (a half-open connection still counts as a listener). */
  cut(): void {
    if (!this.#server.up) this.serverOpen = false;
    this.#world.in(this.#world.chance.between(0, 5), () => {
      this.#link.process.handle(() => this.#link.lost(this));
    });
    this.closeServerSide();
  }

  closeServerSide(): void {
    this.#world.in(this.#world.chance.happens(0.5) ? 0 : this.#world.chance.between(0, 4_000), () => {
      this.serverOpen = false;
      this.#server.connections.delete(this);
    });
  }
}

class SimulatedLink implements LockLink {
  isUp = false;
  readonly process: Process;
  readonly #world: World;
  readonly #server: Server;
  readonly #clientId: string;
  #listener: LinkListener | undefined;
  #connection: Connection | undefined;
  #inFlight = new Set<(cause: Error) => void>();
  #closed = false;

  constructor(world: World, server: Server, process: Process, clientId: string) {
    this.#world = world;
    this.#server = server;
    this.process = process;
    this.#clientId = clientId;
    this.#connect();
  }

  listen(listener: LinkListener): void {
    this.#listener = listener;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.isUp = false;
    if (this.#connection) this.#connection.clientOpen = false;
    this.#connection?.closeServerSide();
  }

  send(operations: readonly LockOperation[]): Promise<Replies> {
    const connection = this.#connection;
    if (!this.isUp || !connection) return Promise.reject(new Error("not connected"));
    return new Promise((resolve, reject) => {
      const fail = (cause: Error) => {
        this.#inFlight.delete(fail);
        timer.cancel();
        reject(cause);
      };
      const timer = this.process.clock.after(commandTimeoutMs, () => {
        fail(new Error("command timed out"));
        this.lost(connection);
        connection.closeServerSide();
      });
      this.#inFlight.add(fail);
      if (this.#server.chance("requestLost", "request lost")) return connection.cut();
      connection.toServer(() => {
        const replies = this.#server.model.execute(operations);
        if (this.#server.chance("replyLost", "reply lost")) return connection.cut();
        connection.toClient(() => {
          this.#inFlight.delete(fail);
          timer.cancel();
          resolve(replies);
        });
      });
    });
  }

  pushed(message: string): void {
    this.#listener?.push(message);
  }

  lost(connection: Connection): void {
    if (this.#connection !== connection) return;
    connection.clientOpen = false;
    this.#connection = undefined;
    const wasUp = this.isUp;
    this.isUp = false;
    if (wasUp) this.#listener?.down();
    for (const fail of [...this.#inFlight]) fail(new Error("connection lost"));
    this.process.clock.after(this.#world.chance.between(20, 300), () => this.#connect());
  }

  #connect() {
    if (this.#closed) return;
    const retry = () => this.process.clock.after(this.#world.chance.between(20, 300), () => this.#connect());
    if (!this.#server.up) return void retry();
    const connection = new Connection(this.#world, this.#server, this, this.#clientId);
    this.#connection = connection;
    const timer = this.process.clock.after(commandTimeoutMs, () => {
      this.lost(connection);
      connection.closeServerSide();
    });
    connection.toServer(() => {
      this.#server.model.enter(this.#server.runId, maxTtlMs, this.#server.upMs);
      connection.toClient(() => {
        timer.cancel();
        this.isUp = true;
        this.#listener?.up();
      });
    });
  }
}
