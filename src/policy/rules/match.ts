import {
  type Kinds,
  kindText,
  linearPattern,
  type ObjectFacts,
  type RemediationRequestSpec,
} from "../../resources/index.ts";
import type { Facts, FactsOf, Unreadable } from "./facts.ts";
import { type FactsMatch, type Pattern, parseExpression, type RuleMatch } from "./rule.ts";

export type Matching =
  | { readonly kind: "matches" }
  /** `because` names the first field that differs, with its value. */
  | { readonly kind: "differs"; readonly because: string }
  | Unreadable;

/** Matches an incident with the conditions of a rule. Facts come last: only rules that match otherwise need them. */
export function match(given: RuleMatch, incident: RemediationRequestSpec, kinds: Kinds, facts: Facts): Matching {
  const { signalName, signalSource, severity, targetResource, signalLabels = {} } = incident;
  const { name } = targetResource;
  const because = firstDifference([
    ["signalName", given.signalName, [signalName]],
    ["source", given.source, [signalSource]],
    ["severity", given.severity, [severity]],
    ["kind", canonicalKind(given.kind, kinds), subjectKinds(targetResource, kinds)],
    ["namespace", given.namespace, [subjectNamespace(incident)]],
    ["name", given.name, [name === "" ? undefined : name]],
    ...entries("label", given.labels, signalLabels),
  ]);
  if (because !== undefined) return { kind: "differs", because };
  for (const of of ["object", "owner"] as const) {
    const asked = given[of];
    const outcome = asked ? matchFacts(asked, of, facts, incident) : undefined;
    if (outcome && outcome.kind !== "matches") return outcome;
  }
  return { kind: "matches" };
}

/** Returns the namespace of the subject; its name if it is a Namespace. */
export function subjectNamespace({ targetResource }: RemediationRequestSpec): string | undefined {
  const { kind, name, namespace } = targetResource;
  return namespace ?? (kind.toLowerCase() === "namespace" ? name : undefined);
}

function matchFacts(
  asked: FactsMatch,
  of: FactsOf,
  facts: Facts,
  { targetResource }: RemediationRequestSpec,
): Matching {
  if (targetResource.kind === "") return { kind: "differs", because: `it names no object, and so has no ${of}` };
  const reading = facts[of];
  if (reading.kind === "unreadable") {
    return { kind: "unreadable", problem: `it asks about the ${of}, which ${reading.problem}` };
  }
  const because = firstDifference(factFields(asked, reading.facts));
  return because === undefined ? { kind: "matches" } : { kind: "differs", because: `${of} ${because}` };
}

function factFields(asked: FactsMatch, facts: ObjectFacts): readonly Field[] {
  return [
    ...entries("label", asked.labels, facts.labels),
    ...entries("annotation", asked.annotations, facts.annotations),
    ...entries("condition", asked.conditions, facts.conditions),
    ["phase", asked.phase, [facts.phase]],
    ["lastTermination", asked.lastTermination, facts.lastTermination],
    ["waiting", asked.waiting, facts.waiting],
    ["managedBy", asked.managedBy, facts.managedBy],
  ];
}

/** A pattern of a rule, and the values of which one has to match it. */
type Field = readonly [name: string, pattern: Pattern | undefined, values: readonly (string | undefined)[]];

function entries(
  name: string,
  patterns: Readonly<Record<string, Pattern>> = {},
  values: Readonly<Record<string, string>>,
): readonly Field[] {
  return Object.entries(patterns).map(([key, pattern]) => [`${name} ${key}`, pattern, [own(values, key)]] as const);
}

function firstDifference(fields: readonly Field[]): string | undefined {
  for (const [name, pattern, values] of fields) {
    if (pattern === undefined || values.some((value) => fits(pattern, value))) continue;
    const found = values.filter((value) => value !== undefined);
    return `${name} is ${found.length === 0 ? "not there" : found.join(", ")}`;
  }
  return undefined;
}

/** Returns the subject's kind in canonical spelling; a custom kind also as it was reported, possibly without its group. */
function subjectKinds({ kind, apiVersion = "" }: FactSubject, kinds: Kinds): readonly string[] {
  const known = kinds.find(apiVersion.includes("/") ? `${kind}.${apiVersion.split("/")[0]}` : kind);
  if (!known) return [kind];
  return known.builtIn ? [kindText(known)] : [...new Set([kindText(known), kind])];
}

type FactSubject = RemediationRequestSpec["targetResource"];

/** Converts all spellings of a kind to the canonical one: a rule with Node matches node, nodes and no. */
function canonicalKind(pattern: string, kinds: Kinds): string;
function canonicalKind(pattern: Pattern | undefined, kinds: Kinds): Pattern | undefined;
function canonicalKind(pattern: Pattern | undefined, kinds: Kinds): Pattern | undefined {
  if (pattern === undefined) return undefined;
  if (typeof pattern !== "string") return pattern.map((one) => canonicalKind(one, kinds));
  const known = kinds.find(pattern);
  return known ? kindText(known) : pattern;
}

function fits(pattern: Pattern, value: string | undefined): boolean {
  if (value === undefined) return false;
  if (typeof pattern !== "string") return pattern.some((one) => fits(one, value));
  const expression = parseExpression(pattern);
  return expression === undefined ? pattern === value : linearPattern(expression).test(value);
}

function own(labels: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}
