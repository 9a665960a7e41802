import { describe, expect, it } from "vitest";
import { namedTests, readPage, testTitles } from "../docs/named-tests.ts";

const page = readPage("docs/operations.md");

describe("the table of requirements", () => {
  it.each(["BR-WE-009", "BR-WE-010", "BR-WE-011", "BR-GATEWAY-190", "BR-ORCH-050"])(
    "names tests of %s",
    (requirement) => {
      const [line = ""] = page.split("\n").filter((line) => line.startsWith(`| ${requirement} |`));

      const tests = namedTests(line);

      expect(tests.length).toBeGreaterThan(0);
      for (const { file, title } of tests) expect(testTitles(file), file).toContain(title);
    },
  );
});
