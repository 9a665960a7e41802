import type { DeleteOptions, KubeClient, Patch } from "../client.ts";
import { exactly, type KubeObject, type ResourceType, refOf } from "../object.ts";

/** Formats a time as in all our objects and events: in UTC, with milliseconds. */
export function iso(time: number | string): string {
  return new Date(time).toISOString();
}

/** Writes the status of `object` in the version that was read. Returns undefined if the object was changed or deleted since. */
export async function writeStatus<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  object: T,
  signal: AbortSignal,
): Promise<T | undefined> {
  const outcome = await client.update(type, object, { subresource: "status", signal });
  return outcome.kind === "updated" ? outcome.object : undefined;
}

/** Deletes exactly the version that was read. Returns false if the object was changed since. */
export async function deleteExactly(
  client: KubeClient,
  type: ResourceType,
  object: KubeObject,
  options: Pick<DeleteOptions, "propagation"> & { readonly signal: AbortSignal },
): Promise<boolean> {
  const { signal, ...rest } = options;
  const outcome = await client.delete(type, refOf(object), { ...rest, preconditions: exactly(object) }, { signal });
  return outcome.kind !== "conflict";
}

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
