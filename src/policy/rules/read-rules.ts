import { parseYamlFile, type TextFile } from "../../resources/index.ts";
import { type Rule, rulesFile } from "./rule.ts";

export type RulesReading =
  | { readonly kind: "valid"; readonly rules: readonly Rule[] }
  /** `file:line: path problem`, everything at once. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Reads `rules:` of a YAML file. A file with any problem is refused: a rule that half works acts on the wrong thing. */
export function readRules(file: TextFile): RulesReading {
  const yaml = parseYamlFile(file, rulesFile);
  return yaml.kind === "valid" ? { kind: "valid", rules: yaml.value.rules } : yaml;
}
