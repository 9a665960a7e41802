import { type KubeClient, KubeError, type KubeObject, type ListQuery, type ResourceType } from "../kube/index.ts";

/** The objects that fit `query`; undefined if we must not read them, or the server does not know their kind. */
export async function listIfReadable<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  query: ListQuery & { readonly signal?: AbortSignal | undefined },
): Promise<readonly T[] | undefined> {
  const { signal, ...selection } = query;
  try {
    return (await client.list(type, selection, signal && { signal })).items;
  } catch (error) {
    if (error instanceof KubeError && (error.code === "forbidden" || error.code === "invalid")) return undefined;
    throw error;
  }
}
