import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = new URL("../../", import.meta.url);
const page = readFileSync(fileURLToPath(new URL("docs/architecture.md", root)), "utf8");

it.each(["One alert", "One comment"])("%s is followed through at most 40 files, each once", (heading) => {
  const section = page.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const files = [...section.matchAll(/`(src\/[^`]+\.ts)`/g)].map(([, file = ""]) => file);

  expect(files.length).toBeGreaterThan(20);
  expect(files.length).toBeLessThanOrEqual(40);
  expect(new Set(files).size).toBe(files.length);
  expect(files.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});
