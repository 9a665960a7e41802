import type { KubeObject } from "../../kube/index.ts";
import { CoordinationError } from "../errors.ts";

/** The annotation with the fence of the last write. */
export const fenceAnnotation = "kubernaut.ai/fence";

/** The fence under which `object` was last written; undefined if it never was. */
export function fenceOf(object: KubeObject): bigint | undefined {
  const text = object.metadata.annotations?.[fenceAnnotation];
  if (text === undefined) return undefined;
  if (/^\d{1,40}$/.test(text)) return BigInt(text);
  // Not "no fence": guessing here could let a stale holder write.
  const what = `${object.kind} "${object.metadata.name}"`;
  throw new CoordinationError("collision", `${what} has an unreadable ${fenceAnnotation}: ${JSON.stringify(text)}`);
}
