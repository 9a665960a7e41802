import type { ResourceType } from "../../kube/index.ts";
import { kindText } from "./built-in-kinds.ts";
import type { Kinds } from "./kinds.ts";
import type { ObjectTarget } from "./target.ts";

/**
 * How to ask the API server for the kind of a target. Every built-in kind has a version v1; that of any other one is in
 * `apiVersion`, or else the one of its definition or declaration. Undefined if the kind or its version is not known.
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
