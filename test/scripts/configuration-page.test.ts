import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { configurationPage } from "../../scripts/configuration-page.ts";
import { loadConfig } from "../../src/config/index.ts";
import { settings } from "../../src/config/schema.ts";

const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");

describe("docs/configuration.md", () => {
  it("is current; if not, run: npm run docs", () => {
    expect(configurationPage(page)).toBe(page);
  });

  it("has one row for every setting", () => {
    const rows = page.split("\n").filter((line) => line.startsWith("| `"));

    expect(rows.map((row) => row.split("`")[1]).toSorted()).toEqual(settings.map(({ path }) => path).toSorted());
  });

  it("shows an example that loads without a warning", () => {
    const text = /```yaml\n([^`]+)```/.exec(page)?.[1] ?? "";

    const outcome = loadConfig({ yaml: { path: "example", text }, env: { REDIS_URL: "redis://redis:6379" } });

    expect(outcome).toMatchObject({ kind: "loaded", warnings: [], config: { locks: { ttlMs: 45_000 } } });
  });
});
