import type { KubeObject, PrinterColumn, ResourceType } from "../../kube/index.ts";

/** One of our kinds: its resource type and printer columns. Its schema is in `schemas/`. */
export interface Kind<T extends KubeObject = KubeObject> extends ResourceType<T> {
  readonly singular: string;
  readonly shortName: string;
  readonly columns: readonly PrinterColumn[];
  /** Fields of `spec` that a field selector may name, such as `spec.targetResource`. */
  readonly selectable: readonly string[];
}

export const group = "kubernaut.ai";
export const apiVersion = `${group}/v1alpha1`;

type Draft = Pick<Kind, "kind" | "shortName" | "columns"> & Partial<Pick<Kind, "selectable">>;

/** A kind of `kubernaut.ai/v1alpha1`. All of them are namespaced and have a status subresource. */
export function defineKind<T extends KubeObject>({ kind, selectable = [], ...draft }: Draft): Kind<T> {
  const singular = kind.toLowerCase();
  return { apiVersion, kind, singular, plural: `${singular}s`, namespaced: true, selectable, ...draft };
}

/** When the object was created. */
export const ageColumn: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** Why work on the object keeps failing, if it does. */
export const stalledColumn: PrinterColumn = {
  name: "Stalled",
  type: "string",
  jsonPath: '.status.conditions[?(@.type=="Stalled")].reason',
  description: "Why its writes keep failing",
};
