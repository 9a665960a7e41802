import type { KubeObject, ResourceType } from "../../kube/index.ts";
import { annotationKeys, managedBy } from "../names.ts";
import type { StructuralSchema } from "../schema/structural.ts";
import { structuralSchema } from "../schema/structural-schema.ts";
import type { CustomKind } from "../target/kinds.ts";
import { group, type Kind, type PrinterColumn } from "./define-kind.ts";

/** apiextensions.k8s.io/v1 CustomResourceDefinition, as far as we read and write it. */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: {
      readonly kind: string;
      readonly listKind?: string;
      readonly plural: string;
      readonly singular?: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly versions: readonly CrdVersion[];
    readonly conversion?: { readonly strategy: string };
  };
}

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources?: { readonly status?: Readonly<Record<string, never>> };
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly schema?: { readonly openAPIV3Schema: StructuralSchema };
}

export const customResourceDefinitions: ResourceType<CustomResourceDefinition> = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};

/**
 * The format of all our kinds. A version of Interlock refuses a server whose definitions have a higher one, so it is raised
 * only for a change with which the version before could not work beside this one.
 */
const crdFormat = 1;

/** The definition that makes an API server serve `kind`. It spells out what a server would add by itself. */
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
      versions: [versionOf(kind)],
    },
  };
}

function versionOf(kind: Kind): CrdVersion {
  const selectableFields = kind.selectable.map((field) => ({ jsonPath: `.${field}` }));
  return {
    name: kind.apiVersion.slice(group.length + 1),
    served: true,
    storage: true,
    subresources: { status: {} },
    ...(selectableFields.length > 0 && { selectableFields }),
    additionalPrinterColumns: kind.columns,
    schema: { openAPIV3Schema: rootSchema(kind) },
  };
}

function rootSchema({ description, spec, status, rules }: Kind): StructuralSchema {
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

/** The kinds that definitions add to the built-in ones, for `kindsWith`. */
export function toCustomKinds(definitions: readonly Pick<CustomResourceDefinition, "spec">[]): CustomKind[] {
  return definitions.map(({ spec: { names, group: home, scope, versions } }) => {
    const version = preferredVersion(versions);
    return {
      kind: names.kind,
      plural: names.plural,
      group: home,
      namespaced: scope === "Namespaced",
      ...(names.singular && { singular: names.singular }),
      ...(names.shortNames && { shortNames: names.shortNames }),
      ...(version !== undefined && { version }),
    };
  });
}

/** The stored version, which needs no conversion, if it is served. */
function preferredVersion(versions: readonly CrdVersion[]): string | undefined {
  const served = versions.filter((version) => version.served);
  return (served.find(({ storage }) => storage) ?? served[0])?.name;
}

/** A definition without what only its own API needs: a schema may have a megabyte. */
export function namesOnly({ metadata, spec }: CustomResourceDefinition): CustomResourceDefinition {
  const { name = "", uid = "", resourceVersion = "" } = metadata;
  const { group: home, scope, names, versions } = spec;
  return {
    metadata: { name, uid, resourceVersion },
    spec: {
      group: home,
      scope,
      names,
      versions: versions.map(({ name, served, storage }) => ({ name, served, storage })),
    },
  };
}
