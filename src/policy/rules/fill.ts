import type { ObjectFacts, RemediationRequestSpec } from "../../resources/index.ts";
import type { Facts, Unreadable } from "./facts.ts";

/** A text with its placeholders filled in, or the value that the incident lacks. */
export type Filled =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "missing"; readonly what: string }
  | Unreadable;

/** Replaces placeholders such as `{{ labels.node }}` by values of the incident, and `{{ object.node }}` by facts. */
export function fill(template: string, incident: RemediationRequestSpec, facts: Facts): Filled {
  let problem: Exclude<Filled, { kind: "text" }> | undefined;
  const text = template.replace(placeholder, (_, inside: string) => {
    const { name, filter } = parsePlaceholder(inside);
    const value = findValue(name, incident, facts);
    if (typeof value === "string") return filter ? filters[filter](value) : value;
    problem ??= value ?? { kind: "missing", what: name };
    return "";
  });
  return problem ?? { kind: "text", text };
}

/** Replaces each placeholder by the same text. */
export function replacePlaceholders(template: string, text: string): string {
  return template.replace(placeholder, () => text);
}

export function hasPlaceholder(template: string): boolean {
  return template.search(placeholder) >= 0;
}

/** Returns the names of the placeholders in a template. */
export function placeholders(template: string): readonly string[] {
  return [...template.matchAll(placeholder)].map(([, inside = ""]) => parsePlaceholder(inside).name);
}

/** Returns the names of the placeholders that no incident can have. */
export function unknownNames(template: string): readonly string[] {
  return placeholders(template).filter((name) => !isKnown(name));
}

/** The filters of values: `{{ labels.instance | host }}`. */
const filters = { host: extractHost } as const;

interface Placeholder {
  readonly name: string;
  readonly filter?: keyof typeof filters;
}

/** An unknown filter is kept as a part of the name, which is then unknown because names do not contain `|`. */
function parsePlaceholder(inside: string): Placeholder {
  const [, name = "", filter = ""] = /^(.*?)\s*\|\s*(\w+)$/.exec(inside) ?? [];
  return Object.hasOwn(filters, filter) ? { name, filter: filter as keyof typeof filters } : { name: inside };
}

/** Returns the host of `10.0.0.7:9100`, `[fd00::7]:9100`, `node-1.example.com:9100` or `https://example.com:8443/health`. */
function extractHost(address: string): string {
  const authority = address.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").replace(/[/?#].*$/s, "");
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(authority)?.[1];
  return bracketed ?? authority.replace(/^([^:]*):\d+$/, "$1");
}

const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g;
const fields = ["signalName", "severity", "source", "subject.kind", "subject.name", "subject.namespace"] as const;
const keyed = /^(?:(object|owner)\.)?(labels|annotations)\.(.+)$/;

/** Describes the placeholders, for messages. */
export const fillable = `${fields.join(", ")}, object.node, or labels.NAME and annotations.NAME, also with object. or owner. before them; | host takes the host of an address`;

function isKnown(name: string): boolean {
  return (
    (fields as readonly string[]).includes(name) ||
    name === "object.node" ||
    /^[^|]*\.[^\s.|][^|]*$/.test(keyed.exec(name)?.[0] ?? "")
  );
}

function findValue(name: string, incident: RemediationRequestSpec, facts: Facts): string | Unreadable | undefined {
  const [, of, prefix, key = ""] = keyed.exec(name) ?? [];
  if (name === "object.node") return findFact(incident, facts, "object", ({ node }) => node);
  if (of === "object" || of === "owner") {
    return findFact(incident, facts, of, ({ labels, annotations }) =>
      own(prefix === "labels" ? labels : annotations, key),
    );
  }
  if (prefix) return own((prefix === "labels" ? incident.signalLabels : incident.signalAnnotations) ?? {}, key);
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

/** Returns a fact of an object; undefined without a subject, because then there is no object. */
function findFact(
  { targetResource }: RemediationRequestSpec,
  facts: Facts,
  of: keyof Facts,
  pick: (facts: ObjectFacts) => string | undefined,
): string | Unreadable | undefined {
  if (targetResource.kind === "") return undefined;
  const reading = facts[of];
  if (reading.kind === "read") return pick(reading.facts);
  return { kind: "unreadable", problem: `it asks about the ${of}, which ${reading.problem}` };
}

function own(values: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}
