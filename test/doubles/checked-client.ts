import type { Call, KubeClient, KubeObject, ResourceType, WatchEvent } from "../../src/kube/index.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

/** One call of a client, for permission checks. */
export interface AttemptedCall {
  readonly verb: Verb;
  /** `leases`, `tasks/status` */
  readonly resource: string;
  readonly group: string;
  readonly namespace: string | undefined;
}

interface Target {
  readonly type: ResourceType;
  readonly namespace?: string | undefined;
  readonly subresource?: string | undefined;
}

/** `client`, whose calls are rejected with the errors that `check` throws. */
export function checkedClient(client: KubeClient, check: (attempt: AttemptedCall) => void): KubeClient {
  function checkTarget(verb: Verb, { type, namespace, subresource }: Target) {
    const resource = subresource ? `${type.plural}/${subresource}` : type.plural;
    const group = type.apiVersion.includes("/") ? type.apiVersion.slice(0, type.apiVersion.indexOf("/")) : "";
    check({ verb, resource, group, namespace });
  }

  /** Without an `await`, so that a call takes as many turns of the event loop as without the check. */
  function checked<Result>(verb: Verb, target: Target, work: () => Promise<Result>) {
    try {
      checkTarget(verb, target);
    } catch (error) {
      return Promise.reject(error);
    }
    return work();
  }

  return {
    ...client,
    get: (type, ref, call) => checked("get", { type, namespace: ref.namespace }, () => client.get(type, ref, call)),
    list: (type, query, call) =>
      checked("list", { type, namespace: query?.namespace }, () => client.list(type, query, call)),
    create: (type, object, call) =>
      checked("create", { type, namespace: object.metadata.namespace }, () => client.create(type, object, call)),
    update: (type, object, call) => {
      const target = { type, namespace: object.metadata.namespace, subresource: call?.subresource };
      return checked("update", target, () => client.update(type, object, call));
    },
    patch: (type, ref, patch, call) => {
      const target = { type, namespace: ref.namespace, subresource: call?.subresource };
      return checked("patch", target, () => client.patch(type, ref, patch, call));
    },
    delete: (type, ref, options, call) =>
      checked("delete", { type, namespace: ref.namespace }, () => client.delete(type, ref, options, call)),
    evict: (pod, options, call) => {
      const target = { type: pods, namespace: pod.namespace, subresource: "eviction" };
      return checked("create", target, () => client.evict(pod, options, call));
    },
    async *watch<T extends KubeObject>(
      type: ResourceType<T>,
      query: Parameters<KubeClient["watch"]>[1],
      call?: Call,
    ): AsyncIterable<WatchEvent<T>> {
      checkTarget("watch", { type, namespace: query.namespace });
      yield* client.watch(type, query, call);
    },
  };
}

const pods: ResourceType = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };
