import { Multimap, type OwnerReference } from "../../kube/index.ts";
import type { Registry } from "../api/registry.ts";
import type { Resource } from "../api/resource.ts";
import type { Entry, ObjectKey, StoredEntry } from "../object-store.ts";

/** The dependents of each owner, by the uid of the owner. */
export class Dependents {
  readonly #byOwner = new Multimap<ObjectKey>();

  /** Notes that an object changed from `previous` to `current`; undefined is absence. Each entry is filed by its own key. */
  update(previous: StoredEntry | undefined, current: StoredEntry | undefined): void {
    if (previous) for (const { uid } of listOwnerReferences(previous)) this.#byOwner.delete(uid, previous.key);
    if (current) for (const { uid } of listOwnerReferences(current)) this.#byOwner.add(uid, current.key);
  }

  list(uid = ""): ObjectKey[] {
    return [...this.#byOwner.get(uid)];
  }

  /** The keys of the owners of an object, whether or not they exist. */
  listOwners(registry: Registry, entry: Entry): ObjectKey[] {
    const { namespace } = entry.object.metadata;
    return listOwnerReferences(entry).flatMap((owner) => ownerKey(registry, owner, namespace) ?? []);
  }
}

function listOwnerReferences({ object }: Entry): readonly OwnerReference[] {
  return object.metadata.ownerReferences ?? [];
}

/** The key of an owner; undefined if the server does not have its kind. */
export function ownerKey(registry: Registry, owner: OwnerReference, namespace = ""): ObjectKey | undefined {
  const resource = ownerResource(registry, owner);
  if (!resource) return undefined;
  return { resource: resource.storedAs, namespace: resource.namespaced ? namespace : "", name: owner.name };
}

function ownerResource(registry: Registry, { apiVersion, kind }: OwnerReference): Resource | undefined {
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  return registry.findKind(apiVersion, kind) ?? registry.all.find((one) => one.group === group && one.kind === kind);
}
