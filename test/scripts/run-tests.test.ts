import { expect, it } from "vitest";
import { readReport } from "../../scripts/run-tests.ts";

it("lists a test that does not apply to the cluster with its reason, and does not count it as failed", () => {
  const lines: string[] = [];

  const counts = readReport(report({ notApplicable: "Tekton is installed" }), 0, (line) => lines.push(line));

  expect(counts).toEqual({ passed: 1, failed: 0, failedFiles: [] });
  expect(lines).toEqual(["not applicable: runs locally: Tekton is installed"]);
});

it("counts a test that was skipped for any other reason as failed", () => {
  const lines: string[] = [];

  expect(readReport(report({}), 0, (line) => lines.push(line))).toMatchObject({ passed: 1, failed: 1 });
  expect(lines).toEqual([]);
});

function report(meta: { readonly notApplicable?: string }): string {
  const assertionResults = [
    { fullName: "runs", status: "passed", meta: {} },
    { fullName: "runs locally", status: "skipped", meta },
  ];
  const testResults = [{ name: "a.test.ts", status: "passed", assertionResults }];
  return JSON.stringify({ numPassedTests: 1, numFailedTests: 0, numPendingTests: 1, testResults });
}
