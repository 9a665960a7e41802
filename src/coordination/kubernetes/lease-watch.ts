import { type KubeClient, type KubeLease, leases, Reflector } from "../../kube/index.ts";
import type { Clock, Random } from "../../time/index.ts";
import { lockSelector, type Observed, sameHolding } from "./lease-rules.ts";

export interface LeaseWatchOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  /** Called with the name of each changed Lease. */
  readonly changed: (name: string) => void;
}

/** A watch without event or bookmark for this time is opened again. Servers send a bookmark about once a minute. */
const silenceMs = 90_000;
const backoff = { baseMs: 50, maxMs: 5_000, jitter: 0.5 };

/** A cache of all lock Leases, from one watch. It wakes waiters; the writes that follow decide. */
export class LeaseWatch {
  readonly #known = new Map<string, Observed>();
  readonly #options: LeaseWatchOptions;
  readonly #stop = new AbortController();

  constructor(options: LeaseWatchOptions) {
    this.#options = options;
    const { client, clock, random, namespace } = options;
    const query = { namespace, labelSelector: lockSelector };
    const { signal } = this.#stop;
    const reflector = new Reflector<KubeLease>(
      // A permission error reaches waiters through their own requests. Here it is retried like an outage.
      { client, type: leases, query, clock, random, signal, silenceMs, backoff, problem: () => {} },
      {
        replace: (listed, version) => this.#replace(listed, version),
        put: (lease) => this.put(lease),
        remove: (lease) => this.#deleted(lease),
      },
    );
    void reflector.run();
  }

  get(name: string): Observed | undefined {
    return this.#known.get(name);
  }

  /** Adds a Lease that was read or written just now, unless the cache has a newer one. */
  put(lease: KubeLease): void {
    const name = lease.metadata.name as string;
    const before = this.#known.get(name);
    if (before && version(lease) <= version(before.lease)) return;
    const since = before && sameHolding(before.lease, lease) ? before.since : this.#options.clock.now();
    this.#known.set(name, { lease, since });
    this.#options.changed(name);
  }

  forget(name: string): void {
    if (this.#known.delete(name)) this.#options.changed(name);
  }

  close(): void {
    this.#stop.abort();
  }

  #replace(listed: readonly KubeLease[], listVersion: bigint) {
    const present = new Set(listed.map((lease) => lease.metadata.name));
    for (const lease of listed) this.put(lease);
    for (const [name, { lease }] of this.#known) {
      // Only a Lease that is older than the list can be missing from it because it was deleted.
      if (!present.has(name) && version(lease) <= listVersion) this.forget(name);
    }
  }

  #deleted(lease: KubeLease) {
    const name = lease.metadata.name as string;
    if (this.#known.get(name)?.lease.metadata.uid === lease.metadata.uid) this.forget(name);
  }
}

function version(lease: KubeLease): bigint {
  return BigInt(lease.metadata.resourceVersion ?? "0");
}
