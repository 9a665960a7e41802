import { readFileSync, rmSync } from "node:fs";
import { cliPage } from "./cli-page.ts";
import { configurationPage } from "./configuration-page.ts";
import { deployFiles, listLeftovers } from "./deploy.ts";
import { at, listOutdated, writeFiles } from "./generated-files.ts";
import { securityPage } from "./security-tables.ts";
import { actionFiles } from "./workflows.ts";

// npm run docs             writes all generated files: parts of pages of docs/, workflows/, deploy/ and charts/
// npm run docs -- --check  fails if one of them is out of date
const pages = { cli: cliPage, configuration: configurationPage, security: securityPage };
const files = new Map([...actionFiles(), ...deployFiles()]);
for (const [name, fill] of Object.entries(pages)) {
  const path = `docs/${name}.md`;
  files.set(path, await fill(readFileSync(at(path), "utf8")));
}

if (process.argv.includes("--check")) {
  for (const path of [...listOutdated(files), ...listLeftovers()]) {
    console.error(`${path} is out of date. Run: npm run docs`);
    process.exitCode = 1;
  }
} else {
  for (const path of listLeftovers()) rmSync(at(path));
  writeFiles(files);
}
