import { type Engine, maxImageDigests, type Workload } from "../resources/index.ts";

/** What a run executes. A reference that names its digest needs no report of the cluster. */
export function workload(engine: Engine, image: string, serviceAccountName: string | undefined): Workload {
  return {
    engine,
    image,
    ...(isPinned(image) ? { imageDigests: [image] } : {}),
    ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
  };
}

/** Image ids as a cluster reports them, each once; without those that name no digest. */
export function digests(imageIds: readonly (string | undefined)[]): readonly string[] {
  const named = imageIds.filter((id): id is string => id !== undefined && isPinned(id));
  // Some runtimes prefix how they got the image.
  const plain = named.map((id) => id.replace(/^[a-z-]+:\/\//, ""));
  return [...new Set(plain)].sort().slice(0, maxImageDigests);
}

function isPinned(image: string): boolean {
  return /sha256:[0-9a-f]{64}$/.test(image);
}
