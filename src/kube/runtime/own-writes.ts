import type { KubeClient, UpdateOutcome } from "../client.ts";
import type { KubeObject } from "../object.ts";
import type { ChangeEvent } from "./object-cache.ts";

/**
 * The versions of objects that this process wrote, or read after it lost a race. An informer may show an older version for
 * a moment; acting on that would only lose races again.
 */
export class OwnWrites {
  readonly #versions = new Map<string, bigint>();

  /** Notes the versions that `client` writes, and forgets those of objects that the informers show as deleted. */
  track(client: KubeClient, informers: readonly Subscribable[]): KubeClient {
    for (const informer of informers) {
      informer.subscribe((event, object) => event === "DELETED" && this.forget(object));
    }
    const noted = <Written extends KubeObject>(outcome: UpdateOutcome<Written>) => {
      if (outcome.kind === "updated") this.note(outcome.object);
      return outcome;
    };
    return {
      ...client,
      update: async (...call) => noted(await client.update(...call)),
      patch: async (...call) => noted(await client.patch(...call)),
    };
  }

  note({ metadata: { uid, resourceVersion } }: KubeObject): void {
    if (uid && resourceVersion) this.#versions.set(uid, BigInt(resourceVersion));
  }

  isOutdated({ metadata: { uid = "", resourceVersion } }: KubeObject): boolean {
    const written = this.#versions.get(uid);
    return written !== undefined && resourceVersion !== undefined && BigInt(resourceVersion) < written;
  }

  /** Notes that this process deleted the object: every version that an informer still shows is outdated. */
  noteGone({ metadata: { uid } }: KubeObject): void {
    if (uid) this.#versions.set(uid, newest);
  }

  /** An informer shows the object as deleted: no outdated version will follow. */
  forget({ metadata: { uid = "" } }: KubeObject): void {
    this.#versions.delete(uid);
  }
}

interface Subscribable {
  subscribe(handler: (event: ChangeEvent, object: KubeObject) => void): () => void;
}

/** Larger than any version of an API server, which counts in 64 bits. */
const newest = 2n ** 64n;
