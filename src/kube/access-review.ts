import type { Call, KubeClient } from "./client.ts";
import type { KubeObject, ResourceType } from "./object.ts";

interface AccessReview extends KubeObject {
  readonly spec: { readonly resourceAttributes: Readonly<Record<string, string>> };
  readonly status?: { readonly allowed: boolean };
}

const accessReviews: ResourceType<AccessReview> = {
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  namespaced: false,
};

/** Whether the API server allows our identity a request: `{ verb, group, resource, namespace }`, and more if needed. */
export async function isAllowed(
  client: Pick<KubeClient, "create">,
  resourceAttributes: Readonly<Record<string, string>>,
  call: Call = {},
): Promise<boolean> {
  const review = await client.create(accessReviews, { metadata: {}, spec: { resourceAttributes } }, call);
  return review.kind === "created" && review.object.status?.allowed === true;
}
