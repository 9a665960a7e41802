import {
  type CrdVersion,
  type CustomResourceDefinition,
  linearPattern,
  type StructuralSchema,
  type ValidationRule,
} from "../../kube/index.ts";
import { subdomainProblem } from "../api/names.ts";
import { type FieldProblem, forbiddenField, invalidValue, notSupported, requiredField } from "../api/problem.ts";
import { isRecord } from "../json/json.ts";
import { ruleMistake } from "../structural/rules.ts";
import { jsonPath } from "../tables/json-path.ts";

/** The problems of a definition, including features that this server cannot serve faithfully. */
export function definitionProblems({ metadata, spec }: CustomResourceDefinition): FieldProblem[] {
  const { group = "", names, scope, conversion } = spec;
  const versions = spec.versions ?? [];
  const problems: FieldProblem[] = [];
  if (metadata.name !== `${names.plural}.${group}`) {
    problems.push(invalidValue("metadata.name", metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  if (!group || subdomainProblem(group)) problems.push(invalidValue("spec.group", group, "must be a DNS subdomain"));
  if (!names.plural) problems.push(requiredField("spec.names.plural"));
  if (!names.kind) problems.push(requiredField("spec.names.kind"));
  if (scope !== "Namespaced" && scope !== "Cluster")
    problems.push(notSupported("spec.scope", scope ?? "", ["Cluster", "Namespaced"]));
  if ((conversion?.strategy ?? "None") !== "None") {
    problems.push(notSupported("spec.conversion.strategy", conversion?.strategy, ["None"]));
  }
  problems.push(...storageProblems(versions));
  for (const [i, version] of versions.entries()) problems.push(...versionProblems(version, i, versions.length));
  return problems;
}

function storageProblems(versions: readonly CrdVersion[]): FieldProblem[] {
  if (versions.filter(({ storage }) => storage).length === 1) return [];
  const shown = `[]apiextensions.CustomResourceDefinitionVersion{${versions.map(goVersion).join(", ")}}`;
  const rule = "must have exactly one version marked as storage version";
  const problems: FieldProblem[] = [
    { field: "spec.versions", reason: "FieldValueInvalid", message: `Invalid value: ${shown}: ${rule}` },
  ];
  if (!versions.some(({ storage }) => storage)) {
    const message = "Invalid value: []string(nil): must have at least one stored version";
    problems.push({ field: "status.storedVersions", reason: "FieldValueInvalid", message });
  }
  return problems;
}

function goVersion({ name, served = false, storage = false }: CrdVersion): string {
  const fields = [
    `Name:${JSON.stringify(name)}`,
    `Served:${served}`,
    `Storage:${storage}`,
    "Deprecated:false",
    "DeprecationWarning:(*string)(nil)",
    "Schema:(*apiextensions.CustomResourceValidation)(nil)",
    "Subresources:(*apiextensions.CustomResourceSubresources)(nil)",
    "AdditionalPrinterColumns:[]apiextensions.CustomResourceColumnDefinition(nil)",
    "SelectableFields:[]apiextensions.SelectableField(nil)",
  ];
  return `apiextensions.CustomResourceDefinitionVersion{${fields.join(", ")}}`;
}

function versionProblems(version: CrdVersion, at: number, count: number): FieldProblem[] {
  const path = `spec.versions[${at}]`;
  const schema = version.schema?.openAPIV3Schema;
  const problems: FieldProblem[] = [];
  if (!version.name) problems.push(requiredField(`${path}.name`));
  if (version.subresources?.scale) {
    problems.push(forbiddenField(`${path}.subresources.scale`, "this embedded API server has no scale subresource"));
  }
  for (const [i, column] of (version.additionalPrinterColumns ?? []).entries()) {
    const wrong = tryMessage(() => jsonPath(column.jsonPath ?? ""));
    if (wrong) problems.push(invalidValue(`${path}.additionalPrinterColumns[${i}].jsonPath`, column.jsonPath, wrong));
  }
  if (!isRecord(schema)) return [...problems, requiredField(`${path}.schema.openAPIV3Schema`, "schemas are required")];
  // A single schema is checked, and therefore reported, where older definitions had it.
  const schemaPath = count === 1 ? "spec.validation.openAPIV3Schema" : `${path}.schema.openAPIV3Schema`;
  return [...problems, ...schemaMistakes(schema, schemaPath, "at the root")];
}

function schemaMistakes(schema: StructuralSchema, path: string, where: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const untyped = schema["x-kubernetes-int-or-string"] || schema["x-kubernetes-preserve-unknown-fields"];
  if (!schema.type && !untyped) problems.push(requiredField(`${path}.type`, `must not be empty ${where}`));
  if (Object.hasOwn(schema, "$ref")) problems.push(forbiddenField(`${path}.$ref`, "$ref is not supported"));
  if (schema.pattern !== undefined) {
    const wrong = tryMessage(() => linearPattern(schema.pattern ?? ""));
    if (wrong)
      problems.push(invalidValue(`${path}.pattern`, schema.pattern, `must be a valid regular expression: ${wrong}`));
  }
  for (const [i, rule] of (schema["x-kubernetes-validations"] ?? []).entries()) {
    const wrong = ruleMistake(rule, schema);
    if (!wrong) continue;
    const field = `${path}.x-kubernetes-validations[${i}].rule`;
    problems.push({ field, reason: "FieldValueInvalid", message: `Invalid value: ${goRule(rule)}: ${wrong}` });
  }
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    problems.push(...schemaMistakes(field, `${path}.properties[${name}]`, "for specified object fields"));
  }
  if (typeof schema.additionalProperties === "object") {
    problems.push(
      ...schemaMistakes(schema.additionalProperties, `${path}.additionalProperties`, "for specified object fields"),
    );
  }
  if (schema.items) problems.push(...schemaMistakes(schema.items, `${path}.items`, "for specified array items"));
  return problems;
}

function goRule({ rule, message = "", messageExpression = "", fieldPath = "" }: ValidationRule): string {
  const fields = [
    `Rule:${JSON.stringify(rule)}`,
    `Message:${JSON.stringify(message)}`,
    `MessageExpression:${JSON.stringify(messageExpression)}`,
    "Reason:(*apiextensions.FieldValueErrorReason)(nil)",
    `FieldPath:${JSON.stringify(fieldPath)}`,
    "OptionalOldSelf:(*bool)(nil)",
  ];
  return `apiextensions.ValidationRule{${fields.join(", ")}}`;
}

function tryMessage(attempt: () => unknown): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
