import { describe, expect, it } from "vitest";
import { protocols } from "../sim/protocols.ts";
import { namedTests, readPage, testTitles } from "./named-tests.ts";

const page = readPage("docs/defects.md");
const rows = page
  .split("\n")
  .filter((line) => /^\| [A-Z]/.test(line))
  .map((line) => ({ line, defect: line.split("|")[1]?.trim() ?? "" }));

describe("the page of defects that Interlock does not have", () => {
  it("lists every known defect once", () => {
    expect(rows.length).toBeGreaterThanOrEqual(37);
    expect(new Set(rows.map(({ defect }) => defect)).size).toBe(rows.length);
  });

  it.each(rows)("names tests that exist: $defect", ({ line }) => {
    const tests = namedTests(line);

    expect(tests.length).toBeGreaterThan(0);
    for (const { file, title } of tests) expect(testTitles(file), file).toContain(title);
  });

  it.each(simulatedMutants(page))("names a mutant that is simulated: %s %s", (protocol, mutant) => {
    expect(Object.keys(protocols[protocol]?.mutants ?? {})).toContain(mutant);
  });
});

/** Protocol and mutant of each "simulated: `protocol mutant`, …". */
function simulatedMutants(text: string): (readonly [string, string])[] {
  const lists = [...text.matchAll(/simulated: ([^|]*)\|/g)].map(([, list = ""]) => list);
  return lists.flatMap((list) =>
    [...list.matchAll(/`(\S+) (\S+)`/g)].map(([, protocol = "", mutant = ""]) => [protocol, mutant] as const),
  );
}
