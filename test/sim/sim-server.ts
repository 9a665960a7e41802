import { ServerTime } from "../../src/kube/http/server-time.ts";
import { type Call, type KubeClient, KubeError, type WatchEvent } from "../../src/kube/index.ts";
import { type Ledger, LedgerError, type MemoryLedger, memoryLedger } from "../../src/ledger/index.ts";
import { executionNamespace } from "../../src/resources/index.ts";
import type { Clock } from "../../src/time/index.ts";
import { type TestCluster, testCluster } from "../doubles/test-cluster.ts";
import { falter } from "./falter.ts";
import { Network } from "./network.ts";
import { Process, type World } from "./world.ts";

/** The API server and the ledger's disks, and the bad way that leads to them. */
export class SimServer {
  readonly cluster: TestCluster;
  readonly clock: Clock;
  readonly ledger: MemoryLedger = memoryLedger();
  readonly world: World;
  readonly #network: Network;
  readonly #odds: { readonly staleWatch: number; readonly fullLedger: number };
  #healed = false;
  /** Calls so far. */
  calls = 0;

  constructor(world: World) {
    this.world = world;
    const { chance } = world;
    this.clock = new Process(world, "api", { offsetMs: chance.between(-1e6, 1e6), rate: 1 }).clock;
    const namespaces = ["default", executionNamespace];
    this.cluster = testCluster({ clock: this.clock, random: chance, keptChanges: 300, namespaces });
    const timedOut = () => new KubeError("unavailable", "the call timed out");
    this.#network = new Network(world, { timeoutMs: 1_500, timedOut });
    const odds = (most: number) => (chance.happens(0.5) ? chance.between(0, most) : 0);
    this.#odds = { staleWatch: odds(0.1), fullLedger: odds(0.1) };
  }

  get healed(): boolean {
    return this.#healed;
  }

  heal(): void {
    this.#healed = true;
    this.#network.heal();
  }

  /** A fault of the server itself, which loses nothing. */
  falter(): void {
    falter(this.world, this.cluster, this.#network);
  }

  /** The server as `process` reaches it. It learns the server's clock from the responses. */
  clientOf(process: Process): KubeClient {
    const direct = this.cluster.client(process.name);
    const time = new ServerTime(process.clock);
    const call = async <T>(apply: () => Promise<T>, { signal }: Call = {}): Promise<T> => {
      if (signal?.aborted) throw new KubeError("aborted", "the caller aborted");
      this.calls++;
      const sentAt = process.clock.now();
      let date = "";
      const result = await this.#network.call(process, () => {
        date = new Date(Math.floor(this.clock.wallMs() / 1_000) * 1_000).toISOString();
        return apply();
      });
      time.observe({ date }, sentAt);
      return result;
    };
    return {
      get: (type, ref, options) => call(() => direct.get(type, ref), options),
      list: (type, query, options) => call(() => direct.list(type, query), options),
      create: (type, object, options) => call(() => direct.create(type, object), options),
      update: (type, object, options) => call(() => direct.update(type, object, withoutSignal(options)), options),
      patch: (type, ref, patch, options) => call(() => direct.patch(type, ref, patch, withoutSignal(options)), options),
      delete: (type, ref, how, options) => call(() => direct.delete(type, ref, how), options),
      evict: (pod, how, options) => call(() => direct.evict(pod, how), options),
      watch: (type, query, options) => this.#watch(process, direct.watch(type, query, options)),
      serverNowMs: () => time.nowMs(),
    };
  }

  /** The ledger as `process` writes it: an event is kept a moment later, and sometimes not at all. */
  ledgerOf(process: Process): Ledger {
    const { chance } = this.world;
    return {
      append: (event) =>
        new Promise((resolve, reject) => {
          this.world.in(chance.between(0.1, 10), () => {
            if (process.dead) return;
            if (!this.#healed && chance.happens(this.#odds.fullLedger)) {
              this.world.struck("ledger overloaded");
              process.handle(() => reject(new LedgerError("overloaded", "too many events wait already")));
              return;
            }
            void this.ledger.append(event).then(() => process.handle(resolve));
          });
        }),
      close: async () => {},
    };
  }

  async *#watch<T>(process: Process, events: AsyncIterable<WatchEvent<T>>): AsyncIterable<WatchEvent<T>> {
    for await (const event of events) {
      await new Promise<void>((resolve) => this.world.in(this.#lag(), () => process.handle(resolve)));
      yield event;
    }
  }

  #lag(): number {
    const { chance } = this.world;
    if (this.#healed || !chance.happens(this.#odds.staleWatch)) return this.#network.delay();
    this.world.struck("stale watch");
    return chance.between(100, 15_000);
  }
}

/** A pending request arrives, even if its caller no longer waits for the response. */
function withoutSignal(options: (Call & { readonly subresource?: "status" }) | undefined) {
  return options?.subresource ? { subresource: options.subresource } : {};
}
