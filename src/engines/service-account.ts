import { type KubeClient, KubeError, type KubeObject, type ObjectRef, type ResourceType } from "../kube/index.ts";

const serviceAccounts: ResourceType<KubeObject> = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};

/**
 * Whether a service account is known to be missing. Kubernetes reports only in a sentence why a pod could not be
 * made, so the usual cause is checked.
 */
export async function isServiceAccountMissing(client: KubeClient, ref: ObjectRef, signal?: AbortSignal) {
  try {
    return (await client.get(serviceAccounts, ref, signal && { signal })) === undefined;
  } catch (error) {
    if (error instanceof KubeError && error.code === "forbidden") return false;
    throw error;
  }
}
