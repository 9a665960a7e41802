import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";

/** The text of each generated file, by its path in the repository. */
export type GeneratedFiles = ReadonlyMap<string, string>;

/** Returns the URL of a path in the repository. */
export function at(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** Returns the paths of the files that are missing or have another text. */
export function listOutdated(files: GeneratedFiles): string[] {
  return [...files]
    .filter(([path, text]) => !existsSync(at(path)) || readFileSync(at(path), "utf8") !== text)
    .map(([path]) => path);
}

export function writeFiles(files: GeneratedFiles): void {
  for (const [path, text] of files) {
    mkdirSync(new URL(".", at(path)), { recursive: true });
    writeFileSync(at(path), text);
  }
}

/** Returns a YAML document without line breaks in texts, and without aliases. */
export function toYaml(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
