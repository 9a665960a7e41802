import type { KubeObject, StructuralSchema } from "../../kube/index.ts";
import { type FieldProblem, invalidValue, requiredField } from "../api/problem.ts";
import type { Conversion } from "../api/resource.ts";
import { type Draft, member } from "../json/json.ts";
import { age, nameColumn, textColumn } from "../tables/column.ts";
import { convertEntry, defineResource, onceEach, selectableFields } from "./define-resource.ts";

const text: StructuralSchema = { type: "string" };
const time: StructuralSchema = { type: "string", format: "date-time" };
const microTime: StructuralSchema = { type: "string", format: "micro-time" };
const int: StructuralSchema = { type: "integer", format: "int32" };
const reference: StructuralSchema = {
  type: "object",
  properties: {
    kind: text,
    namespace: text,
    name: text,
    uid: text,
    apiVersion: text,
    resourceVersion: text,
    fieldPath: text,
  },
};
const source: StructuralSchema = { type: "object", properties: { component: text, host: text } };
const series: StructuralSchema = {
  type: "object",
  properties: { count: int, lastObservedTime: microTime, state: text },
};

const objectFields = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

const columns = [
  textColumn("Last Seen", (event, now) => age(lastSeen(event), now) ?? "<unknown>", {
    description: "The time at which the most recent occurrence of this event was recorded.",
  }),
  textColumn("Type", (event) => member(event, "type") ?? "", {
    description: "Type of this event (Normal, Warning), new types could be added in the future",
  }),
  textColumn("Reason", (event) => member(event, "reason") ?? "", {
    description:
      "This should be a short, machine understandable string that gives the reason for the transition into the object's " +
      "current status.",
  }),
  textColumn("Object", (event) => about(event), { description: "The object that this event is about." }),
  textColumn("Subobject", (event) => member(event, "involvedObject", "fieldPath") ?? "", {
    priority: 1,
    description:
      "If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field " +
      "access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a " +
      'container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the name ' +
      'of the container that triggered the event) or if no container name is specified "spec.containers[2]" (container ' +
      "with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing a part of an " +
      "object.",
  }),
  textColumn("Source", (event) => sourceText(event), {
    priority: 1,
    description: "The component reporting this event. Should be a short machine understandable string.",
  }),
  textColumn("Message", (event) => String(member(event, "message") ?? "").trim(), {
    description: "A human-readable description of the status of this operation.",
  }),
  textColumn(
    "First Seen",
    (event, now) => age(member(event, "firstTimestamp") ?? member(event, "eventTime"), now) ?? "<unknown>",
    {
      priority: 1,
      description: "The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)",
    },
  ),
  textColumn("Count", (event) => member(event, "series", "count") ?? member(event, "count") ?? 1, {
    priority: 1,
    description: "The number of times this event has occurred.",
  }),
  { ...nameColumn, priority: 1 },
];

/** core/v1: the form in which both kinds of events are stored. */
export const events = defineResource({
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  fields: {
    involvedObject: reference,
    reason: text,
    message: text,
    source,
    firstTimestamp: time,
    lastTimestamp: time,
    count: int,
    type: text,
    eventTime: microTime,
    series,
    action: text,
    related: reference,
    reportingComponent: text,
    reportingInstance: text,
  },
  selectable: selectableFields(true, [
    ...objectFields.map((field) => `involvedObject.${field}`),
    "reason",
    "reportingComponent",
    "source",
    "type",
  ]),
  fieldsByConversion: true,
  columns,
  prepare: fillNulls,
  problems: (event) => namespaceProblems(event),
});

