import type { KubeClient, KubeObject, ResourceType } from "../kube/index.ts";
import { type CustomResourceDefinition, customKindsOf, type Kinds, kindsWith } from "../resources/index.ts";

const definitions: ResourceType<CustomResourceDefinition & KubeObject> = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};

/** The kinds that a target may be of: those that every cluster has, and those that were defined here. */
export async function kindsIn(client: KubeClient): Promise<Kinds> {
  const { items } = await client.list(definitions);
  return kindsWith(customKindsOf(items));
}
