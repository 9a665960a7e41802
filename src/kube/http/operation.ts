import { KubeError, type ListQuery } from "../client.ts";
import type { ResourceType } from "../object.ts";

/** One call of the port, as its errors name it. */
export interface Operation {
  readonly verb: "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";
  readonly type: ResourceType;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: "status" | "eviction" | "log" | undefined;
}

/** Where the objects of an operation live: `/apis/coordination.k8s.io/v1/namespaces/default/leases/a`. */
export function operationPath({ type, namespace, name, subresource }: Operation): string {
  const root = type.apiVersion.includes("/") ? "/apis" : "/api";
  const place = type.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  const object = name ? `/${encodeURIComponent(name)}` : "";
  return `${root}/${type.apiVersion}${place}/${type.plural}${object}${subresource ? `/${subresource}` : ""}`;
}

/** The selectors of `query` and `more` parameters, as a query string. */
export function toQuery({ labelSelector, fieldSelector }: ListQuery, more: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(more);
  if (labelSelector) query.set("labelSelector", labelSelector);
  if (fieldSelector) query.set("fieldSelector", fieldSelector);
  return query.size ? `?${query}` : "";
}

/** `create leases.coordination.k8s.io "a" in the namespace "default"` */
export function describeOperation({ verb, type, namespace, name, subresource }: Operation): string {
  const group = apiGroup(type);
  const title = `${type.plural}${group ? `.${group}` : ""}${subresource ? `/${subresource}` : ""}`;
  return `${verb} ${title}${name ? ` ${JSON.stringify(name)}` : ""} ${describePlace(type, namespace)}`;
}

/** Worded as Kubernetes words it: names the rule that a Role lacks. */
export function permissionFor({ verb, type, namespace, subresource }: Operation): string {
  const resource = subresource ? `${type.plural}/${subresource}` : type.plural;
  return `cannot ${verb} resource "${resource}" in API group "${apiGroup(type)}" ${describePlace(type, namespace)}`;
}

/** Throws for an operation without a required name or namespace, or with one that would change the path of the request. */
export function checkOperation<O extends Operation>(operation: O): O {
  const { verb, type, namespace, name } = operation;
  if (!name && verb !== "create") throw new TypeError(`a name of ${type.plural} is required`);
  if (type.namespaced && !namespace) throw new TypeError(`a namespace of ${type.plural} is required`);
  for (const part of [name, namespace]) {
    if (part === "." || part === "..")
      throw new KubeError("invalid", `${describeOperation(operation)}: may not be "${part}"`);
  }
  return operation;
}

function describePlace(type: ResourceType, namespace: string | undefined): string {
  return type.namespaced && namespace ? `in the namespace "${namespace}"` : "at the cluster scope";
}

function apiGroup({ apiVersion }: ResourceType): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}
