import type { KubeObject, ResourceType } from "../../kube/index.ts";
import type { StructuralSchema } from "../schema/structural.ts";
import type { CustomKind } from "../target/kinds.ts";
import type { PrinterColumn } from "./define-kind.ts";

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
