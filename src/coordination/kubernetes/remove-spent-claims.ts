import { type KubeClient, leases } from "../../kube/index.ts";
import { claimLabels, isSpent } from "./claim-rules.ts";

/**
 * Deletes the Leases of claims that are no longer remembered; returns how many. Kubernetes has no clean-up of its own
 * for Leases. Safe at any time and on any number of replicas: exactly the object that was read is deleted, or none.
 */
export async function removeSpentClaims(client: KubeClient, namespace: string): Promise<number> {
  const labelSelector = Object.entries(claimLabels)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
  const { items } = await client.list(leases, { namespace, labelSelector });
  let removed = 0;
  for (const { metadata, ...rest } of items) {
    if (!isSpent({ metadata, ...rest }, client.serverNowMs())) continue;
    const { name = "", uid = "", resourceVersion = "" } = metadata;
    const outcome = await client.delete(leases, { namespace, name }, { preconditions: { uid, resourceVersion } });
    if (outcome.kind === "deleted") removed++;
  }
  return removed;
}
