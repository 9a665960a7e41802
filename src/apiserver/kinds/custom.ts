import type { CrdVersion, CustomResourceDefinition, StructuralSchema } from "../../kube/index.ts";
import type { Conversion, Resource } from "../api/resource.ts";
import { deepFreeze, toDraft, writeJson } from "../json/json.ts";
import type { Entry } from "../object-store.ts";
import { Compiled } from "../structural/compiled.ts";
import { applyDefaults, hasDefaults } from "../structural/defaults.ts";
import { hasRules } from "../structural/rules.ts";
import { ageColumn, type Column, nameColumn } from "../tables/column.ts";
import { printerColumn } from "../tables/printer-column.ts";
import { convertEntry, defineResource, onceEach, selectableFields } from "./define-resource.ts";
import { objectMeta } from "./object-meta.ts";

const verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/**
 * The resources of a definition, one for each version that it serves. Objects older than `since` may lack its defaults and may
 * not match its schema.
 */
export function customResources(definition: CustomResourceDefinition, since: number): Resource[] {
  const { versions } = definition.spec;
  const storage = versions.find((version) => version.storage) ?? (versions[0] as CrdVersion);
  const refreshed = refresher(rootSchema(storage), since);
  return versions
    .filter(({ served }) => served)
    .map((version) => {
      const isCurrent = (entry: Entry) => version === storage && entry.revision > since;
      return { ...customResource(definition, version, storage, refreshed), isCurrent };
    });
}

function customResource(
  { spec }: CustomResourceDefinition,
  version: CrdVersion,
  storage: CrdVersion,
  refreshed: (entry: Entry) => Entry,
): Resource {
  const { group, names } = spec;
  const schema = rootSchema(version);
  const namespaced = spec.scope !== "Cluster";
  const conversion = version === storage ? undefined : sameButVersion(group, version.name, storage.name);
  const fields = (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, ""));
  return defineResource({
    ...names,
    group,
    version: version.name,
    namespaced,
    verbs,
    custom: true,
    schema,
    compiled: new Compiled(),
    hasRules: hasRules(schema),
    hasStatus: version.subresources?.status !== undefined,
    hasGeneration: true,
    unconditionalUpdate: false,
    selectable: selectableFields(namespaced, fields),
    fieldsByConversion: true,
    columns: columns(version),
    ...(conversion ? { conversion } : {}),
    refresh: refreshed,
    view: conversion ? onceEach((entry) => convertEntry(refreshed(entry), conversion)) : refreshed,
  });
}

/** The schema of the whole object: a definition cannot change the schema of metadata. */
function rootSchema({ schema }: CrdVersion): StructuralSchema {
  const root = schema?.openAPIV3Schema ?? {};
  const text: StructuralSchema = { type: "string" };
  return {
    ...root,
    type: "object",
    properties: { ...root.properties, apiVersion: text, kind: text, metadata: objectMeta },
  };
}

function columns({ additionalPrinterColumns }: CrdVersion): Column[] {
  const own = additionalPrinterColumns?.map(printerColumn) ?? [ageColumn("date")];
  return [nameColumn, ...own];
}

function sameButVersion(group: string, version: string, stored: string): Conversion {
  return {
    fromStored: (object) => ({ ...object, apiVersion: `${group}/${version}` }),
    toStored: (draft) => ({ ...draft, apiVersion: `${group}/${stored}` }),
  };
}

function refresher(schema: StructuralSchema, since: number): (entry: Entry) => Entry {
  if (!hasDefaults(schema)) return (entry) => entry;
  const fill = onceEach((entry) => {
    const draft = toDraft(entry.object);
    applyDefaults(draft, schema);
    return { object: deepFreeze(draft), json: writeJson(draft), revision: entry.revision };
  });
  return (entry) => (entry.revision > since ? entry : fill(entry));
}
