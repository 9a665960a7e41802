import { readFileSync, rmSync } from "node:fs";
import { cliPage } from "../src/cli/index.ts";
import { configurationPage } from "../src/config/index.ts";
import { deployFiles, listLeftovers } from "./deploy.ts";
import { at, listOutdated, writeFiles } from "./generated-files.ts";
import { securityPage } from "./security-tables.ts";
import { actionFiles } from "./workflows.ts";

// npm run docs             writes all generated files: pages of docs/, workflows/, deploy/ and charts/
// npm run docs -- --check  fails if one of them is out of date
const files = new Map([
  ["docs/configuration.md", configurationPage()],
  ["docs/cli.md", cliPage()],
  ["docs/security.md", await securityPage(readFileSync(at("docs/security.md"), "utf8"))],
  ...actionFiles(),
  ...deployFiles(),
]);

if (process.argv.includes("--check")) {
  for (const path of [...listOutdated(files), ...listLeftovers()]) {
    console.error(`${path} is out of date. Run: npm run docs`);
    process.exitCode = 1;
  }
} else {
  for (const path of listLeftovers()) rmSync(at(path));
  writeFiles(files);
}
