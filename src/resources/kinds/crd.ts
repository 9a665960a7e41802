import {
  type CrdVersion,
  type CustomResourceDefinition,
  customResourceDefinitions,
  type StructuralSchema,
} from "../../kube/index.ts";
import { annotationKeys, managedBy } from "../names.ts";
import { structuralSchema } from "../schema/structural-schema.ts";
import { group, type Kind } from "./define-kind.ts";
import type { KindSchema } from "./schemas/define-schema.ts";
import { kindSchema } from "./schemas/kind-schema.ts";

/**
 * The format of all our kinds. Interlock refuses a server whose definitions have a higher format than its own, so it increases
 * only with a change that makes the previous version unable to run beside this one.
 */
const crdFormat = 1;

/** The definition of `kind` for an API server, with the fields that the server would add as defaults. */
export function toCrd(kind: Kind): CustomResourceDefinition {
  const { plural, singular, shortName } = kind;
  return {
    apiVersion: customResourceDefinitions.apiVersion,
    kind: customResourceDefinitions.kind,
    metadata: {
      name: `${plural}.${group}`,
      labels: { [managedBy.label]: managedBy.value },
      annotations: { [annotationKeys.format]: String(crdFormat) },
    },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular,
        shortNames: [shortName],
        categories: ["kubernaut", "interlock"],
      },
      conversion: { strategy: "None" },
      versions: [crdVersion(kind)],
    },
  };
}

function crdVersion(kind: Kind): CrdVersion {
  const selectableFields = kind.selectable.map((field) => ({ jsonPath: `.${field}` }));
  return {
    name: kind.apiVersion.slice(group.length + 1),
    served: true,
    storage: true,
    subresources: { status: {} },
    ...(selectableFields.length > 0 && { selectableFields }),
    additionalPrinterColumns: kind.columns,
    schema: { openAPIV3Schema: rootSchema(kindSchema(kind)) },
  };
}

function rootSchema({ description, spec, status, rules }: KindSchema): StructuralSchema {
  return {
    description,
    type: "object",
    required: ["spec"],
    properties: {
      apiVersion: { description: "Version of the schema, as in kubernaut.ai/v1alpha1.", type: "string" },
      kind: { description: "Kind of the object.", type: "string" },
      metadata: { type: "object" },
      spec: structuralSchema(spec),
      status: structuralSchema(status),
    },
    ...(rules.length > 0 && { "x-kubernetes-validations": rules }),
  };
}
