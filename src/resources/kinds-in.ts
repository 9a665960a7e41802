import type { KubeClient } from "../kube/index.ts";
import { customKindsOf, customResourceDefinitions } from "./crd.ts";
import { type Kinds, kindsWith } from "./target/kinds.ts";

/** The kinds that a target may be of: those that every cluster has, and those that were defined in this one. */
export async function kindsIn(client: KubeClient): Promise<Kinds> {
  const { items } = await client.list(customResourceDefinitions);
  return kindsWith(customKindsOf(items));
}
