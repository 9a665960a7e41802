import { type KubeClient, KubeError, type KubeObject, type ResourceType } from "../kube/index.ts";

interface SelfSubjectReview extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string } };
}

/** A question rather than an object: nothing is kept of it. */
const selfSubjectReviews: ResourceType<SelfSubjectReview> = {
  apiVersion: "authentication.k8s.io/v1",
  kind: "SelfSubjectReview",
  plural: "selfsubjectreviews",
  namespaced: false,
};

/** Who we are for the API server, which is what it compares an acknowledgement with; undefined if it cannot say. */
export async function ownName(client: KubeClient): Promise<string | undefined> {
  const { apiVersion, kind } = selfSubjectReviews;
  try {
    const outcome = await client.create(selfSubjectReviews, { apiVersion, kind, metadata: {} });
    return outcome.kind === "created" ? outcome.object.status?.userInfo?.username : undefined;
  } catch (error) {
    // The embedded server, and those before Kubernetes 1.28, know no such question.
    if (error instanceof KubeError && (error.code === "invalid" || error.code === "forbidden")) return undefined;
    throw error;
  }
}
