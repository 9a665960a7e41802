import { type Api, commit } from "../api/api.ts";
import { deleteObject } from "../api/delete.ts";
import type { Resource } from "../api/resource.ts";
import { ended } from "../api/update.ts";
import { namespaces } from "../kinds/namespaces.ts";

/** Empties a namespace that is being deleted; removes it when nothing is left in it. */
export async function lookAfterNamespace(api: Api, name: string): Promise<void> {
  const { deletionTimestamp } = api.store.get(namespaces.storedAs, "", name)?.object.metadata ?? {};
  if (!deletionTimestamp) return;

  let left = 0;
  for (const resource of storedIn(api)) {
    for (const { object } of [...api.store.list(resource.storedAs, name)]) {
      const { metadata } = object;
      const ref = { namespace: name, name: metadata.name ?? "" };
      const gone = !metadata.deletionTimestamp && (await deleteObject(api, resource, ref)).gone;
      if (!gone) left++;
    }
  }
  if (left > 0) return;
  await commit(api, namespaces, { namespace: "", name }, (current, revision) => {
    if (!current?.object.metadata.deletionTimestamp || current.object.metadata.finalizers) {
      return { do: "nothing", result: undefined };
    }
    return { do: "delete", ...ended(current.object, revision), result: undefined };
  });
}

/** One resource for each kind of object that lives in namespaces. */
function storedIn({ registry }: Api): Resource[] {
  const each = new Map(registry.all.filter(({ namespaced }) => namespaced).map((one) => [one.storedAs, one]));
  return [...each.values()];
}
