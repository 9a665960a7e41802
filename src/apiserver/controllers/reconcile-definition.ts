import type { CustomResourceDefinition } from "../../kube/index.ts";
import { type Api, commit, sealObject, timestamp } from "../api/api.ts";
import { deleteObject } from "../api/delete.ts";
import type { Resource } from "../api/resource.ts";
import { markEnded } from "../api/update.ts";
import { definitions } from "../kinds/definitions.ts";

/** Marks a new definition as established; removes the objects of a deleted one, then the definition. */
export async function reconcileDefinition(api: Api, name: string): Promise<void> {
  const definition = api.store.get(definitions.storedAs, "", name)?.object as CustomResourceDefinition | undefined;
  if (!definition) return;
  if (definition.metadata.deletionTimestamp) await removeDefinition(api, definition);
  else await establish(api, definition);
}

async function establish(api: Api, { metadata, status, spec }: CustomResourceDefinition) {
  const { shortNames, categories, ...names } = spec.names;
  const accepted = { ...names, ...(shortNames && { shortNames }), ...(categories && { categories }) };
  const ready = status?.conditions?.some(({ type }) => type === "Established");
  if (ready && JSON.stringify(status?.acceptedNames) === JSON.stringify(accepted)) return;

  const now = timestamp(api.clock);
  const condition = (type: string, reason: string, message: string) => {
    const known = status?.conditions?.find((one) => one.type === type);
    return known ?? { type, status: "True", lastTransitionTime: now, reason, message };
  };
  const conditions = [
    condition("NamesAccepted", "NoConflicts", "no conflicts found"),
    condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
  ];
  await commit(api, definitions, { namespace: "", name: metadata.name ?? "" }, (current, revision) => {
    const latest = current?.object as CustomResourceDefinition | undefined;
    if (!latest || latest.metadata.resourceVersion !== metadata.resourceVersion)
      return { do: "nothing", result: undefined };
    const changed = sealObject(
      { ...latest, status: { ...latest.status, conditions, acceptedNames: accepted } },
      revision,
    );
    return { do: "put", ...changed, result: undefined };
  });
}

async function removeDefinition(api: Api, { metadata, spec }: CustomResourceDefinition) {
  const resource = api.registry.all.find(
    ({ custom, storedAs }) => custom && storedAs === `${spec.names.plural}.${spec.group}`,
  );
  if (resource && (await deleteObjects(api, resource)) > 0) return;
  await commit(api, definitions, { namespace: "", name: metadata.name ?? "" }, (current, revision) => {
    if (!current?.object.metadata.deletionTimestamp) return { do: "nothing", result: undefined };
    return { do: "delete", ...markEnded(current.object, revision), result: undefined };
  });
}

/** Deletes all objects of a resource, or those of one namespace. Returns how many remain until their finalizers are removed. */
export async function deleteObjects(api: Api, resource: Resource, namespace?: string): Promise<number> {
  let left = 0;
  for (const { key, object } of [...api.store.list(resource.storedAs, namespace)]) {
    const gone = !object.metadata.deletionTimestamp && (await deleteObject(api, resource, key)).gone;
    if (!gone) left++;
  }
  return left;
}
