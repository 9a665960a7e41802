import type { OwnerReference } from "../../kube/index.ts";
import type { Registry } from "../api/registry.ts";
import type { Resource } from "../api/resource.ts";
import { type Entry, keyText, type ObjectKey } from "../object-store.ts";

/** The dependents of each owner, by the uid of the owner. */
export class Dependents {
  readonly #byOwner = new Map<string, Map<string, ObjectKey>>();

  /** Notes that an object changed from `previous` to `current`; undefined is absence. */
  update(key: ObjectKey, previous: Entry | undefined, current: Entry | undefined): void {
    const text = keyText(key);
    for (const { uid } of previous?.object.metadata.ownerReferences ?? []) {
      const known = this.#byOwner.get(uid);
      known?.delete(text);
      if (known?.size === 0) this.#byOwner.delete(uid);
    }
    for (const { uid } of current?.object.metadata.ownerReferences ?? []) {
      const known = this.#byOwner.get(uid) ?? new Map<string, ObjectKey>();
      this.#byOwner.set(uid, known.set(text, key));
    }
  }

  list(uid: string | undefined): ObjectKey[] {
    return [...(this.#byOwner.get(uid ?? "")?.values() ?? [])];
  }

  /** Where the owners of an object would be, whether or not they exist. */
  listOwners(registry: Registry, { object: { metadata } }: Entry): ObjectKey[] {
    return (metadata.ownerReferences ?? []).flatMap((owner) => ownerKey(registry, owner, metadata.namespace) ?? []);
  }
}

/** Where an owner is looked for; undefined if its kind is not known here. */
export function ownerKey(registry: Registry, owner: OwnerReference, namespace = ""): ObjectKey | undefined {
  const resource = ownerResource(registry, owner);
  if (!resource) return undefined;
  return { resource: resource.storedAs, namespace: resource.namespaced ? namespace : "", name: owner.name };
}

function ownerResource(registry: Registry, { apiVersion, kind }: OwnerReference): Resource | undefined {
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  return registry.ofKind(apiVersion, kind) ?? registry.all.find((one) => one.group === group && one.kind === kind);
}
