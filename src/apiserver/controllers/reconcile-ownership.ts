import type { KubeObject, OwnerReference } from "../../kube/index.ts";
import type { Api } from "../api/api.ts";
import { deleteObject } from "../api/delete.ts";
import { patchObject } from "../api/patch.ts";
import type { Resource } from "../api/resource.ts";
import type { Entry, ObjectKey } from "../object-store.ts";
import { type Dependents, ownerKey } from "./dependents.ts";

/**
 * Garbage collection of one object, in both of its roles. As an owner that is being deleted it waits for its dependents
 * (foreground) or lets them go (orphan). As a dependent it is deleted when its last owner is gone.
 */
export async function reconcileOwnership(api: Api, dependents: Dependents, key: ObjectKey): Promise<void> {
  const entry = api.store.get(key.resource, key.namespace, key.name);
  const resource = api.registry.all.find(({ storedAs }) => storedAs === key.resource);
  if (!entry || !resource) return;

  const { deletionTimestamp, finalizers = [], ownerReferences = [] } = entry.object.metadata;
  if (deletionTimestamp && finalizers.includes("orphan")) await orphanDependents(api, dependents, { resource, entry });
  if (deletionTimestamp && finalizers.includes("foregroundDeletion")) {
    await awaitDependents(api, dependents, { resource, entry });
  }
  if (!deletionTimestamp && ownerReferences.length > 0) await keepIfOwned(api, resource, entry);
}

interface Owner {
  readonly resource: Resource;
  readonly entry: Entry;
}

async function orphanDependents(api: Api, dependents: Dependents, { resource, entry }: Owner) {
  const { uid } = entry.object.metadata;
  for (const key of dependents.list(uid)) {
    const dependent = findOwner(api, key);
    if (dependent) await setOwners(api, dependent, (owner) => owner.uid !== uid);
  }
  await dropFinalizer(api, resource, entry.object, "orphan");
}

async function awaitDependents(api: Api, dependents: Dependents, { resource, entry }: Owner) {
  const { uid } = entry.object.metadata;
  let blocking = 0;
  for (const key of dependents.list(uid)) {
    const dependent = findOwner(api, key);
    if (!dependent) continue;
    await keepIfOwned(api, dependent.resource, dependent.entry);
    const still = findOwner(api, key)?.entry.object.metadata.ownerReferences ?? [];
    if (still.some((owner) => owner.uid === uid && owner.blockOwnerDeletion)) blocking++;
  }
  if (blocking === 0) await dropFinalizer(api, resource, entry.object, "foregroundDeletion");
}

async function keepIfOwned(api: Api, resource: Resource, entry: Entry) {
  const { metadata } = entry.object;
  const owners = (metadata.ownerReferences ?? []).map((owner) => ({
    owner,
    state: ownerState(api, owner, metadata.namespace),
  }));
  if (owners.every(({ state }) => state === "lives") || owners.length === 0) return;

  if (owners.some(({ state }) => state === "lives")) {
    const lost = new Set(owners.filter(({ state }) => state !== "lives").map(({ owner }) => owner.uid));
    await setOwners(api, { resource, entry }, (owner) => !lost.has(owner.uid));
  } else if (!metadata.deletionTimestamp) {
    const preconditions = { uid: metadata.uid ?? "", resourceVersion: metadata.resourceVersion ?? "" };
    await deleteObject(api, resource, refOf(entry.object), { preconditions });
  }
}

/** An owner of an unknown kind counts as living: keeping too much is better than deleting too much. */
function ownerState(api: Api, owner: OwnerReference, namespace: string | undefined): "lives" | "waits" | "gone" {
  const key = ownerKey(api.registry, owner, namespace);
  if (!key) return "lives";
  const metadata = api.store.get(key.resource, key.namespace, key.name)?.object.metadata;
  if (metadata?.uid !== owner.uid) return "gone";
  return metadata.deletionTimestamp && metadata.finalizers?.includes("foregroundDeletion") ? "waits" : "lives";
}

function findOwner(api: Api, key: ObjectKey): Owner | undefined {
  const entry = api.store.get(key.resource, key.namespace, key.name);
  const resource = api.registry.all.find(({ storedAs }) => storedAs === key.resource);
  return entry && resource && { entry, resource };
}

async function setOwners(api: Api, { resource, entry }: Owner, keep: (owner: OwnerReference) => boolean) {
  const { resourceVersion, ownerReferences = [] } = entry.object.metadata;
  const kept = ownerReferences.filter(keep);
  const value = { metadata: { resourceVersion, ownerReferences: kept.length > 0 ? kept : null } };
  await patchObject(api, resource, { kind: "merge", value }, refOf(entry.object));
}

async function dropFinalizer(api: Api, resource: Resource, object: KubeObject, finalizer: string) {
  const { resourceVersion, finalizers = [] } = object.metadata;
  const kept = finalizers.filter((one) => one !== finalizer);
  const value = { metadata: { resourceVersion, finalizers: kept.length > 0 ? kept : null } };
  await patchObject(api, resource, { kind: "merge", value }, refOf(object));
}

function refOf({ metadata }: KubeObject): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}
