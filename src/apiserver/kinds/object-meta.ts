import type { StructuralSchema } from "../../kube/index.ts";

const text: StructuralSchema = { type: "string" };
const texts: StructuralSchema = { type: "object", additionalProperties: text };

/** metadata, the same for every kind. */
export const objectMeta: StructuralSchema = {
  type: "object",
  description: "ObjectMeta is metadata that all persisted resources must have.",
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: { type: "integer", format: "int64" },
    creationTimestamp: { type: "string", format: "date-time" },
    deletionTimestamp: { type: "string", format: "date-time" },
    deletionGracePeriodSeconds: { type: "integer", format: "int64" },
    labels: texts,
    annotations: texts,
    finalizers: { type: "array", items: text },
    ownerReferences: {
      type: "array",
      items: {
        type: "object",
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: { type: "boolean" },
          blockOwnerDeletion: { type: "boolean" },
        },
      },
    },
    managedFields: { type: "array", items: { "x-kubernetes-preserve-unknown-fields": true } },
  },
};
