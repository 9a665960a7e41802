import { readFileSync, writeFileSync } from "node:fs";
import { cliPage } from "./cli-page.ts";
import { configurationPage } from "./configuration-page.ts";
import { securityPage } from "./security-tables.ts";
import { staleActionFiles, writeActionFiles } from "./workflows.ts";

// npm run docs             writes the generated parts of pages
// npm run docs -- --check  fails if one of them is not what would be written
const pages = { cli: cliPage, configuration: configurationPage, security: securityPage };

for (const [name, fill] of Object.entries(pages)) {
  const url = new URL(`../docs/${name}.md`, import.meta.url);
  const page = readFileSync(url, "utf8");
  const filled = await fill(page);
  if (!process.argv.includes("--check")) {
    writeFileSync(url, filled);
  } else if (filled !== page) {
    console.error(`${url.pathname} is out of date. Run: npm run docs`);
    process.exitCode = 1;
  }
}

if (!process.argv.includes("--check")) writeActionFiles();
for (const path of staleActionFiles()) {
  console.error(`${path} is out of date. Run: npm run docs`);
  process.exitCode = 1;
}
