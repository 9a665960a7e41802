import { KubeError, type ListQuery } from "../client.ts";
import type { KubeObject } from "../object.ts";

type Labels = Readonly<Record<string, string>>;

/** Whether an object is in the namespace and meets the selectors of `query`. Throws `invalid` for selectors it cannot read. */
export function selecting({ namespace, labelSelector, fieldSelector }: ListQuery): (object: KubeObject) => boolean {
  const labels = parts(labelSelector, /,(?![^(]*\))/).map(labelRequirement);
  const fields = parts(fieldSelector, /,/).map(fieldRequirement);

  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) &&
    labels.every((meets) => meets(metadata.labels ?? {})) &&
    fields.every((meets) => meets(metadata));
}

function parts(selector: string | undefined, separator: RegExp): string[] {
  return selector?.trim() ? selector.split(separator).map((part) => part.trim()) : [];
}

const key = "[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?";
const value = "(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?";
const existence = new RegExp(`^(!?)\\s*(${key})$`);
const equality = new RegExp(`^(${key})\\s*(==?|!=)\\s*(${value})$`);
const membership = new RegExp(`^(${key})\\s+(in|notin)\\s*\\(\\s*(${value}(?:\\s*,\\s*${value})*)\\s*\\)$`);

function labelRequirement(text: string): (labels: Labels) => boolean {
  const exists = existence.exec(text);
  if (exists) return (labels) => Object.hasOwn(labels, exists[2] as string) === (exists[1] === "");

  const [, name, operator, operand] = (equality.exec(text) ?? membership.exec(text) ?? []) as string[];
  if (name === undefined || operand === undefined) {
    throw new KubeError("invalid", `unable to parse requirement: ${JSON.stringify(text)}`);
  }
  const values = operand.split(",").map((one) => one.trim());
  const isIn = (labels: Labels) => Object.hasOwn(labels, name) && values.includes(labels[name] as string);
  // Without the label, `!=` and `notin` hold.
  return operator === "!=" || operator === "notin" ? (labels) => !isIn(labels) : isIn;
}

function fieldRequirement(text: string): (metadata: KubeObject["metadata"]) => boolean {
  const [, field, operator, wanted] = /^([^=!\s]+)\s*(==?|!=)\s*([^=!\s]*)$/.exec(text) ?? [];
  if (!field) throw new KubeError("invalid", `invalid selector: '${text}'; can't understand '${text}'`);
  if (field !== "metadata.name" && field !== "metadata.namespace") {
    throw new KubeError("invalid", `field label not supported: ${field}`);
  }
  const property = field === "metadata.name" ? "name" : "namespace";
  return (metadata) => ((metadata[property] ?? "") === wanted) === (operator !== "!=");
}
