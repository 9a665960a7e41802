import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { configurationPage } from "./configuration-page.ts";
import { loadConfig } from "./load.ts";
import { settings } from "./schema.ts";

describe("the configuration page", () => {
  it("is current; if not, run: npm run docs", () => {
    const committed = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");

    expect(committed).toBe(configurationPage());
  });

  it("has one row for every setting", () => {
    const rows = configurationPage()
      .split("\n")
      .filter((line) => line.startsWith("| `"));

    expect(rows.map((row) => row.split("`")[1]).toSorted()).toEqual(settings.map(({ path }) => path).toSorted());
  });

  it("shows an example that loads without a warning", () => {
    const text = /```yaml\n([^`]+)```/.exec(configurationPage())?.[1] ?? "";

    const outcome = loadConfig({ yaml: { path: "example", text }, env: { REDIS_URL: "redis://redis:6379" } });

    expect(outcome).toMatchObject({ kind: "loaded", warnings: [], config: { locks: { ttlMs: 45_000 } } });
  });
});