const newNames: readonly (readonly [core: string, renamed: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];

const conversion: Conversion = {
  fromStored: (object) => {
    const { reportingComponent, reportingInstance, ...shown } = renameFields(object, newNames) as Draft & {
      reportingComponent?: unknown;
      reportingInstance?: unknown;
    };
    const { reportingController } = shown as { reportingController?: unknown };
    if (!reportingController) delete shown["reportingController"];
    if (reportingInstance) shown["reportingInstance"] = reportingInstance;
    return { ...shown, apiVersion: "events.k8s.io/v1" } as unknown as KubeObject;
  },
  toStored: (draft) => ({
    ...renameFields(
      draft,
      newNames.map(([core, name]) => [name, core]),
    ),
    apiVersion: "v1",
  }),
};

/** events.k8s.io/v1: the same objects with other names for their fields, and stricter when they are created. */
export const newEvents = defineResource({
  kind: "Event",
  plural: "events",
  group: "events.k8s.io",
  problemGroup: "",
  shortNames: ["ev"],
  storedAs: "events",
  fields: {
    eventTime: microTime,
    series,
    reportingController: text,
    reportingInstance: text,
    action: text,
    reason: text,
    regarding: reference,
    related: reference,
    note: text,
    type: text,
    deprecatedSource: source,
    deprecatedFirstTimestamp: time,
    deprecatedLastTimestamp: time,
    deprecatedCount: int,
  },
  selectable: selectableFields(true, [
    ...objectFields.map((field) => `regarding.${field}`),
    "reason",
    "reportingController",
    "type",
  ]),
  fieldsByConversion: true,
  columns: columns.map((column) => ({
    ...column,
    cell: (event: KubeObject, now: number) =>
      column.cell(conversion.toStored({ ...event }) as unknown as KubeObject, now),
  })),
  conversion,
  prepare: fillNulls,
  problems: (event, old) => [...(old ? [] : newEventProblems(event)), ...namespaceProblems(event)],
  view: onceEach((entry) => convertEntry(entry, conversion)),
});

function renameFields(object: object, names: readonly (readonly [from: string, to: string])[]): Draft {
  const map = new Map(names);
  return Object.fromEntries(Object.entries(object).map(([field, value]) => [map.get(field) ?? field, value]));
}

/** The fields that Go prints even when they are empty. */
function fillNulls(event: Draft) {
  event["involvedObject"] ??= {};
  event["source"] ??= {};
  for (const field of ["firstTimestamp", "lastTimestamp", "eventTime"]) event[field] ??= null;
  for (const field of ["reportingComponent", "reportingInstance"]) event[field] ??= "";
}

function namespaceProblems(event: KubeObject): FieldProblem[] {
  const namespace = member(event, "involvedObject", "namespace") ?? "";
  const own = event.metadata.namespace;
  if (namespace === own || (namespace === "" && own === "default")) return [];
  return [invalidValue("involvedObject.namespace", namespace, "does not match event.namespace")];
}

function newEventProblems(event: KubeObject): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (!member(event, "eventTime")) problems.push(requiredField("eventTime"));
  if (!member(event, "reportingComponent")) problems.push(requiredField("reportingController"));
  if (!member(event, "reportingInstance")) problems.push(requiredField("reportingInstance"));
  if (!member(event, "action")) problems.push(requiredField("action"));
  if (!member(event, "reason")) problems.push(requiredField("reason"));
  const type = member(event, "type") ?? "";
  if (type !== "Normal" && type !== "Warning") problems.push(invalidValue("type", "", `has invalid value: ${type}`));
  return problems;
}

function lastSeen(event: KubeObject): unknown {
  return (
    member(event, "series", "lastObservedTime") ||
    member(event, "lastTimestamp") ||
    member(event, "firstTimestamp") ||
    member(event, "eventTime")
  );
}

function about(event: KubeObject): string {
  const object = member(event, "involvedObject");
  return `${String(member(object, "kind") ?? "").toLowerCase()}/${member(object, "name") ?? ""}`;
}

function sourceText(event: KubeObject): string {
  const from = member(event, "source");
  const component = member(from, "component") || member(event, "reportingComponent") || "";
  const host = member(from, "host");
  return [component, host].filter(Boolean).join(", ");
}
