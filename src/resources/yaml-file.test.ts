import { describe, expect, it } from "vitest";
import { maxYamlLength, readYamlFile } from "./yaml-file.ts";

describe("a YAML file", () => {
  it.each([
    ["larger than its limit", `a: ${"x".repeat(maxYamlLength)}`, "is larger than"],
    ["an alias bomb", bomb(), "aliases"],
    ["with more aliases than it may use", `a: &a [x]\n${lines(500, (i) => `k${i}: *a`)}`, "aliases"],
    ["nested too deeply", "- ".repeat(5_000), "is nested too deeply"],
    [
      "with a bracket that is not closed",
      "a: [b\nc: d\n",
      "f.yaml:2: the indentation does not fit the lines above, or a bra",
    ],
    ["with a key that is there twice", "a: 1\nb: 2\na: 3\n", "f.yaml:3: the name is there twice. Keep one"],
  ])("that is %s is refused with a reason", (_what, text, problem) => {
    const reading = readYamlFile({ path: "f.yaml", text });

    expect(reading).toMatchObject({ kind: "invalid", problems: [expect.stringContaining(problem)] });
  });

  it("may use anchors for shared parts", () => {
    const text = `defaults: &d {a: 1}\n${lines(20, (i) => `k${i}: *d`)}`;

    expect(readYamlFile({ path: "f.yaml", text })).toMatchObject({ kind: "valid", value: { k19: { a: 1 } } });
  });

  it("with many keys takes no quadratic time", () => {
    const costOf = (count: number) => {
      const text = lines(count, (i) => `k${i}: v`);
      const startedAt = process.cpuUsage();
      expect(readYamlFile({ path: "f.yaml", text }).kind).toBe("valid");
      return process.cpuUsage(startedAt).user;
    };

    costOf(2_000);
    const small = costOf(2_000);
    // Quadratic cost would be a factor of 100, linear is 10; CPU time does not depend on other processes.
    expect(costOf(20_000) / small).toBeLessThan(50);
  });
});

function bomb(): string {
  const rows = ['a: &a ["x","x","x","x","x","x","x","x","x"]'];
  for (let i = 1; i < 9; i++) {
    const [from, to] = [String.fromCharCode(96 + i), String.fromCharCode(97 + i)];
    rows.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(",")}]`);
  }
  return rows.join("\n");
}

function lines(count: number, line: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => line(i)).join("\n");
}
