import { type KubeClient, type KubeLease, leases } from "../../kube/index.ts";
import type { Clock } from "../../time/index.ts";
import { claimLabels, isExpired } from "./claim-rules.ts";
import { isIdle, lockLabels } from "./lease-rules.ts";

/** The number of unused records that were removed. */
export interface SweepResult {
  readonly locks: number;
  readonly claims: number;
}

/** Events of a backend that removes its unused records. */
export interface JanitorEvents {
  swept?(removed: SweepResult): void;
  /** Tried again at the next sweep. */
  failed?(error: unknown): void;
}

export interface LeaseSweepOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly namespace: string;
  /** Locks that were not used for this long are removed. */
  readonly idleMs: number;
}

/**
 * Removes the Leases of locks without holder or waiter, and of expired claims. Kubernetes
 * has no clean-up of its own for Leases. Safe at any time and with any number of sweepers:
 *
 * 1. A lock counts as idle after *we* have seen the same version of it twice, `idleMs` apart on our own clock, and if
 *    it names a holder, longer apart than that holder's lease lasts. A version that is the same at both ends was the
 *    same in between, because versions never recur. So no client renewed, took, joined or left it meanwhile, and a
 *    holder that missed this has passed its own deadline.
 * 2. Exactly that version is deleted. Taking a lock writes it, so of a taker and a sweeper the second to arrive is
 *    refused: either the delete meets another version and does nothing, or the taker's write meets nothing, reads, and
 *    creates the Lease anew.
 * 3. The fence is the version of the write that took the lock. Versions are counted for the whole server and never go
 *    back, so that of a Lease made anew is larger than that of its deletion, and so than every fence before it. Nothing
 *    in the removed object was needed for that: `leaseTransitions` begins again at 1, and is only for display.
 * 4. A holder or waiter that wakes up after the deletion finds no Lease, or one with another uid. It holds nothing: its
 *    writes name the old uid and version, and are refused.
 */
export class LeaseSweep {
  readonly #options: LeaseSweepOptions;
  /** By uid: the version last seen, and when we first saw it. Contains exactly the Leases of the last list. */
  #seen = new Map<string, { readonly version: string | undefined; readonly since: number }>();

  constructor(options: LeaseSweepOptions) {
    this.#options = options;
  }

  async sweep(signal?: AbortSignal): Promise<SweepResult> {
    const { client, clock, namespace } = this.#options;
    // The list shows the state at a moment after this, and before it arrives.
    const askedAt = clock.now();
    const ours = { namespace, labelSelector: `${managedByLabel}=${lockLabels[managedByLabel]}` };
    const { items } = await client.list(leases, ours, signal ? { signal } : {});
    this.#remember(items);

    const removed = { lock: 0, claim: 0 };
    for (const lease of items) {
      const kind = this.#unusedKind(lease, askedAt);
      if (kind && (await removeLease(client, lease, signal))) removed[kind]++;
    }
    return { locks: removed.lock, claims: removed.claim };
  }

  #remember(items: readonly KubeLease[]) {
    const before = this.#seen;
    const now = this.#options.clock.now();
    this.#seen = new Map();
    for (const { metadata } of items) {
      const { uid = "", resourceVersion: version } = metadata;
      const last = before.get(uid);
      this.#seen.set(uid, last && last.version === version ? last : { version, since: now });
    }
  }

  #unusedKind(lease: KubeLease, askedAt: number): "lock" | "claim" | undefined {
    const { client, idleMs } = this.#options;
    const { since = askedAt } = this.#seen.get(lease.metadata.uid ?? "") ?? {};
    switch (lease.metadata.labels?.[kindLabel]) {
      case lockLabels[kindLabel]:
        return isIdle({ lease, since }, askedAt, idleMs) ? "lock" : undefined;
      case claimLabels[kindLabel]:
        return isExpired(lease, client.serverNowMs()) ? "claim" : undefined;
      default:
        return undefined;
    }
  }
}

const managedByLabel = "app.kubernetes.io/managed-by";
const kindLabel = "kubernaut.ai/kind";

/** Deletes exactly the Lease that was read: if anything about it has changed since, it stays. True if it was deleted. */
export async function removeLease(client: KubeClient, { metadata }: KubeLease, signal?: AbortSignal): Promise<boolean> {
  const { namespace = "", name = "", uid = "", resourceVersion = "" } = metadata;
  const preconditions = { uid, resourceVersion };
  const outcome = await client.delete(leases, { namespace, name }, { preconditions }, signal ? { signal } : {});
  return outcome.kind === "deleted";
}
