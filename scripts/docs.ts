import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { configurationPage } from "../src/config/index.ts";

// npm run docs             writes the generated pages
// npm run docs -- --check  fails if one of them is not what would be written
const pages = [{ url: new URL("../docs/configuration.md", import.meta.url), text: configurationPage() }];

for (const { url, text } of pages) {
  if (!process.argv.includes("--check")) {
    writeFileSync(url, text);
  } else if (!existsSync(url) || readFileSync(url, "utf8") !== text) {
    console.error(`${url.pathname} is out of date. Run: npm run docs`);
    process.exitCode = 1;
  }
}
