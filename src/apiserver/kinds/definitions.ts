import type { CustomResourceDefinition, KubeObject, StructuralSchema } from "../../kube/index.ts";
import { type Draft, member } from "../json/json.ts";
import { anything } from "../structural/schema.ts";
import { createdAtColumn, nameColumn } from "../tables/column.ts";
import { defineResource } from "./define-resource.ts";
import { definitionProblems } from "./definition-problems.ts";

const text: StructuralSchema = { type: "string" };
const texts: StructuralSchema = { type: "array", items: text };
const flag: StructuralSchema = { type: "boolean" };

/** The finalizer that keeps a deleted definition until its objects are gone. */
const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/** CustomResourceDefinitions. Each becomes a resource as soon as it is stored. */
export const definitions = defineResource({
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  group: "apiextensions.k8s.io",
  namespaced: false,
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  hasStatus: true,
  hasGeneration: true,
  fields: {
    spec: {
      type: "object",
      properties: {
        group: text,
        scope: text,
        names: {
          type: "object",
          properties: {
            plural: text,
            singular: text,
            kind: text,
            listKind: text,
            shortNames: texts,
            categories: texts,
          },
        },
        versions: {
          type: "array",
          items: {
            type: "object",
            properties: {
              name: text,
              served: flag,
              storage: flag,
              deprecated: flag,
              deprecationWarning: text,
              schema: { type: "object", properties: { openAPIV3Schema: anything } },
              subresources: { type: "object", properties: { status: anything, scale: anything } },
              additionalPrinterColumns: {
                type: "array",
                items: {
                  type: "object",
                  properties: {
                    name: text,
                    type: text,
                    format: text,
                    description: text,
                    priority: { type: "integer", format: "int32" },
                    jsonPath: text,
                  },
                },
              },
              selectableFields: { type: "array", items: { type: "object", properties: { jsonPath: text } } },
            },
          },
        },
        conversion: { type: "object", properties: { strategy: text, webhook: anything } },
        preserveUnknownFields: flag,
      },
    },
    status: anything,
  },
  columns: [nameColumn, createdAtColumn],
  prepare,
  problems: (object) => definitionProblems(object as CustomResourceDefinition),
  markTerminating: (draft, now) => {
    const metadata = draft.metadata as Draft;
    metadata["finalizers"] = [cleanupFinalizer];
    const conditions = (member(draft.status, "conditions") ?? []) as readonly object[];
    const terminating = {
      type: "Terminating",
      status: "True",
      lastTransitionTime: now,
      reason: "InstanceDeletionPending",
      message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    };
    draft.status = { ...(draft.status as object), conditions: [...conditions, terminating] };
  },
});

function prepare(draft: Draft, old: KubeObject | undefined) {
  const spec = (draft.spec ?? {}) as Draft;
  const names = (spec["names"] ?? {}) as Draft;
  const kind = String(names["kind"] ?? "");
  names["singular"] ??= kind.toLowerCase();
  names["listKind"] ??= `${kind}List`;
  spec["names"] = names;
  spec["conversion"] ??= { strategy: "None" };
  if (spec["preserveUnknownFields"] === false) delete spec["preserveUnknownFields"];
  draft.spec = spec;

  const versions = (Array.isArray(spec["versions"]) ? spec["versions"] : []) as readonly Draft[];
  const stored = versions.filter((version) => version["storage"] === true).map((version) => version["name"]);
  if (!old) {
    draft.status = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: stored };
    return;
  }
  const before = (member(old, "status", "storedVersions") ?? []) as readonly unknown[];
  draft.status = { ...(draft.status as object), storedVersions: [...new Set([...before, ...stored])] };
}
