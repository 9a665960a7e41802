import { z } from "zod";
import type { ValidationRule } from "../../../kube/index.ts";
import { apiVersion } from "../define-kind.ts";

/** How objects of one of our kinds are checked. */
export interface KindSchema {
  readonly kind: string;
  /** One sentence for `kubectl explain`. */
  readonly description: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  /** Spec and status with what surrounds them. */
  readonly object: z.ZodType;
  /** Rules about the object as a whole. */
  readonly rules: readonly ValidationRule[];
}

type SchemaDraft = Omit<KindSchema, "object" | "rules"> & Partial<Pick<KindSchema, "rules">>;

export function defineSchema({ rules = [], ...draft }: SchemaDraft): KindSchema {
  return { ...draft, rules, object: objectSchema(draft) };
}

/** Of the metadata only the shape is looked at; the rest is the API server's business. */
function objectSchema({ kind, spec, status }: Pick<KindSchema, "kind" | "spec" | "status">): z.ZodType {
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
