import { iso, type KubeClient, type KubeLease, leases } from "../../kube/index.ts";
import { describeHolder, leaseKey, lockSelector, periodOf, waitersOf } from "./lease-rules.ts";

/** A lock as others see it. */
export interface ListedLock {
  readonly key: string;
  /** The holder, for display. */
  readonly holder?: string;
  readonly since?: string;
  /** When it could be taken over if its holder shows no sign of life, by the holder's clock. */
  readonly expiresAt?: string;
  /** The version of the Lease: the fence of every later holder is larger. */
  readonly fence?: string;
  readonly waiters: number;
}

/** The locks of a namespace that are held or waited for, those with the most waiters first. */
export async function listLocks(client: KubeClient, namespace: string): Promise<readonly ListedLock[]> {
  const { items } = await client.list(leases, { namespace, labelSelector: lockSelector });
  return items
    .map(toLock)
    .filter(({ holder, waiters }) => holder !== undefined || waiters > 0)
    .sort((one, other) => other.waiters - one.waiters || (one.key < other.key ? -1 : 1));
}

function toLock(lease: KubeLease): ListedLock {
  const { metadata, spec } = lease;
  const common = { key: leaseKey(lease) ?? metadata.name ?? "", waiters: waitersOf(lease).length };
  const holder = describeHolder(lease);
  if (!holder) return common;
  const renewedMs = Date.parse(spec?.renewTime ?? "");
  const { resourceVersion: fence } = metadata;
  return {
    ...common,
    holder: holder.purpose === undefined ? holder.who : `${holder.who} (${holder.purpose})`,
    ...(holder.sinceMs === undefined ? {} : { since: iso(holder.sinceMs) }),
    ...(Number.isNaN(renewedMs) ? {} : { expiresAt: iso(renewedMs + periodOf(lease)) }),
    ...(fence === undefined ? {} : { fence }),
  };
}
