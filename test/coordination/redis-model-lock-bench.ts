import { keyOf } from "../../src/coordination/key.ts";
import { locksOver } from "../../src/coordination/locks/lock-table.ts";
import type { Ability } from "../../src/coordination/locks/locks.contract.ts";
import type { Locks } from "../../src/coordination/locks/locks.ts";
import type { LinkListener, LockLink, LockOperation, Replies } from "../../src/coordination/redis/lock-link.ts";
import { RedisLockStore } from "../../src/coordination/redis/redis-lock-store.ts";
import { Agenda, type Clock } from "../../src/time/index.ts";
import { RedisModel } from "../sim/redis-model.ts";
import {
  type Spoilt,
  type VirtualBench,
  type VirtualBenchOptions,
  type VirtualProcess,
  virtualBench,
} from "./virtual-bench.ts";
import type { Wire } from "./wire.ts";

export const redisModelAbilities: readonly Ability[] = [
  "processes",
  "network",
  "records",
  "cohort",
  "batching",
  "deafness",
];

/** The Redis adapter on a model of the server, each client behind a wire that can fail. */
export function redisModelLockBench(options: VirtualBenchOptions = {}): VirtualBench {
  return virtualBench((clock) => {
    const links = new Map<string, ModelLink>();
    const model = new RedisModel(
      () => clock.wallMs(),
      (clientId, message) => links.get(clientId)?.push(message) ?? false,
    );
    return {
      abilities: redisModelAbilities,
      guarantee: "single",
      open(process) {
        const clientId = process.options.random.id();
        const link = new ModelLink(model, process.wire, process.options.clock);
        links.set(clientId, link);
        return openRedisModel(process, clientId, link, options.spoilt);
      },
      holderOf: async (key) => model.holderOf(key),
      deleteStored: async (key) => void model.deleteLock(key),
      async occupy(key) {
        const tail = `${keyOf("somebody", "else")}|test/pod/9|`;
        model.execute([{ mode: "a", key, holder: "x.1", ttlMs: 60_000, number: 1, tail }]);
      },
    };
  }, options);
}

function openRedisModel(process: VirtualProcess, clientId: string, direct: LockLink, spoilt: Spoilt = {}): Locks {
  const { options } = process;
  const link = spoilt.link?.(direct, process) ?? direct;
  const store = new RedisLockStore({ ...options, agenda: new Agenda(options.clock, 4), link });
  return locksOver(spoilt.store?.(store, process) ?? store, { ...options, clientId });
}

/** A connection that is made anew whenever it broke and the wire allows it. */
class ModelLink implements LockLink {
  isUp = true;
  readonly #model: RedisModel;
  readonly #wire: Wire;
  readonly #clock: Clock;
  #listener: LinkListener | undefined;
  #closed = false;

  constructor(model: RedisModel, wire: Wire, clock: Clock) {
    this.#model = model;
    this.#wire = wire;
    this.#clock = clock;
    wire.whenBroken(() => this.#down());
  }

  send(operations: readonly LockOperation[]): Promise<Replies> {
    if (!this.isUp) return Promise.reject(new Error("not connected"));
    return this.#wire.call(() => this.#model.execute(operations));
  }

  listen(listener: LinkListener): void {
    this.#listener = listener;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.isUp = false;
  }

  /** Whether the server has this client as a subscriber; a message may still be lost. */
  push(message: string): boolean {
    if (this.#closed || !this.isUp || !this.#wire.looksOpen) return false;
    void this.#wire.deliver(() => this.#listener?.push(message));
    return true;
  }

  #down() {
    if (!this.isUp) return;
    this.isUp = false;
    this.#listener?.down();
    this.#reconnect();
  }

  #reconnect() {
    this.#clock.after(100, () => {
      if (this.#closed) return;
      if (!this.#wire.connects) return this.#reconnect();
      this.isUp = true;
      this.#listener?.up();
    });
  }
}
