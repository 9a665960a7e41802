import { type KubeClient, KubeError, type KubeObject, type ObjectRef, type ResourceType } from "../kube/index.ts";

const serviceAccounts: ResourceType<KubeObject> = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};

/**
 * Whether a service account is known to be missing. Why a pod could not be made is told in a sentence alone, so the
 * usual cause is looked for.
 */
export async function isServiceAccountMissing(client: KubeClient, ref: ObjectRef, signal?: AbortSignal) {
  try {
    return (await client.get(serviceAccounts, ref, signal && { signal })) === undefined;
  } catch (error) {
    if (error instanceof KubeError && error.code === "forbidden") return false;
    throw error;
  }
}
