import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ifMissing } from "../disk/index.ts";
import { deferralProblems, type Rule, readRules } from "../policy/index.ts";

/** The content of a folder of rules. */
export interface RulesFolder {
  readonly rules: readonly Rule[];
  readonly problems: readonly string[];
  /** The text of all files, to detect changes. */
  readonly text: string;
}

/** All files in the order of their names, which is the order in which rules are tried. */
export async function readRulesFolder(directory: string): Promise<RulesFolder> {
  const rules: Rule[] = [];
  const problems: string[] = [];
  const texts: string[] = [];
  const pathOfRule = new Map<string, string>();
  for (const file of await yamlFilesIn(directory)) {
    const path = join(directory, file);
    const text = await readFile(path, "utf8");
    texts.push(file, text);
    const reading = readRules({ path, text });
    if (reading.kind === "invalid") problems.push(...reading.problems);
    else rules.push(...reading.rules);
    for (const { name } of reading.kind === "valid" ? reading.rules : []) {
      const other = pathOfRule.get(name);
      if (other) problems.push(`${path}: has a rule "${name}", and so has ${other}: names must be unique`);
      pathOfRule.set(name, path);
    }
  }
  // A cause may be in a file that could not be read.
  if (problems.length === 0) problems.push(...deferralProblems(rules).map((problem) => `${directory}: ${problem}`));
  return { rules, problems, text: JSON.stringify(texts) };
}

/** Returns the sorted names of the YAML files directly in a folder; none if the folder does not exist. */
export async function yamlFilesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(ifMissing([]));
  return entries
    .filter((entry) => !entry.isDirectory() && /^[^.].*\.ya?ml$/.test(entry.name))
    .map(({ name }) => name)
    .sort();
}
