import type { KubeObject } from "../object.ts";

/**
 * Versions of objects that we wrote ourselves, or read after losing a race. What a cache shows may be older than that for
 * a moment; acting on it would only lose races again.
 */
export class OwnWrites {
  readonly #versions = new Map<string, bigint>();

  note({ metadata: { uid, resourceVersion } }: KubeObject): void {
    if (uid && resourceVersion) this.#versions.set(uid, BigInt(resourceVersion));
  }

  isOutdated({ metadata: { uid = "", resourceVersion } }: KubeObject): boolean {
    const written = this.#versions.get(uid);
    return written !== undefined && resourceVersion !== undefined && BigInt(resourceVersion) < written;
  }

  /** We deleted it: whatever a cache still shows of it is old. */
  noteGone({ metadata: { uid } }: KubeObject): void {
    if (uid) this.#versions.set(uid, newest);
  }

  /** The caches know that it is gone. */
  forget({ metadata: { uid = "" } }: KubeObject): void {
    this.#versions.delete(uid);
  }
}

/** Larger than any version of an API server, which counts in 64 bits. */
const newest = 2n ** 64n;
