import type { KubeClient } from "../../kube/index.ts";
import { type LockTableOptions, locksOver } from "../locks/lock-table.ts";
import type { Locks } from "../locks/locks.ts";
import { KubernetesLockStore } from "./kubernetes-lock-store.ts";

export interface KubernetesLocksOptions extends LockTableOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** First part of the Lease names: `gw-lock-`, `ro-lock-`, `agent-lock-`. */
  readonly prefix: string;
}

/**
 * Locks as Kubernetes Leases. Two writes for an uncontended lock, none while waiting. Safe whatever the clocks
 * show, as long as they run at nearly the same speed; a ttl counts in whole seconds. `cohort` has no effect: the fence
 * is the resourceVersion of a write, so each holder needs its own.
 */
export function kubernetesLocks(options: KubernetesLocksOptions): Locks {
  const { client, clock, random, namespace, prefix, who = "unknown" } = options;
  return locksOver(new KubernetesLockStore({ client, clock, random, namespace, prefix, who }), options);
}
