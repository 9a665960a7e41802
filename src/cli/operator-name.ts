import { type KubeClient, KubeError, type KubeObject, type ResourceType } from "../kube/index.ts";
import type { ServerContext } from "./command.ts";

/** Follows a name that no server has authenticated. */
export const unverified = "(unverified)";

interface SelfSubjectReview extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string } };
}

/** A request that stores no object. */
const selfSubjectReviews: ResourceType<SelfSubjectReview> = {
  apiVersion: "authentication.k8s.io/v1",
  kind: "SelfSubjectReview",
  plural: "selfsubjectreviews",
  namespaced: false,
};

/**
 * Returns the name of the operator for the record: the user that the API server authenticated, or the user of this machine,
 * marked as unverified, if the API server does not distinguish users.
 */
export async function operatorName({ client, terminal }: Pick<ServerContext, "client" | "terminal">): Promise<string> {
  return (await authenticatedName(client)) ?? `${terminal.user} ${unverified}`;
}

async function authenticatedName(client: KubeClient): Promise<string | undefined> {
  const { apiVersion, kind } = selfSubjectReviews;
  try {
    const outcome = await client.create(selfSubjectReviews, { apiVersion, kind, metadata: {} });
    return outcome.kind === "created" ? outcome.object.status?.userInfo?.username : undefined;
  } catch (error) {
    // The embedded server, and those before Kubernetes 1.28, do not support this request.
    if (error instanceof KubeError && (error.code === "invalid" || error.code === "forbidden")) return undefined;
    throw error;
  }
}
