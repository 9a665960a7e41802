import type { KubeObject } from "../object.ts";

/** Versions are ordered as integers: as text "9" would come after "10", and a double is exact only up to 2^53. */
export function versionOf(object: KubeObject): bigint {
  const { resourceVersion, name } = object.metadata;
  if (!resourceVersion) throw new TypeError(`"${name}" has no resourceVersion: it does not come from a server`);
  return BigInt(resourceVersion);
}
