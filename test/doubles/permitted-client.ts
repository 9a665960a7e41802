import { type KubeClient, KubeError, type ResourceType } from "../../src/kube/index.ts";
import {
  type Permission,
  type Places,
  permissions,
  type StageName,
  usualManifests,
} from "../../src/manifests/index.ts";

/** A client that may do what the shipped roles of `stage` allow, and nothing else, as a real API server sees to it. */
export function permittedClient(
  client: KubeClient,
  stage: StageName,
  places: Places = usualManifests.places,
): KubeClient {
  function demand(verb: Permission["verbs"][number], type: ResourceType, namespace?: string, subresource?: string) {
    const resource = subresource ? `${type.plural}/${subresource}` : type.plural;
    const [group = ""] = type.apiVersion.includes("/") ? type.apiVersion.split("/") : [""];
    const isAllowed = permissions[stage].some(
      (one) =>
        one.group === group &&
        one.resources.includes(resource) &&
        one.verbs.includes(verb) &&
        (one.where === "anywhere" || places[one.where] === namespace),
    );
    if (isAllowed) return;
    const where = namespace ? `in the namespace ${namespace}` : "at the cluster scope";
    throw new KubeError("forbidden", `interlock-${stage} cannot ${verb} ${resource} in ${group || "core"} ${where}`);
  }

  return {
    ...client,
    async get(type, ref, call) {
      demand("get", type, ref.namespace);
      return await client.get(type, ref, call);
    },
    async list(type, query, call) {
      demand("list", type, query?.namespace);
      return await client.list(type, query, call);
    },
    async create(type, object, call) {
      demand("create", type, object.metadata.namespace);
      return await client.create(type, object, call);
    },
    async update(type, object, call) {
      demand("update", type, object.metadata.namespace, call?.subresource);
      return await client.update(type, object, call);
    },
    async patch(type, ref, patch, call) {
      demand("patch", type, ref.namespace, call?.subresource);
      return await client.patch(type, ref, patch, call);
    },
    async delete(type, ref, options, call) {
      demand("delete", type, ref.namespace);
      return await client.delete(type, ref, options, call);
    },
    async evict(pod, options, call) {
      demand("create", { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true }, pod.namespace, "eviction");
      return await client.evict(pod, options, call);
    },
    watch(type, query, call) {
      demand("watch", type, query.namespace);
      return client.watch(type, query, call);
    },
  };
}
