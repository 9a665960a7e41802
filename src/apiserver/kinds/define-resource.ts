import type { StructuralSchema } from "../../kube/index.ts";
import { subdomainProblem } from "../api/names.ts";
import type { Conversion, Resource } from "../api/resource.ts";
import { deepFreeze, writeJson } from "../json/json.ts";
import type { Entry } from "../object-store.ts";
import { anything } from "../structural/schema.ts";
import { ageColumn, nameColumn } from "../tables/column.ts";
import { objectMeta } from "./object-meta.ts";

/** The properties of a resource that have no default, and any of the others. */
export type KindDescription = Pick<Resource, "kind" | "plural"> &
  Partial<Resource> & { readonly fields?: StructuralSchema["properties"] };

const usualVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** A resource with the properties of `description`, and the defaults of built-in kinds for all others. */
export function defineResource({ kind, plural, fields, ...description }: KindDescription): Resource {
  const { group = "", version = "v1", namespaced = true } = description;
  return {
    kind,
    plural,
    group,
    version,
    apiVersion: group ? `${group}/${version}` : version,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: [],
    categories: [],
    namespaced,
    verbs: usualVerbs,
    storedAs: group ? `${plural}.${group}` : plural,
    custom: false,
    schema: kindSchema(fields ?? { spec: anything, status: anything }),
    hasRules: false,
    hasStatus: false,
    subresources: [],
    hasGeneration: false,
    unconditionalUpdate: true,
    createdByUpdate: false,
    selectable: selectableFields(namespaced),
    fieldsByConversion: false,
    columns: [nameColumn, ageColumn("string")],
    nameProblem: subdomainProblem,
    isCurrent: () => false,
    refresh: (entry: Entry) => entry,
    view: (entry: Entry) => entry,
    ...description,
  };
}

/** The fields that every kind can be selected by, and `more`. */
export function selectableFields(namespaced: boolean, more: readonly string[] = []): Map<string, readonly string[]> {
  const fields = ["metadata.name", ...(namespaced ? ["metadata.namespace"] : []), ...more];
  return new Map(fields.map((field) => [field, field.split(".")]));
}

function kindSchema(fields: NonNullable<StructuralSchema["properties"]>): StructuralSchema {
  const text: StructuralSchema = { type: "string" };
  return { type: "object", properties: { apiVersion: text, kind: text, metadata: objectMeta, ...fields } };
}

/** The stored entry as a version of its kind shows it. */
export function convertEntry(entry: Entry, { fromStored }: Conversion): Entry {
  const object = deepFreeze(fromStored(entry.object));
  return { object, json: writeJson(object), revision: entry.revision };
}

/** Converts each entry at most once. */
export function onceEach(convert: (entry: Entry) => Entry): (entry: Entry) => Entry {
  const known = new WeakMap<Entry, Entry>();
  return (entry) => {
    let result = known.get(entry);
    if (!result) {
      result = convert(entry);
      known.set(entry, result);
    }
    return result;
  };
}
