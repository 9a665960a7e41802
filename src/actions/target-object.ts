import type { KubeObject, ResourceType } from "../kube/index.ts";
import { builtInKinds, type ObjectTarget, toResourceType } from "../resources/index.ts";
import type { Reader } from "./action.ts";

/** The resource type of a target, which is of a built-in kind. */
export function typeOf<T extends KubeObject>(target: ObjectTarget): ResourceType<T> {
  const type = toResourceType(target, undefined, builtInKinds);
  if (!type) throw new TypeError(`${target.text} is not of a built-in kind`);
  return type as ResourceType<T>;
}

/** Reads the target; undefined if it does not exist. */
export async function readTarget<T extends KubeObject>(target: ObjectTarget, reader: Reader): Promise<T | undefined> {
  const { name, namespace } = target;
  return await reader.get(typeOf<T>(target), namespace === undefined ? { name } : { name, namespace });
}
