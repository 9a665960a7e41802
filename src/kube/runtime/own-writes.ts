import type { KubeClient, UpdateOutcome } from "../client.ts";
import { type KubeObject, type ObjectMeta, type ObjectRef, refOf } from "../object.ts";
import type { ChangeEvent } from "./object-cache.ts";

/**
 * The versions of objects that this process wrote, or read after it lost a race. An informer may show an older version for
 * a moment; acting on that would only lose races again. A version is kept only until an informer shows it.
 */
export class OwnWrites {
  readonly #versions = new Map<string, bigint>();
  #informers: readonly ShownObjects[] = [];

  /** Notes the versions that `client` writes. The informers show when a version is no longer needed. */
  track(client: KubeClient, informers: readonly ShownObjects[]): KubeClient {
    this.#informers = informers;
    for (const informer of informers) {
      informer.subscribe((event, object) => (event === "DELETED" || !this.isOutdated(object)) && this.forget(object));
    }
    const noted = <Written extends KubeObject>(outcome: UpdateOutcome<Written>) => {
      if (outcome.kind === "updated") this.note(outcome.object);
      return outcome;
    };
    return {
      ...client,
      update: async (...call) => noted(await client.update(...call)),
      patch: async (...call) => noted(await client.patch(...call)),
      delete: async (...call) => {
        const outcome = await client.delete(...call);
        if (outcome.kind === "deleted" && outcome.remaining) this.note(outcome.remaining);
        return outcome;
      },
    };
  }

  note(object: KubeObject): void {
    const { uid, resourceVersion, deletionTimestamp, finalizers = [] } = object.metadata;
    // The response to a write that removes the last finalizer is the object that the write deleted.
    if (deletionTimestamp && finalizers.length === 0) return this.noteGone(object);
    if (!uid || !resourceVersion) return;
    const version = BigInt(resourceVersion);
    // The watch can be faster than the response to the write.
    const isShown = this.#listShown(object).some((shown) => BigInt(shown.resourceVersion ?? "0") >= version);
    if (!isShown) this.#versions.set(uid, version);
  }

  isOutdated({ metadata: { uid = "", resourceVersion } }: KubeObject): boolean {
    const written = this.#versions.get(uid);
    return written !== undefined && resourceVersion !== undefined && BigInt(resourceVersion) < written;
  }

  /** Notes that this process deleted the object: every version that an informer still shows is outdated. */
  noteGone(object: KubeObject): void {
    const { uid } = object.metadata;
    // If the watch was faster, no event would ever remove the entry.
    if (uid && this.#listShown(object).length > 0) this.#versions.set(uid, newest);
  }

  /** No outdated version will follow: an informer shows the noted version, a newer one, or the object as deleted. */
  forget({ metadata: { uid = "" } }: KubeObject): void {
    this.#versions.delete(uid);
  }

  /** The versions of `object` that the informers show. */
  #listShown(object: KubeObject): readonly ObjectMeta[] {
    const shown = this.#informers.flatMap((informer) => informer.get(refOf(object))?.metadata ?? []);
    return shown.filter(({ uid }) => uid === object.metadata.uid);
  }
}

/** The part of an informer that is needed here. */
interface ShownObjects {
  get(ref: ObjectRef): KubeObject | undefined;
  subscribe(handler: (event: ChangeEvent, object: KubeObject) => void): () => void;
}

/** Larger than any version of an API server, which counts in 64 bits. */
const newest = 2n ** 64n;
