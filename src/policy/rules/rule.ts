import { linearPattern, parameterValue, parseYamlFile, type TextFile } from "../../resources/index.ts";
import { mustBe, type Wire, z } from "../../schema/index.ts";
import { fillable, unknownNames } from "./fill.ts";

/** A rule maps incidents to a target, a workflow and parameters. The first rule that applies decides. */
export type Rule = Wire<typeof rule>;
/** All given fields have to match: a text is equal, or one of a list, or matches `/a regular expression/`. */
export type RuleMatch = Wire<typeof match>;
/** Conditions on an object. A fact with several values matches if one of them does. */
export type FactsMatch = Wire<typeof factsMatch>;
export type Pattern = Wire<typeof pattern>;
export type CommonAncestor = NonNullable<Rule["deferWhile"]>["same"];

/** Returns the regular expression in a pattern, anchored: the whole value has to match. */
export function parseExpression(pattern: string): string | undefined {
  return pattern.length > 2 && pattern.startsWith("/") && pattern.endsWith("/")
    ? `^(?:${pattern.slice(1, -1)})$`
    : undefined;
}

const text = z.string().min(1);

const patternRule = "text, a /regular expression/ or a list of them";
const patternText = z.string(mustBe(patternRule)).min(1, mustBe(patternRule)).refine(isValidPattern, {
  error: "is not a valid regular expression (RE2 syntax: no look-around, no back-references)",
});
const pattern = z.union([patternText, z.array(patternText).min(1, mustBe(patternRule))], mustBe(patternRule));
const patterns = z.record(z.string(), pattern, mustBe("names with patterns"));

function isValidPattern(text: string): boolean {
  const expression = parseExpression(text);
  try {
    return expression === undefined || linearPattern(expression) !== undefined;
  } catch {
    return false;
  }
}

function checkTemplate(value: unknown, context: z.RefinementCtx): void {
  if (typeof value !== "string") return;
  for (const name of unknownNames(value)) context.addIssue(`asks for {{ ${name} }}; there is ${fillable}`);
}

/** An object with at least one of these fields. */
function oneOrMore<S extends z.ZodRawShape>(shape: S, rule: string) {
  const problem = `${rule} one or more of ${Object.keys(shape).join(", ")}`;
  return z
    .strictObject(shape, { error: ({ code }) => (code === "invalid_type" ? problem : undefined) })
    .refine((value) => Object.keys(value).length > 0, { error: problem });
}

const factsMatch = oneOrMore(
  {
    labels: patterns.optional(),
    annotations: patterns.optional(),
    /** The status of conditions by their type: `Ready: "False"`. */
    conditions: patterns.optional(),
    phase: pattern.optional(),
    /** Why a container ended last: OOMKilled, Error. */
    lastTermination: pattern.optional(),
    /** What a container waits for: ImagePullBackOff, CrashLoopBackOff. */
    waiting: pattern.optional(),
    /** The tool that would undo changes made by hand: Helm, ArgoCD, Flux. */
    managedBy: pattern.optional(),
  },
  "must have",
);

const match = oneOrMore(
  {
    signalName: pattern.optional(),
    source: pattern.optional(),
    severity: pattern.optional(),
    /** Kind of the subject, in any spelling: Node, node, nodes. An expression sees it as targets are written: node. */
    kind: pattern.optional(),
    /** Namespace of the subject; its name if it is a Namespace. */
    namespace: pattern.optional(),
    /** Name of the subject. */
    name: pattern.optional(),
    labels: patterns.optional(),
    /** The object that the signal named, such as a Pod, as it is when the incident is diagnosed. */
    object: factsMatch.optional(),
    /** The end of the object's chain of owners, such as a Deployment. */
    owner: factsMatch.optional(),
  },
  "must say what the rule is for:",
);

/** An incident of a symptom waits while an incident of its cause is open. */
const deferral = z.strictObject({
  /** The rules of the cause. */
  rule: pattern,
  /** The part that both incidents have in common. */
  same: z.enum(["node", "namespace", "target"]),
});

const rule = z.strictObject(
  {
    name: text,
    match,
    /** The rule does not apply to incidents that this matches. */
    unless: match.optional(),
    /** The target, such as `node/{{ labels.node }}`; the subject of the signal if left out. */
    target: text.superRefine(checkTemplate).optional(),
    workflow: text,
    /** Values for the workflow's parameters. Texts can contain `{{ … }}`. */
    parameters: z.record(z.string(), parameterValue.superRefine(checkTemplate), mustBe("names with values")).optional(),
    deferWhile: deferral.optional(),
    /** Everything is decided and recorded, and nothing is started. */
    observe: z.boolean(mustBe("true or false")).optional(),
  },
  { error: ({ code }) => (code === "invalid_type" ? "must be a rule: name, match, workflow" : undefined) },
);

/** A file of rules. */
const rulesFile = z.strictObject({
  rules: z.array(rule, { error: "must be a list of rules" }).superRefine(checkNames),
});

function checkNames(rules: readonly { readonly name: string }[], context: z.RefinementCtx): void {
  for (const [i, { name }] of rules.entries()) {
    if (rules.findIndex((other) => other.name === name) === i) continue;
    const message = `is "${name}", as another rule's: names must be unique`;
    context.addIssue({ code: "custom", path: [i, "name"], message, input: name });
  }
}

export type RulesReading =
  | { readonly kind: "valid"; readonly rules: readonly Rule[] }
  /** `file:line: path problem`, everything at once. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Reads `rules:` of a YAML file. A file with any problem is rejected as a whole. */
export function readRules(file: TextFile): RulesReading {
  const yaml = parseYamlFile(file, rulesFile);
  return yaml.kind === "valid" ? { kind: "valid", rules: yaml.value.rules } : yaml;
}
