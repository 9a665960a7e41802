import type { KubeObject, Patch } from "../kube/index.ts";

/**
 * Changes this version of this object, and no other. The resourceVersion names one state of one object in the whole store, so
 * this is a conflict for a run that was replaced, changed or started meanwhile. (A `test` in a JSON patch on uid and status does
 * the same, but the server answers with an error that looks like a webhook's refusal.)
 */
export function patchAtVersion(
  { metadata: { resourceVersion } }: KubeObject,
  change: { readonly metadata?: object; readonly spec?: object; readonly status?: object },
): Patch {
  return { merge: { ...change, metadata: { ...change.metadata, resourceVersion } } };
}
