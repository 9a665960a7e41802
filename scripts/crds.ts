import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import { crdOf, resourceKinds } from "../src/resources/index.ts";

// npx tsx scripts/crds.ts           writes deploy/crds
// npx tsx scripts/crds.ts --check   fails if a file there is not what would be written
const folder = new URL("../deploy/crds/", import.meta.url);

/** Every file of deploy/crds and what belongs in it. */
export function crdFiles(): ReadonlyMap<string, string> {
  return new Map(resourceKinds.map((kind) => [`${kebab(kind.kind)}.yaml`, header + yamlOf(crdOf(kind))]));
}

const header = "# Written by scripts/crds.ts from src/resources. Change it there, then run: npx tsx scripts/crds.ts\n";

function yamlOf(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** RemediationRequest → remediation-request */
function kebab(kind: string): string {
  return kind.replace(/(?<=.)[A-Z]/g, (capital) => `-${capital}`).toLowerCase();
}

/** The files that are missing, out of date or no longer written. */
export function staleCrdFiles(): string[] {
  const files = crdFiles();
  const outdated = [...files].filter(
    ([name, text]) => !existsSync(at(name)) || readFileSync(at(name), "utf8") !== text,
  );
  return [...outdated.map(([name]) => name), ...leftovers()];
}

function leftovers(): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => !crdFiles().has(name)) : [];
}

function at(name: string): URL {
  return new URL(name, folder);
}

if (import.meta.filename === process.argv[1]) {
  if (process.argv.includes("--check")) {
    for (const name of staleCrdFiles()) {
      console.error(`deploy/crds/${name} is out of date. Run: npx tsx scripts/crds.ts`);
      process.exitCode = 1;
    }
  } else {
    mkdirSync(folder, { recursive: true });
    for (const name of leftovers()) rmSync(at(name));
    for (const [name, text] of crdFiles()) writeFileSync(at(name), text);
  }
}
