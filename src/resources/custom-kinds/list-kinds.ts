import type { KubeClient } from "../../kube/index.ts";
import { type CustomResourceDefinition, customResourceDefinitions } from "../../kube/index.ts";
import { type CustomKind, type Kinds, kindsWith } from "../target/kinds.ts";
import { toCustomKinds } from "./to-custom-kinds.ts";

/**
 * The kinds that a target may have: the built-in ones, those of `definitions`, and the `declared` ones. A definition replaces a
 * declaration of the same kind, because the API server uses the definition.
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

/** The kinds that are currently defined on the API server, and the `declared` ones. */
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
