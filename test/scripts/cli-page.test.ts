import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cliPage } from "../../scripts/cli-page.ts";
import { exitStatuses } from "../../src/cli/command.ts";

const page = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");

describe("docs/cli.md", () => {
  it("is current; if not, run: npm run docs", () => {
    expect(cliPage(page)).toBe(page);
  });

  it("has every exit status once", () => {
    const listed = [...page.matchAll(/^\| (\d+) \| /gm)].map(([, status]) => Number(status));

    expect(listed).toEqual(Object.values(exitStatuses).map(({ status }) => status));
    expect(new Set(listed).size).toBe(listed.length);
  });
});
