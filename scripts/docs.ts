import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cliPage } from "../src/cli/index.ts";
import { configurationPage } from "../src/config/index.ts";
import { securityPage } from "./security-tables.ts";
import { staleActionFiles, writeActionFiles } from "./workflows.ts";

// npm run docs             writes the generated pages
// npm run docs -- --check  fails if one of them is not what would be written
const security = new URL("../docs/security.md", import.meta.url);
const pages = [
  { url: new URL("../docs/configuration.md", import.meta.url), text: configurationPage() },
  { url: new URL("../docs/cli.md", import.meta.url), text: cliPage() },
  { url: security, text: await securityPage(readFileSync(security, "utf8")) },
];

for (const { url, text } of pages) {
  if (!process.argv.includes("--check")) {
    writeFileSync(url, text);
  } else if (!existsSync(url) || readFileSync(url, "utf8") !== text) {
    console.error(`${url.pathname} is out of date. Run: npm run docs`);
    process.exitCode = 1;
  }
}

if (!process.argv.includes("--check")) writeActionFiles();
for (const path of staleActionFiles()) {
  console.error(`${path} is out of date. Run: npm run docs`);
  process.exitCode = 1;
}
