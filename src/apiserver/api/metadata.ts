import type { KubeObject, ObjectMeta, OwnerReference } from "../../kube/index.ts";
import { type Draft, sameJson } from "../json/json.ts";
import { labelKeyProblem, labelValueProblem } from "./names.ts";
import { type FieldProblem, forbiddenField, invalidValue, requiredField, tooLong } from "./problem.ts";
import type { Resource } from "./resource.ts";

/** The parts of metadata that a client decides; empty ones are left out. */
export function clientMetadata(sent: ObjectMeta): Draft {
  const { labels, annotations, ownerReferences, finalizers } = sent;
  const result: Draft = {};
  for (const [name, part] of Object.entries({ labels, annotations, ownerReferences, finalizers })) {
    if (part && Object.keys(part).length > 0) result[name] = part;
  }
  return result;
}

/** The problems of a new object's metadata. */
export function metadataProblems(resource: Resource, { metadata }: KubeObject): FieldProblem[] {
  const { name = "", generateName } = metadata;
  const problems: FieldProblem[] = [];
  if (generateName) {
    const wrong = resource.nameProblem(generateName.replace(/[-.]+$/, "a"));
    if (wrong) problems.push(invalidValue("metadata.generateName", generateName, wrong));
  }
  const wrong = name ? resource.nameProblem(name) : undefined;
  if (wrong) problems.push(invalidValue("metadata.name", name, wrong));
  if (!name) problems.push(requiredField("metadata.name", "name or generateName is required"));
  return [...problems, ...commonProblems(resource, metadata)];
}

/** The problems of a changed object's metadata. */
export function metadataUpdateProblems(resource: Resource, object: KubeObject, old: KubeObject): FieldProblem[] {
  const { metadata } = object;
  const problems: FieldProblem[] = [];
  if (metadata.deletionTimestamp) {
    const added = (metadata.finalizers ?? []).filter((one) => !old.metadata.finalizers?.includes(one));
    if (added.length > 0) {
      const names = `[]string{${added.map((one) => JSON.stringify(one)).join(", ")}}`;
      const rule = "no new finalizers can be added if the object is being deleted, found new finalizers";
      const problem = forbiddenField("metadata.finalizers", `${rule} ${names}`);
      // The real server checks the metadata of custom resources twice, and reports problems twice.
      problems.push(problem, ...(resource.custom ? [problem] : []));
    }
  }
  return sameJson(metadata, old.metadata) ? problems : [...problems, ...commonProblems(resource, metadata)];
}

function commonProblems(
  resource: Resource,
  { labels, annotations, finalizers, ownerReferences }: ObjectMeta,
): FieldProblem[] {
  return [
    ...labelProblems(labels ?? {}),
    ...annotationProblems(annotations ?? {}),
    ...ownerProblems(ownerReferences ?? []),
    ...finalizerProblems(resource, finalizers ?? []),
  ];
}

function labelProblems(labels: Readonly<Record<string, string>>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [key, value] of Object.entries(labels)) {
    const wrongKey = labelKeyProblem(key);
    if (wrongKey) problems.push(invalidValue("metadata.labels", key, wrongKey));
    const wrongValue = labelValueProblem(value);
    if (wrongValue) problems.push(invalidValue("metadata.labels", value, wrongValue));
  }
  return problems;
}

const maxAnnotationBytes = 262_144;

function annotationProblems(annotations: Readonly<Record<string, string>>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    const wrong = labelKeyProblem(key.toLowerCase());
    if (wrong) problems.push(invalidValue("metadata.annotations", key, wrong));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > maxAnnotationBytes) problems.push(tooLong("metadata.annotations", maxAnnotationBytes));
  return problems;
}

function ownerProblems(owners: readonly OwnerReference[]): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const owner of owners) {
    for (const field of ["apiVersion", "kind", "name", "uid"] as const) {
      if (owner[field]) continue;
      const detail = field === "apiVersion" ? "version must not be empty" : `${field} must not be empty`;
      problems.push(invalidValue(`metadata.ownerReferences.${field}`, owner[field] ?? "", detail));
    }
  }
  const controllers = owners.filter(({ controller }) => controller);
  if (controllers.length > 1) {
    const [first, second] = controllers.map(({ kind, name }) => `${kind}/${name}`);
    const rule = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`;
    problems.push(invalidValue("metadata.ownerReferences", owners, rule));
  }
  return problems;
}

const standardFinalizers = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

function finalizerProblems(resource: Resource, finalizers: readonly string[]): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [i, finalizer] of finalizers.entries()) {
    const wrong = labelKeyProblem(finalizer);
    if (wrong) problems.push(invalidValue("metadata.finalizers", finalizer, wrong));
    if (resource.custom || finalizer.includes("/") || standardFinalizers.has(finalizer)) continue;
    const rule = "name is neither a standard finalizer name nor is it fully qualified";
    problems.push(invalidValue(`metadata.finalizers[${i}]`, finalizer, rule));
  }
  return problems;
}

/** Warnings about finalizers of custom resources that others may use by accident, too. */
export function finalizerWarnings(resource: Resource, { metadata }: KubeObject, old?: KubeObject): string[] {
  if (!resource.custom) return [];
  const loose = (metadata.finalizers ?? []).filter(
    (one) => !one.includes("/") && !standardFinalizers.has(one) && !old?.metadata.finalizers?.includes(one),
  );
  const advice = "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers";
  return loose.map((one) => `metadata.finalizers: ${JSON.stringify(one)}: ${advice}`);
}
