import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/operations.md", root), "utf8");

describe("the table of what was asked for", () => {
  it.each(["BR-WE-009", "BR-WE-010", "BR-WE-011", "BR-GATEWAY-190", "BR-ORCH-050"])(
    "names tests of %s",
    (requirement) => {
      const [line = ""] = page.split("\n").filter((line) => line.startsWith(`| ${requirement} |`));

      const tests = [...line.matchAll(/`([^`]+\.(?:test|proof)\.ts)` "([^"]+)"/g)];

      expect(tests.length).toBeGreaterThan(0);
      for (const [, file = "", title = ""] of tests) {
        expect(existsSync(new URL(file, root)), file).toBe(true);
        const titles = titlesIn(readFileSync(new URL(file, root), "utf8"));
        expect(titles, file).toContain(title);
      }
    },
  );
});

/** First arguments of `it` and of what `it.each` returns. Those that are skipped do not count. */
function titlesIn(text: string): string[] {
  return [...text.matchAll(/(?:\bit\(|\bit\.each[^;]*?\)\()\s*"([^"]+)"/gs)].map(([, title = ""]) => title);
}
