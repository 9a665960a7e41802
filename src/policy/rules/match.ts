import { type Kinds, kindText, linearPattern, type RemediationRequestSpec } from "../../resources/index.ts";
import type { Pattern, RuleMatch } from "./rule.ts";

/** Why a rule does not match, or undefined if it does. */
export function matches(match: RuleMatch, incident: RemediationRequestSpec, kinds: Kinds): string | undefined {
  const { signalName, signalSource, severity, targetResource, signalLabels = {} } = incident;
  const fields: readonly (readonly [string, Pattern | undefined, string | undefined])[] = [
    ["signalName", match.signalName, signalName],
    ["source", match.source, signalSource],
    ["severity", match.severity, severity],
    ["kind", spelled(match.kind, kinds), spelled(targetResource.kind, kinds)],
    ["namespace", match.namespace, targetResource.namespace],
    ...Object.entries(match.labels ?? {}).map(([label, pattern]) => {
      return [`label ${label}`, pattern, own(signalLabels, label)] as const;
    }),
  ];
  for (const [what, pattern, value] of fields) {
    if (pattern !== undefined && !fits(pattern, value)) return `${what} is ${value ?? "not there"}`;
  }
  return undefined;
}

/** One spelling for all that mean the same kind: who writes Node means node, nodes and no. */
function spelled(kind: string, kinds: Kinds): string;
function spelled(pattern: Pattern | undefined, kinds: Kinds): Pattern | undefined;
function spelled(pattern: Pattern | undefined, kinds: Kinds): Pattern | undefined {
  if (pattern === undefined) return undefined;
  if (typeof pattern !== "string") return pattern.map((one) => spelled(one, kinds));
  const known = kinds.find(pattern);
  return known ? kindText(known) : pattern;
}

function fits(pattern: Pattern, value: string | undefined): boolean {
  if (value === undefined) return false;
  if (typeof pattern !== "string") return pattern.some((one) => fits(one, value));
  const expression = expressionIn(pattern);
  return expression === undefined ? pattern === value : linearPattern(expression).test(value);
}

/** The whole value has to match: what is between the slashes, anchored. */
export function expressionIn(pattern: string): string | undefined {
  return pattern.length > 2 && pattern.startsWith("/") && pattern.endsWith("/")
    ? `^(?:${pattern.slice(1, -1)})$`
    : undefined;
}

function own(labels: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}
