import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Licences whose only condition is their text in the package. */
const allowed = new Set(["MIT", "MIT-0", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD"]);

export interface BundledPackage {
  /** Its folder. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly text: string;
}

/** Every package that the bundled modules belong to, by name. Throws for other licences. */
export function bundledPackages(moduleIds: readonly string[]): readonly BundledPackage[] {
  const folders = new Set(moduleIds.flatMap((id) => packageFolder(id) ?? []));
  const packages = [...folders].map(readPackage).sort((a, b) => (a.name < b.name ? -1 : 1));
  const refused = packages.filter(({ license }) => !allowed.has(license));
  if (refused.length > 0) {
    const names = refused.map(({ name, license }) => `${name} (${license})`).join(", ");
    throw new Error(`the licence of ${names} is not in the list of scripts/third-party-notices.ts`);
  }
  return packages;
}

/** The name, version and licence text of each package. */
export function thirdPartyNotices(packages: readonly BundledPackage[]): string {
  const notices = packages.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`);
  return `Interlock contains the following packages.\n\n${notices.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** `/a/node_modules/@scope/name` of `/a/node_modules/@scope/name/lib/x.js`; the innermost one. */
function packageFolder(moduleId: string): string | undefined {
  const path = moduleId.replace(/^\0/, "").replace(/\?.*$/, "");
  return /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
}

function readPackage(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((entry) => /^(licen[cs]e|notice)(\.|$)/i.test(entry));
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
  return { folder, name, version, license, text: texts.join("\n\n") || license };
}
