import { dnsLabelProblem } from "../api/names.ts";
import { type Draft, member } from "../json/json.ts";
import { anything } from "../structural/schema.ts";
import { ageColumn, nameColumn, textColumn } from "../tables/column.ts";
import { defineResource, selectableFields } from "./define-resource.ts";

/** A namespace that is deleted stays, Terminating, until the namespace controller has emptied it. */
export const namespaces = defineResource({
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
  shortNames: ["ns"],
  verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
  hasStatus: true,
  subresources: [{ name: "finalize", kind: "Namespace", verbs: ["update"] }],
  fields: {
    spec: { type: "object", properties: { finalizers: { type: "array", items: { type: "string" } } } },
    status: {
      type: "object",
      properties: { phase: { type: "string" }, conditions: { type: "array", items: anything } },
    },
  },
  selectable: selectableFields(false, ["status.phase"]),
  fieldsByConversion: true,
  nameProblem: dnsLabelProblem,
  columns: [
    nameColumn,
    textColumn("Status", (object) => member(object, "status", "phase") ?? "", {
      description: "The status of the namespace",
    }),
    ageColumn("string"),
  ],
  prepare: (draft, old) => {
    const metadata = draft.metadata as Draft;
    metadata["labels"] = { ...(metadata["labels"] as object), "kubernetes.io/metadata.name": metadata["name"] };
    // Only the finalize subresource may change these, and here that is the namespace controller's alone.
    draft.spec = old ? member(old, "spec") : { finalizers: ["kubernetes"] };
    if (!old) draft.status = { phase: "Active" };
  },
  markTerminating: (draft) => {
    draft.status = { ...(draft.status as object), phase: "Terminating" };
  },
});
