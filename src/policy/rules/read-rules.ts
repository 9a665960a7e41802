import { linearPattern, readYamlFile, type TextFile, type YamlPlace } from "../../resources/index.ts";
import { fillable, unknownNames } from "./fill.ts";
import { expressionIn } from "./match.ts";
import { commonAncestors, type Rule } from "./rule.ts";

export type RulesReading =
  | { readonly kind: "valid"; readonly rules: readonly Rule[] }
  /** `file:line: path problem`, everything at once. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Reads `rules:` of a YAML file. Whatever is not understood is refused: a rule that half works acts on the wrong thing. */
export function readRules(file: TextFile): RulesReading {
  const yaml = readYamlFile(file);
  if (yaml.kind === "invalid") return yaml;
  const problems: string[] = [];
  const say: Say = (place, problem) => problems.push(`${yaml.at(place)}: ${textOf(place)} ${problem}`.trimEnd());
  const rules = rulesIn(yaml.value, say);
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "valid", rules };
}

type Say = (place: YamlPlace, problem: string) => void;

function textOf(place: YamlPlace): string {
  return place.map((key, i) => (typeof key === "number" ? `[${key}]` : i === 0 ? key : `.${key}`)).join("");
}

function rulesIn(value: unknown, say: Say): readonly Rule[] {
  if (!isObject(value) || !Array.isArray(value["rules"])) {
    say([], 'must have a list "rules:"');
    return [];
  }
  onlyKnown(value, ["rules"], [], say);
  const names = new Set<string>();
  return value["rules"].map((rule: unknown, i) => ruleIn(rule, ["rules", i], names, say));
}

function ruleIn(value: unknown, place: YamlPlace, names: Set<string>, say: Say): Rule {
  if (!isObject(value)) {
    say(place, "must be a rule: name, match, workflow");
    return { name: "", match: {}, workflow: "" };
  }
  onlyKnown(value, ["name", "match", "unless", "target", "workflow", "parameters", "deferWhile"], place, say);
  const name = textIn(value, "name", place, say) ?? "";
  if (names.has(name)) say([...place, "name"], `is "${name}", as another rule's: names tell rules apart`);
  names.add(name);
  const target = value["target"] === undefined ? undefined : templateIn(value, "target", place, say);
  const parameters =
    value["parameters"] === undefined ? undefined : parametersIn(value["parameters"], [...place, "parameters"], say);
  const unless = value["unless"] === undefined ? undefined : matchIn(value["unless"], [...place, "unless"], say);
  const deferral =
    value["deferWhile"] === undefined ? undefined : deferralIn(value["deferWhile"], [...place, "deferWhile"], say);
  return {
    name,
    match: matchIn(value["match"], [...place, "match"], say),
    workflow: textIn(value, "workflow", place, say) ?? "",
    ...(unless === undefined ? {} : { unless }),
    ...(deferral === undefined ? {} : { deferWhile: deferral }),
    ...(target === undefined ? {} : { target }),
    ...(parameters === undefined ? {} : { parameters }),
  };
}

const matchTexts = ["signalName", "source", "severity", "kind", "namespace", "name"] as const;
const matchFields = [...matchTexts, "labels", "object", "owner"];

function matchIn(value: unknown, place: YamlPlace, say: Say): Rule["match"] {
  if (!isObject(value) || Object.keys(value).length === 0) {
    say(place, `must say what the rule is for: one or more of ${matchFields.join(", ")}`);
    return {};
  }
  onlyKnown(value, matchFields, place, say);
  for (const field of matchTexts) if (field in value) checkPattern(value[field], [...place, field], say);
  checkPatterns(value, "labels", place, say);
  for (const field of ["object", "owner"]) if (field in value) checkFacts(value[field], [...place, field], say);
  return value as Rule["match"];
}

const factTexts = ["phase", "lastTermination", "waiting", "managedBy"];
const factMaps = ["labels", "annotations", "conditions"];

function checkFacts(value: unknown, place: YamlPlace, say: Say): void {
  const fields = [...factMaps, ...factTexts];
  if (!isObject(value) || Object.keys(value).length === 0)
    return say(place, `must have one or more of ${fields.join(", ")}`);
  onlyKnown(value, fields, place, say);
  for (const field of factTexts) if (field in value) checkPattern(value[field], [...place, field], say);
  for (const field of factMaps) checkPatterns(value, field, place, say);
}

/** Names with a pattern each. */
function checkPatterns(value: Readonly<Record<string, unknown>>, field: string, place: YamlPlace, say: Say): void {
  const patterns = value[field];
  if (patterns === undefined) return;
  if (!isObject(patterns)) return say([...place, field], "must be names with patterns");
  for (const [name, pattern] of Object.entries(patterns)) checkPattern(pattern, [...place, field, name], say);
}

function deferralIn(value: unknown, place: YamlPlace, say: Say): Rule["deferWhile"] {
  const fields = { rule: "of the cause", same: commonAncestors.join(", ") };
  if (!isObject(value)) {
    say(place, `must have rule (${fields.rule}) and same (${fields.same})`);
    return undefined;
  }
  onlyKnown(value, Object.keys(fields), place, say);
  if (value["rule"] === undefined) say([...place, "rule"], "is missing");
  else checkPattern(value["rule"], [...place, "rule"], say);
  if (!(commonAncestors as readonly unknown[]).includes(value["same"])) {
    say([...place, "same"], `must be one of ${fields.same}`);
  }
  return value as unknown as Rule["deferWhile"];
}

function checkPattern(value: unknown, place: YamlPlace, say: Say): void {
  const texts: readonly unknown[] = Array.isArray(value) && value.length > 0 ? value : [value];
  for (const [i, text] of texts.entries()) checkText(text, texts === value ? [...place, i] : place, say);
}

function checkText(value: unknown, place: YamlPlace, say: Say): void {
  if (typeof value !== "string" || value === "")
    return say(place, "must be text, a /regular expression/ or a list of them");
  const expression = expressionIn(value);
  if (expression === undefined) return;
  try {
    linearPattern(expression);
  } catch {
    say(place, "is not a valid regular expression (RE2 syntax: no look-around, no back-references)");
  }
}

function parametersIn(value: unknown, place: YamlPlace, say: Say): Rule["parameters"] {
  if (!isObject(value)) {
    say(place, "must be names with values");
    return {};
  }
  for (const [name, one] of Object.entries(value)) {
    const isList = Array.isArray(one) && one.every((item) => typeof item === "string");
    if (typeof one === "string") checkTemplate(one, [...place, name], say);
    else if (!isList && typeof one !== "number" && typeof one !== "boolean") {
      say([...place, name], "must be text, a number, true, false or a list of texts");
    }
  }
  return value as Rule["parameters"];
}

function templateIn(
  value: Readonly<Record<string, unknown>>,
  key: string,
  place: YamlPlace,
  say: Say,
): string | undefined {
  const text = textIn(value, key, place, say);
  if (text !== undefined) checkTemplate(text, [...place, key], say);
  return text;
}

function checkTemplate(text: string, place: YamlPlace, say: Say): void {
  for (const name of unknownNames(text)) say(place, `asks for {{ ${name} }}; there is ${fillable}`);
}

function textIn(value: Readonly<Record<string, unknown>>, key: string, place: YamlPlace, say: Say): string | undefined {
  const text = value[key];
  if (typeof text === "string" && text !== "") return text;
  say([...place, key], text === undefined ? "is missing" : "must be text");
  return undefined;
}

function onlyKnown(value: object, known: readonly string[], place: YamlPlace, say: Say): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) say([...place, key], `is not a known field; there is ${known.join(", ")}`);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
