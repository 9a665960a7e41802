import type { KubeObject } from "./object.ts";

type Aged = Pick<KubeObject, "metadata">;

/** Oldest first; objects of one second by uid, so that all replicas agree. */
export function byAge({ metadata: one }: Aged, { metadata: other }: Aged): number {
  return ageKey(one) < ageKey(other) ? -1 : 1;
}

function ageKey({ creationTimestamp = "", uid = "" }: KubeObject["metadata"]): string {
  return `${creationTimestamp} ${uid}`;
}
