import type { KubeObject, StructuralSchema } from "../../kube/index.ts";
import type { Draft } from "../json/json.ts";
import type { Entry } from "../object-store.ts";
import type { Compiled } from "../structural/compiled.ts";
import type { Column } from "../tables/column.ts";
import type { FieldProblem } from "./problem.ts";
import type { Subject } from "./status-error.ts";

/** One resource as it is served: a kind in one version of its group, and the rules that its objects obey. */
export interface Resource extends Subject {
  readonly version: string;
  /** `v1`, `coordination.k8s.io/v1` */
  readonly apiVersion: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** Its name in the store. Several versions of one kind share their objects. */
  readonly storedAs: string;
  /** Made by a CustomResourceDefinition. */
  readonly custom: boolean;
  /** Describes every field: other fields are not stored. */
  readonly schema: StructuralSchema;
  /** The CEL rules of its schema. Only the schemas of definitions have some. */
  readonly compiled?: Compiled;
  /** Whether the schema has CEL rules. */
  readonly hasRules: boolean;
  readonly hasStatus: boolean;
  /** Other subresources that exist in discovery, with their verbs. */
  readonly subresources: readonly Subresource[];
  readonly hasGeneration: boolean;
  /** May be replaced without a resourceVersion. */
  readonly unconditionalUpdate: boolean;
  readonly createdByUpdate: boolean;
  /** Field selectors: the label, and the path of the field that it means. */
  readonly selectable: ReadonlyMap<string, readonly string[]>;
  /** Unknown field selectors are reported as the real server does for a kind with conversions. */
  readonly fieldsByConversion: boolean;
  readonly columns: readonly Column[];
  nameProblem(name: string): string | undefined;
  /** Sets the fields that the server decides for this kind. */
  prepare?(draft: Draft, old: KubeObject | undefined): void;
  /** The group in reports of invalid content, if it differs from `group`. */
  readonly problemGroup?: string;
  /** The problems that the schema does not describe. */
  problems?(object: KubeObject, old: KubeObject | undefined): FieldProblem[];
  /** Why nothing of this kind can be written here: it exists in discovery only. */
  readonly refusal?: string;
  /** For kinds whose objects are marked when they are deleted, and removed when a controller has emptied them. */
  readonly markTerminating?: (draft: Draft, nowText: string) => void;
  /** Between the stored form and this version. */
  readonly conversion?: Conversion;
  /** Whether the stored entry was pruned and checked by this schema. Its parts need neither again. */
  isCurrent(entry: Entry): boolean;
  /** The stored entry with the defaults that its schema got after it was written. */
  refresh(entry: Entry): Entry;
  /** The stored entry as this resource shows it; the entry itself when there is nothing to convert. */
  view(entry: Entry): Entry;
}

export interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
}

export interface Conversion {
  fromStored(object: KubeObject): KubeObject;
  toStored(draft: Draft): Draft;
}
