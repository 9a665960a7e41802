import { z } from "zod";
import type { ValidationRule } from "../../../kube/index.ts";
import { apiVersion } from "../define-kind.ts";

/** The schema of one of our kinds. */
export interface KindSchema {
  readonly kind: string;
  /** One sentence for `kubectl explain`. */
  readonly description: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  /** Of the whole object. */
  readonly object: z.ZodType;
  /** Rules about the object as a whole. */
  readonly rules: readonly ValidationRule[];
}

type SchemaDraft = Omit<KindSchema, "object" | "rules"> & Partial<Pick<KindSchema, "rules">>;

export function defineSchema({ rules = [], ...draft }: SchemaDraft): KindSchema {
  return { ...draft, rules, object: objectSchema(draft) };
}

/** Checks only the types of the metadata; the API server checks the values. */
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
