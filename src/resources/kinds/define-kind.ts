import { z } from "zod";
import type { KubeObject, ResourceType } from "../../kube/index.ts";
import type { CelRule } from "../schema/rules.ts";

/** One of our kinds: its resource type, schema and printer columns. */
export interface Kind<T extends KubeObject = KubeObject> extends ResourceType<T> {
  readonly singular: string;
  readonly shortName: string;
  /** One sentence for `kubectl explain`. */
  readonly description: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  /** Spec and status with what surrounds them. */
  readonly object: z.ZodType;
  readonly columns: readonly PrinterColumn[];
  /** Rules about the object as a whole. */
  readonly rules: readonly CelRule[];
  /** Fields of `spec` that a field selector may name, such as `spec.targetResource`. */
  readonly selectable: readonly string[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "date" | "boolean";
  readonly jsonPath: string;
  readonly description?: string;
  /** 1: only with `-o wide`. */
  readonly priority?: 1;
}

export const group = "kubernaut.ai";
const apiVersion = `${group}/v1alpha1`;

type Draft = Omit<Kind, keyof ResourceType | "singular" | "object" | "selectable" | "rules"> & {
  readonly kind: string;
  readonly rules?: readonly CelRule[];
  readonly selectable?: readonly string[];
};

/** A kind of `kubernaut.ai/v1alpha1`. All of them are namespaced and have a status subresource. */
export function defineKind<T extends KubeObject>({ kind, selectable = [], rules = [], ...draft }: Draft): Kind<T> {
  const singular = kind.toLowerCase();
  const object = objectSchema({ kind, ...draft });
  return { apiVersion, kind, singular, plural: `${singular}s`, namespaced: true, object, selectable, rules, ...draft };
}

/** Of the metadata only the shape is looked at; the rest is the API server's business. */
function objectSchema({ kind, spec, status }: Pick<Kind, "kind" | "spec" | "status">): z.ZodType {
  return z.strictObject({
    apiVersion: z.literal(apiVersion),
    kind: z.literal(kind),
    metadata: z.looseObject({
      name: z.string().optional(),
      namespace: z.string().optional(),
      labels: z.record(z.string(), z.string()).optional(),
      annotations: z.record(z.string(), z.string()).optional(),
    }),
    spec,
    status: status.optional(),
  });
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
