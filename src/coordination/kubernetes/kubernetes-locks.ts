import { type LockTableOptions, locksOver } from "../locks/lock-table.ts";
import type { Locks } from "../locks/locks.ts";
import { KubernetesLockStore, type KubernetesLockStoreOptions } from "./kubernetes-lock-store.ts";

export interface KubernetesLocksOptions
  extends LockTableOptions,
    Pick<KubernetesLockStoreOptions, "client" | "namespace" | "prefix"> {}

/**
 * Locks as Kubernetes Leases. Two writes for an uncontended lock, none while waiting. Safe whatever the clocks
 * show, as long as they run at nearly the same speed; a ttl counts in whole seconds. `cohort` has no effect: the fence
 * is the resourceVersion of a write, so each holder needs its own.
 */
export function kubernetesLocks(options: KubernetesLocksOptions): Locks {
  return locksOver(new KubernetesLockStore({ who: "unknown", ...options }), options);
}
