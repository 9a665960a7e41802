import type { RemediationRequestSpec } from "../../resources/index.ts";

/** A text with what it asks for filled in, or what the incident does not have. */
export type Filled =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "missing"; readonly what: string };

/** Replaces `{{ labels.node }}` and the like by what the incident says. */
export function fill(template: string, incident: RemediationRequestSpec): Filled {
  let missing: string | undefined;
  const text = template.replace(placeholder, (_, name: string) => {
    const value = valueIn(name, incident);
    if (value === undefined) missing ??= name;
    return value ?? "";
  });
  return missing === undefined ? { kind: "text", text } : { kind: "missing", what: missing };
}

/** The template with the same text in every place that is filled in. */
export function replacePlaceholders(template: string, text: string): string {
  return template.replace(placeholder, () => text);
}

export function hasPlaceholder(template: string): boolean {
  return template.search(placeholder) >= 0;
}

/** The names that a template asks for and that no incident can have. */
export function unknownNames(template: string): readonly string[] {
  return [...template.matchAll(placeholder)].map(([, name = ""]) => name).filter((name) => !isKnown(name));
}

const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g;
const fields = ["signalName", "severity", "source", "subject.kind", "subject.name", "subject.namespace"] as const;

/** For people: what may stand between the braces. */
export const fillable = `${fields.join(", ")}, labels.NAME or annotations.NAME`;

function isKnown(name: string): boolean {
  return (fields as readonly string[]).includes(name) || /^(labels|annotations)\.[^\s.].*$/.test(name);
}

function valueIn(name: string, incident: RemediationRequestSpec): string | undefined {
  const [, prefix, key = ""] = /^(labels|annotations)\.(.+)$/.exec(name) ?? [];
  if (prefix) {
    const values = (prefix === "labels" ? incident.signalLabels : incident.signalAnnotations) ?? {};
    return Object.hasOwn(values, key) ? values[key] : undefined;
  }
  const { signalName, severity, signalSource, targetResource } = incident;
  const known: Readonly<Record<string, string | undefined>> = {
    signalName,
    severity,
    source: signalSource,
    "subject.kind": targetResource.kind,
    "subject.name": targetResource.name,
    "subject.namespace": targetResource.namespace,
  };
  return known[name];
}
