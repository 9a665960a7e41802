import type { KubeObject, ObjectMeta } from "../../kube/index.ts";
import type { Draft } from "../json/json.ts";
import type { Entry, WriteDecision } from "../object-store.ts";
import { type Api, commit, sealObject, timestamp } from "./api.ts";
import type { Resource } from "./resource.ts";
import { notFound, preconditionConflict } from "./status-error.ts";
import { markEnded } from "./update.ts";

export type Propagation = "Foreground" | "Background" | "Orphan";

export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagation?: Propagation | undefined;
  readonly dryRun?: boolean;
}

/** `gone` is false while the object remains, until its finalizers are removed. */
export interface DeleteResult {
  readonly gone: boolean;
  readonly entry: Entry;
}

/** Deletes an object: at once, or when its last finalizer is removed. */
export function deleteObject(
  api: Api,
  resource: Resource,
  ref: { readonly namespace: string; readonly name: string },
  options: DeleteOptions = {},
): Promise<DeleteResult> {
  return commit(api, resource, { ...ref, dryRun: options.dryRun ?? false }, (current, revision) => {
    if (!current) throw notFound(resource, ref.name);
    checkPreconditions(resource, current.object.metadata, options.preconditions ?? {});
    return deletion(resource, current, { ...options, revision, now: timestamp(api.clock) });
  });
}

interface DeletionTime {
  readonly revision: number;
  readonly now: string;
}

function deletion(
  resource: Resource,
  current: Entry,
  options: DeleteOptions & DeletionTime,
): WriteDecision<DeleteResult> {
  const { object } = current;
  const finalizers = finalizersFor(object.metadata, options.propagation);
  const view = (entry: Entry, gone: boolean): DeleteResult => ({ gone, entry: resource.view(entry) });
  if (finalizers.length === 0 && !resource.markTerminating) {
    return { do: "delete", ...markEnded(object, options.revision), result: view(current, true) };
  }
  const unchanged = finalizers.length === (object.metadata.finalizers ?? []).length;
  if (object.metadata.deletionTimestamp && unchanged) return { do: "nothing", result: view(current, false) };

  const put = sealObject(markDeleted(resource, object, finalizers, options.now), options.revision);
  return { do: "put", ...put, result: view({ ...put, revision: options.revision }, false) };
}

/** Foreground and Orphan are carried out by the garbage collector, which a finalizer waits for. */
function finalizersFor({ finalizers = [] }: ObjectMeta, propagation: Propagation | undefined): readonly string[] {
  if (propagation === undefined) return finalizers;
  const others = finalizers.filter((one) => one !== "orphan" && one !== "foregroundDeletion");
  if (propagation === "Background") return others;
  return [...others, propagation === "Orphan" ? "orphan" : "foregroundDeletion"];
}

function markDeleted(resource: Resource, object: KubeObject, finalizers: readonly string[], now: string): Draft {
  const { labels, annotations, ownerReferences, ...before } = object.metadata;
  const isFirst = object.metadata.deletionTimestamp === undefined;
  const metadata: Draft = { ...before };
  if (isFirst) metadata["deletionTimestamp"] = now;
  if (isFirst && !resource.markTerminating) {
    metadata["deletionGracePeriodSeconds"] = 0;
    if (before.generation) metadata["generation"] = before.generation + 1;
  }
  for (const [name, part] of Object.entries({ labels, annotations, ownerReferences })) {
    if (part) metadata[name] = part;
  }
  if (finalizers.length > 0) metadata["finalizers"] = finalizers;
  else delete metadata["finalizers"];
  const draft: Draft = { ...object, metadata };
  resource.markTerminating?.(draft, now);
  return draft;
}

function checkPreconditions(resource: Resource, found: ObjectMeta, wanted: { uid?: string; resourceVersion?: string }) {
  const { name = "" } = found;
  if (wanted.uid !== undefined && wanted.uid !== found.uid) {
    const fields = `the UID in the precondition (${wanted.uid}) does not match the UID in record (${found.uid})`;
    throw preconditionConflict(resource, name, `${fields}. The object might have been deleted and then recreated`);
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== found.resourceVersion) {
    const fields = `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match`;
    const record = `the ResourceVersion in record (${found.resourceVersion})`;
    throw preconditionConflict(resource, name, `${fields} ${record}. The object might have been modified`);
  }
}
