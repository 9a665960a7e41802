import type { KubeClient } from "../../kube/index.ts";
import { type CustomResourceDefinition, customResourceDefinitions } from "../../kube/index.ts";
import { type CustomKind, type Kinds, kindsWith } from "../target/kinds.ts";
import { toCustomKinds } from "./to-custom-kinds.ts";

/**
 * The kinds that a target may be of: those that every cluster has, those that `definitions` define, and those that are
 * `declared`. A definition wins over a declaration of the same kind, because the API server goes by it.
 */
export function readKinds(
  definitions: readonly Pick<CustomResourceDefinition, "spec">[],
  declared: readonly CustomKind[],
  incomplete?: string,
): Kinds {
  const defined = toCustomKinds(definitions);
  const taken = new Set(defined.flatMap(listNames));
  const others = declared.filter((kind) => !listNames(kind).some((name) => taken.has(name)));
  return kindsWith([...others, ...defined], incomplete);
}

/** The kinds that are defined on the API server at this moment, and those that are `declared`. */
export async function listKinds(
  client: KubeClient,
  declared: readonly CustomKind[],
  signal?: AbortSignal,
): Promise<Kinds> {
  const { items } = await client.list(customResourceDefinitions, {}, signal ? { signal } : {});
  return readKinds(items, declared);
}

function listNames({ kind, plural, group }: CustomKind): readonly string[] {
  return [kind, plural].map((name) => `${name}.${group}`.toLowerCase());
}
