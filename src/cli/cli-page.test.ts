import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cliPage } from "./cli-page.ts";
import { exitStatuses } from "./command.ts";

describe("docs/cli.md", () => {
  it("is current; if not, run: npm run docs", () => {
    expect(readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8")).toBe(cliPage());
  });

  it("has every exit status once", () => {
    const listed = [...cliPage().matchAll(/^\| (\d+) \| /gm)].map(([, status]) => Number(status));

    expect(listed).toEqual(Object.values(exitStatuses).map(({ status }) => status));
    expect(new Set(listed).size).toBe(listed.length);
  });
});
