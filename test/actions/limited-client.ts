import type { Right } from "../../src/actions/index.ts";
import { type KubeClient, KubeError, type KubeObject, type ResourceType } from "../../src/kube/index.ts";

export interface LimitedClientOptions {
  /** A verb on a resource that the identity lacks, although its role may contain it. */
  readonly without?: { readonly verb: string; readonly resource: string };
  /** Access reviews claim that `without` is allowed, as if the right were taken away after the review. */
  readonly reviewsAreOutdated?: boolean;
}

export interface LimitedClient extends KubeClient {
  /** All successful writes, in order. */
  readonly written: readonly string[];
}

/** A client that may do what the rights of an action allow, and nothing else, as a real API server sees to it. */
export function limitedClient(
  client: KubeClient,
  rights: readonly Right[],
  { without, reviewsAreOutdated = false }: LimitedClientOptions = {},
): LimitedClient {
  const written: string[] = [];

  function isGranted(verb: string, group: string, resource: string): boolean {
    return rights.some((right) => {
      return right.group === group && right.resource === resource && (right.verbs as readonly string[]).includes(verb);
    });
  }

  function demand(verb: string, type: ResourceType, namespace?: string, subresource?: string) {
    const resource = subresource ? `${type.plural}/${subresource}` : type.plural;
    const group = groupOf(type);
    const isTaken = without?.verb === verb && without.resource === resource;
    if (isGranted(verb, group, resource) && !isTaken) return;
    const place = namespace ? `in the namespace "${namespace}"` : "at the cluster scope";
    throw new KubeError("forbidden", `cannot ${verb} resource "${resource}" in API group "${group}" ${place}`);
  }

  async function writing<T extends { readonly kind: string }>(text: string, write: () => Promise<T>): Promise<T> {
    const outcome = await write();
    if (["created", "updated", "deleted", "evicted"].includes(outcome.kind)) written.push(text);
    return outcome;
  }

  return {
    ...client,
    written,
    async get(type, ref, call) {
      demand("get", type, ref.namespace);
      return await client.get(type, ref, call);
    },
    async list(type, query, call) {
      demand("list", type, query?.namespace);
      return await client.list(type, query, call);
    },
    async create<T extends KubeObject>(type: ResourceType<T>, object: T, call?: object) {
      if (type.plural === "selfsubjectaccessreviews") {
        const { verb, group, resource, subresource } = (object as unknown as Review).spec.resourceAttributes;
        const plural = subresource ? `${resource}/${subresource}` : resource;
        const isTaken = !reviewsAreOutdated && without?.verb === verb && without.resource === plural;
        const allowed = isGranted(verb, group, plural) && !isTaken;
        return { kind: "created", object: { ...object, status: { allowed } } };
      }
      demand("create", type, object.metadata.namespace);
      return await writing(`create ${type.plural}`, () => client.create(type, object, call));
    },
    async update(type, object, call) {
      demand("update", type, object.metadata.namespace, call?.subresource);
      return await writing(`update ${type.plural}`, () => client.update(type, object, call));
    },
    async patch(type) {
      throw new Error(`no action patches ${type.plural}`);
    },
    async delete(type, ref, options, call) {
      demand("delete", type, ref.namespace);
      return await writing(`delete ${type.plural}`, () => client.delete(type, ref, options, call));
    },
    async evict(pod, options, call) {
      demand("create", { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true }, pod.namespace, "eviction");
      return await writing("evict pods", () => client.evict(pod, options, call));
    },
  };
}

interface Review {
  readonly spec: {
    readonly resourceAttributes: {
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource?: string;
    };
  };
}

function groupOf({ apiVersion }: ResourceType): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}
