import { type KubeClient, KubeError, type KubeLease, leases } from "../../kube/index.ts";
import { backoffMs, type Clock, type Random, sleep } from "../../time/index.ts";
import { lockLabels, type Observed, sameHolding } from "./lease-rules.ts";

export interface LeaseWatchOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  /** Called with the name of each changed Lease. */
  readonly changed: (name: string) => void;
}

/** A cache of all lock Leases, from one watch. It wakes waiters; the writes that follow decide. */
export class LeaseWatch {
  readonly #known = new Map<string, Observed>();
  readonly #options: LeaseWatchOptions;
  readonly #stop = new AbortController();

  constructor(options: LeaseWatchOptions) {
    this.#options = options;
    void this.#follow();
  }

  get(name: string): Observed | undefined {
    return this.#known.get(name);
  }

  /** Takes in a Lease that was read or written just now. A newer one in the cache stays. */
  saw(lease: KubeLease): Observed {
    const name = lease.metadata.name as string;
    const before = this.#known.get(name);
    if (before && !isNewer(lease, before.lease)) return before;
    const since = before && sameHolding(before.lease, lease) ? before.since : this.#options.clock.now();
    const observed = { lease, since };
    this.#known.set(name, observed);
    this.#options.changed(name);
    return observed;
  }

  forget(name: string): void {
    if (this.#known.delete(name)) this.#options.changed(name);
  }

  close(): void {
    this.#stop.abort();
  }

  async #follow() {
    const { clock, random } = this.#options;
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const from = await this.#list();
        failures = 0;
        await this.#watch(from);
      } catch (error) {
        if (signal.aborted) return;
        // Waiters learn of a refusal from their own requests; here it is retried like an outage.
        if (!(error instanceof KubeError)) throw error;
      }
      const delay = backoffMs(failures + 1, { baseMs: 50, maxMs: 5_000, jitter: 0.5 }, random.fraction());
      await sleep(clock, delay, signal).catch(() => {});
    }
  }

  async #list(): Promise<string> {
    const { client } = this.#options;
    const { items, resourceVersion } = await client.list(leases, this.#query(), { signal: this.#stop.signal });
    const present = new Set(items.map((lease) => lease.metadata.name));
    for (const lease of items) this.saw(lease);
    for (const [name, { lease }] of this.#known) {
      // Only a Lease that is older than the list can be missing from it because it was deleted.
      if (!present.has(name) && version(lease) <= BigInt(resourceVersion)) this.forget(name);
    }
    return resourceVersion;
  }

  async #watch(resourceVersion: string) {
    const { client } = this.#options;
    const query = { ...this.#query(), resourceVersion };
    for await (const event of client.watch(leases, query, { signal: this.#stop.signal })) {
      if (event.type === "BOOKMARK") continue;
      if (event.type === "DELETED") this.#deleted(event.object);
      else this.saw(event.object);
    }
  }

  #deleted(lease: KubeLease) {
    const name = lease.metadata.name as string;
    if (this.#known.get(name)?.lease.metadata.uid === lease.metadata.uid) this.forget(name);
  }

  #query() {
    const labelSelector = Object.entries(lockLabels)
      .map(([label, value]) => `${label}=${value}`)
      .join(",");
    return { namespace: this.#options.namespace, labelSelector };
  }
}

function isNewer(a: KubeLease, b: KubeLease): boolean {
  return version(a) > version(b);
}

function version(lease: KubeLease): bigint {
  return BigInt(lease.metadata.resourceVersion ?? "0");
}
