import { exactly, type KubeObject, type OwnerReference } from "../../kube/index.ts";
import type { Api } from "../api/api.ts";
import { deleteObject } from "../api/delete.ts";
import { patchObject } from "../api/patch.ts";
import type { Resource } from "../api/resource.ts";
import type { ObjectKey } from "../object-store.ts";
import { type Dependents, ownerKey } from "./dependents.ts";

/**
 * Collects garbage around one object. As an owner that is being deleted it waits for its dependents (foreground) or releases
 * them (orphan). As a dependent it is deleted when its last owner is gone.
 */
export async function reconcileOwnership(api: Api, dependents: Dependents, key: ObjectKey): Promise<void> {
  const found = find(api, key);
  if (!found) return;

  const { deletionTimestamp, finalizers = [] } = found.object.metadata;
  if (deletionTimestamp && finalizers.includes("orphan")) await orphanDependents(api, dependents, found);
  if (deletionTimestamp && finalizers.includes("foregroundDeletion")) await awaitDependents(api, dependents, found);
  if (!deletionTimestamp) await deleteIfOrphaned(api, found);
}

interface Found {
  readonly resource: Resource;
  readonly object: KubeObject;
}

function find(api: Api, key: ObjectKey): Found | undefined {
  const entry = api.store.get(key.resource, key.namespace, key.name);
  const resource = api.registry.all.find(({ storedAs }) => storedAs === key.resource);
  return entry && resource && { resource, object: entry.object };
}

async function orphanDependents(api: Api, dependents: Dependents, owner: Found) {
  const { uid } = owner.object.metadata;
  for (const key of dependents.list(uid)) {
    const dependent = find(api, key);
    const others = dependent?.object.metadata.ownerReferences?.filter((reference) => reference.uid !== uid);
    if (dependent) await setOwners(api, dependent, others ?? []);
  }
  await dropFinalizer(api, owner, "orphan");
}

async function awaitDependents(api: Api, dependents: Dependents, owner: Found) {
  const { uid } = owner.object.metadata;
  let blocking = 0;
  for (const key of dependents.list(uid)) {
    const dependent = find(api, key);
    if (!dependent) continue;
    await deleteIfOrphaned(api, dependent);
    const remaining = find(api, key)?.object.metadata.ownerReferences ?? [];
    if (remaining.some((reference) => reference.uid === uid && reference.blockOwnerDeletion)) blocking++;
  }
  if (blocking === 0) await dropFinalizer(api, owner, "foregroundDeletion");
}

/** Deletes an object whose owners are all gone or going. Of several owners, it drops the references to those that are. */
async function deleteIfOrphaned(api: Api, dependent: Found) {
  const { object, resource } = dependent;
  const { deletionTimestamp, ownerReferences = [], namespace } = object.metadata;
  const living = ownerReferences.filter((owner) => isAlive(api, owner, namespace));
  if (living.length === ownerReferences.length) return;

  if (living.length > 0) await setOwners(api, dependent, living);
  else if (!deletionTimestamp) await deleteObject(api, resource, refOf(object), { preconditions: exactly(object) });
}

/** False for an owner that waits until its dependents are deleted. */
function isAlive(api: Api, owner: OwnerReference, namespace: string | undefined): boolean {
  const key = ownerKey(api.registry, owner, namespace);
  // An owner of an unknown kind counts as alive: keeping too much is better than deleting too much.
  if (!key) return true;
  const metadata = api.store.get(key.resource, key.namespace, key.name)?.object.metadata;
  if (metadata?.uid !== owner.uid) return false;
  return !metadata.deletionTimestamp || !metadata.finalizers?.includes("foregroundDeletion");
}

async function setOwners(api: Api, { resource, object }: Found, owners: readonly OwnerReference[]) {
  const ownerReferences = owners.length > 0 ? owners : null;
  const value = { metadata: { resourceVersion: object.metadata.resourceVersion, ownerReferences } };
  await patchObject(api, resource, { kind: "merge", value }, refOf(object));
}

async function dropFinalizer(api: Api, { resource, object }: Found, finalizer: string) {
  const { resourceVersion, finalizers = [] } = object.metadata;
  const kept = finalizers.filter((one) => one !== finalizer);
  const value = { metadata: { resourceVersion, finalizers: kept.length > 0 ? kept : null } };
  await patchObject(api, resource, { kind: "merge", value }, refOf(object));
}

function refOf({ metadata }: KubeObject): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}
