import type { ResourceType } from "../../kube/index.ts";
import { kindText } from "./built-in-kinds.ts";
import type { Kinds } from "./kinds.ts";
import type { ObjectTarget } from "./target.ts";

/**
 * The resource type of a target's kind. A built-in kind has version v1; any other the version in `apiVersion`, else that of its
 * definition or declaration. Undefined if the kind or its version is unknown.
 */
export function toResourceType(
  target: ObjectTarget,
  apiVersion: string | undefined,
  kinds: Kinds,
): ResourceType | undefined {
  const kind = kinds.find(target.group ? `${target.kind}.${target.group}` : target.kind);
  if (!kind) return undefined;
  const version = kind.builtIn ? "v1" : (apiVersion?.split("/")[1] ?? kind.version);
  if (!version) return undefined;
  return {
    apiVersion: target.group ? `${target.group}/${version}` : version,
    kind: kindText(kind),
    plural: kind.plural,
    namespaced: kind.namespaced,
  };
}
