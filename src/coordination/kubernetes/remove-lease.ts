import { type KubeClient, type KubeLease, leases } from "../../kube/index.ts";

/** Deletes exactly the Lease that was read: if anything about it has changed since, it stays. True if it was deleted. */
export async function removeLease(client: KubeClient, { metadata }: KubeLease, signal?: AbortSignal): Promise<boolean> {
  const { namespace = "", name = "", uid = "", resourceVersion = "" } = metadata;
  const preconditions = { uid, resourceVersion };
  const outcome = await client.delete(leases, { namespace, name }, { preconditions }, signal ? { signal } : {});
  return outcome.kind === "deleted";
}
