import {
  type CheckOptions,
  checkExpectation,
  type Difference,
  droppedLabels,
  type Expectation,
  ruleProblems,
} from "../../policy/index.ts";
import type { RemediationRequestSpec } from "../../resources/index.ts";
import type { Terminal } from "../output/terminal.ts";

/** Prints rules that can never be carried out, and the outcome of each expectation. Returns the exit status. */
export function testPolicy(expectations: readonly Expectation[], options: CheckOptions, { print }: Terminal): number {
  const signals = new Map<string, RemediationRequestSpec[]>();
  let passed = 0;
  let failed = 0;
  for (const rule of options.rules) {
    const problems = ruleProblems(rule, options);
    if (problems.length === 0) continue;
    failed++;
    print(`FAIL  rule ${rule.name} can never be carried out`);
    for (const problem of problems) print(`        ${problem}`);
  }
  for (const expectation of expectations) {
    const { rule, differences } = checkExpectation(expectation, options);
    if (rule) signals.set(rule, [...(signals.get(rule) ?? []), expectation.incident]);
    if (differences.length > 0) failed++;
    else passed++;
    print(`${differences.length === 0 ? "ok  " : "FAIL"}  ${expectation.at}  ${expectation.name}`);
    for (const line of differences.flatMap(differenceLines)) print(line);
  }
  const unused = options.rules.map(({ name }) => name).filter((name) => !signals.has(name));
  for (const rule of options.rules) {
    for (const label of droppedLabels(rule, signals.get(rule.name) ?? [])) print(droppedLine(rule.name, label));
  }
  for (const line of unused.length > 0 ? ["", `Rules that none of them is about: ${unused.join(", ")}`] : [])
    print(line);
  for (const line of ["", `${passed} passed, ${failed} failed`]) print(line);
  return failed === 0 ? 0 : 1;
}

function droppedLine(rule: string, label: string): string {
  return `warn  rule ${rule} drops label ${label}: alerts that differ in it are one incident and one execution; pass {{ labels.${label} }} in a parameter if each needs its own`;
}

function differenceLines({ what, expected, found }: Difference): readonly string[] {
  return [`        ${what}`, `          expected  ${expected}`, `          found     ${found}`];
}
