import type { KubeObject, Patch } from "../kube/index.ts";

/**
 * Returns a patch that changes exactly this version of an object. A resourceVersion is unique in the whole store, so the patch of
 * an object that was replaced or changed meanwhile is a conflict. (A JSON patch with `test` on uid and status has the same effect,
 * but its error cannot be distinguished from the rejection of a webhook.)
 */
export function patchAtVersion(
  { metadata: { resourceVersion } }: KubeObject,
  change: { readonly metadata?: object; readonly spec?: object; readonly status?: object },
): Patch {
  return { merge: { ...change, metadata: { ...change.metadata, resourceVersion } } };
}
