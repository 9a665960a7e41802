import type { KubeObject } from "../../kube/index.ts";
import { fieldSelector } from "../selectors/field-selector.ts";
import { type LabelSelector, labelSelector } from "../selectors/label-selector.ts";
import type { Resource } from "./resource.ts";

export interface SelectionQuery {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** Which objects of a resource a list or a watch is about. */
export interface Selection {
  readonly namespace: string | undefined;
  /** Whether more than a namespace narrows it. */
  readonly selects: boolean;
  /** The only object it can contain, if it is so narrow. */
  readonly single: { readonly namespace: string; readonly name: string } | undefined;
  /** A label that all it contains have, if it is so narrow. */
  readonly label: LabelSelector["equals"];
  /** Whether objects of this namespace can be in it. */
  includes(namespace: string): boolean;
  contains(object: KubeObject): boolean;
}

/** Reads the selectors of a request. Throws 400 for those that cannot be read. */
export function selection(resource: Resource, query: SelectionQuery): Selection {
  const labels = labelSelector(query.labelSelector);
  const fields = fieldSelector(query.fieldSelector, resource);
  const namespace = resource.namespaced ? (query.namespace ?? fields?.namespace) : undefined;
  const single =
    fields?.name !== undefined && (!resource.namespaced || namespace !== undefined)
      ? { namespace: namespace ?? "", name: fields.name }
      : undefined;
  const includes = (of: string) => query.namespace === undefined || !resource.namespaced || of === query.namespace;
  return {
    namespace,
    selects: labels !== undefined || fields !== undefined,
    single,
    label: single ? undefined : labels?.equals,
    includes,
    contains: (object) =>
      includes(object.metadata.namespace ?? "") &&
      (labels === undefined || labels(object.metadata.labels ?? {})) &&
      (fields === undefined || fields.matches(object)),
  };
}
