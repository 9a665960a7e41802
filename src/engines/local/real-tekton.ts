import { type KubeClient, KubeError } from "../../kube/index.ts";
import { customResourceDefinitions } from "../../resources/index.ts";

/** Whether a real Tekton is installed: it would run local runs too, in containers. */
export async function hasRealTekton(client: KubeClient, signal?: AbortSignal): Promise<boolean> {
  try {
    const found = await client.get(
      customResourceDefinitions,
      { name: "pipelineruns.tekton.dev" },
      signal && { signal },
    );
    return found !== undefined;
  } catch (error) {
    // A client that may not read definitions is in a real cluster.
    if (error instanceof KubeError && error.code === "forbidden") return true;
    throw error;
  }
}
