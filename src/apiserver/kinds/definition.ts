import type { KubeObject } from "../../kube/index.ts";
import type { Schema } from "../structural/schema.ts";

/** A CustomResourceDefinition, as far as we read it. */
export interface Definition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly scope: "Namespaced" | "Cluster";
    readonly names: DefinitionNames;
    readonly versions: readonly DefinitionVersion[];
    readonly conversion?: { readonly strategy?: string };
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null;
    readonly acceptedNames?: Partial<DefinitionNames>;
    readonly storedVersions?: readonly string[];
  };
}

export interface DefinitionNames {
  readonly plural: string;
  readonly kind: string;
  readonly singular?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: { readonly status?: object; readonly scale?: object };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}
