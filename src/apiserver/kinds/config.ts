import type { KubeObject, StructuralSchema } from "../../kube/index.ts";
import { type FieldProblem, forbiddenField, invalidValue, requiredField, tooLong } from "../api/problem.ts";
import { type Draft, isRecord, member, sameJson } from "../json/json.ts";
import { ageColumn, nameColumn, textColumn } from "../tables/column.ts";
import { defineResource, selectableFields } from "./define-resource.ts";

const texts: StructuralSchema = { type: "object", additionalProperties: { type: "string" } };
const bytes: StructuralSchema = { type: "object", additionalProperties: { type: "string", format: "byte" } };
const maxBytes = 1_048_576;

export const configMaps = defineResource({
  kind: "ConfigMap",
  plural: "configmaps",
  shortNames: ["cm"],
  fields: { data: texts, binaryData: bytes, immutable: { type: "boolean" } },
  columns: [
    nameColumn,
    textColumn("Data", (object) => count(object, "data") + count(object, "binaryData"), {
      description:
        "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. " +
        "Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap " +
        "with the keys in the BinaryData field, this is enforced during validation process.",
    }),
    ageColumn("string"),
  ],
  prepare: (draft) => dropEmpty(draft, ["data", "binaryData"]),
  problems: (object, old) => [...configMapProblems(object), ...immutableProblems(object, old)],
});

export const secrets = defineResource({
  kind: "Secret",
  plural: "secrets",
  fields: { data: bytes, stringData: texts, type: { type: "string" }, immutable: { type: "boolean" } },
  selectable: selectableFields(true, ["type"]),
  fieldsByConversion: true,
  columns: [
    nameColumn,
    textColumn("Type", (object) => member(object, "type") ?? "", {
      description:
        "Used to facilitate programmatic handling of secret data. More info: " +
        "https://kubernetes.io/docs/concepts/configuration/secret/#secret-types",
    }),
    textColumn("Data", (object) => count(object, "data"), {
      description:
        "Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. The " +
        "serialized form of the secret data is a base64 encoded string, representing the arbitrary (possibly non-string) " +
        "data value here. Described in https://tools.ietf.org/html/rfc4648#section-4",
    }),
    ageColumn("string"),
  ],
  prepare: prepareSecret,
  problems: (object, old) => [...secretProblems(object, old), ...immutableProblems(object, old)],
});

/** stringData is a way to write data; it is never stored. */
function prepareSecret(draft: Draft) {
  const { stringData, ...rest } = draft as { stringData?: Readonly<Record<string, string>> };
  if (stringData) {
    const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
    draft["data"] = { ...(member(rest, "data") as object | undefined), ...Object.fromEntries(encoded) };
  }
  delete draft["stringData"];
  draft["type"] ??= "Opaque";
  dropEmpty(draft, ["data"]);
}

function dropEmpty(draft: Draft, fields: readonly string[]) {
  for (const field of fields) {
    const part = draft[field];
    if (isRecord(part) && Object.keys(part).length === 0) delete draft[field];
  }
}

function configMapProblems(object: KubeObject): FieldProblem[] {
  const [data, binary] = [keys(object, "data"), keys(object, "binaryData")];
  const problems: FieldProblem[] = [];
  for (const key of data) {
    problems.push(...keyProblems("data", key));
    if (binary.includes(key)) {
      problems.push(invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData"));
    }
  }
  for (const key of binary) problems.push(...keyProblems("binaryData", key));
  if (size(object, "data") + size(object, "binaryData") > maxBytes) problems.push(tooLong("[]", maxBytes));
  return problems;
}

function secretProblems(object: KubeObject, old: KubeObject | undefined): FieldProblem[] {
  const type = member(object, "type");
  const problems = keys(object, "data").flatMap((key) => keyProblems("data", key));
  if (size(object, "data") > (maxBytes * 4) / 3) problems.push(tooLong("data", maxBytes));
  if (type === "kubernetes.io/tls") {
    for (const key of ["tls.crt", "tls.key"]) {
      if (!keys(object, "data").includes(key)) problems.push(requiredField(`data[${key}]`));
    }
  }
  if (old && member(old, "type") !== type) problems.push(invalidValue("type", type, "field is immutable"));
  return problems;
}

function immutableProblems(object: KubeObject, old: KubeObject | undefined): FieldProblem[] {
  if (!old || member(old, "immutable") !== true) return [];
  const rule = "field is immutable when `immutable` is set";
  const changed = ["data", "binaryData"].filter((field) => !sameJson(member(object, field), member(old, field)));
  if (member(object, "immutable") !== true) changed.unshift("immutable");
  return changed.map((field) => forbiddenField(field, rule));
}

function keyProblems(field: string, key: string): FieldProblem[] {
  if (/^[-._a-zA-Z0-9]+$/.test(key) && key !== "." && key !== ".." && key.length <= 253) return [];
  const rule =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or " +
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
  return [invalidValue(`${field}[${key}]`, key, rule)];
}

function keys(object: KubeObject, field: string): string[] {
  const part = member(object, field);
  return isRecord(part) ? Object.keys(part) : [];
}

function count(object: KubeObject, field: string): number {
  return keys(object, field).length;
}

function size(object: KubeObject, field: string): number {
  let total = 0;
  const part = member(object, field);
  for (const value of isRecord(part) ? Object.values(part) : []) total += Buffer.byteLength(String(value));
  return total;
}
