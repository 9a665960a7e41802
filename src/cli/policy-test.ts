import { type CheckOptions, checkExpectation, type Difference, type Expectation } from "../policy/index.ts";
import type { Terminal } from "./terminal.ts";

/** Prints what came of each expectation, with the difference where there is one. Returns the exit status. */
export function testPolicy(expectations: readonly Expectation[], options: CheckOptions, { print }: Terminal): number {
  const used = new Set<string>();
  let failed = 0;
  for (const expectation of expectations) {
    const { rule, differences } = checkExpectation(expectation, options);
    if (rule) used.add(rule);
    if (differences.length > 0) failed++;
    print(`${differences.length === 0 ? "ok  " : "FAIL"}  ${expectation.at}  ${expectation.name}`);
    for (const line of differences.flatMap(differenceLines)) print(line);
  }
  const unused = options.rules.map(({ name }) => name).filter((name) => !used.has(name));
  for (const line of unused.length > 0 ? ["", `Rules that none of them is about: ${unused.join(", ")}`] : [])
    print(line);
  for (const line of ["", `${expectations.length - failed} passed, ${failed} failed`]) print(line);
  return failed === 0 ? 0 : 1;
}

function differenceLines({ what, expected, found }: Difference): readonly string[] {
  return [`        ${what}`, `          expected  ${expected}`, `          found     ${found}`];
}
