import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "./run.ts";

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
}

interface RunOptions {
  /** The vitest configuration that selects the files. */
  readonly config: string;
  /** Run only the files whose path contains one of these; empty runs all. */
  readonly filters: readonly string[];
}

interface TestReport extends TestCounts {
  readonly failedFiles: readonly string[];
}

/** With more failed files than this, timing is not the cause. */
const maxRepeatedFiles = 3;

/**
 * Runs the tests of one configuration. In CI a failed file is run once more, alone: a file that passes the second time is
 * listed under `flaky`, because it is a defect to fix and not a reason to reject the change.
 */
export async function runTests({ config, filters }: RunOptions): Promise<TestCounts> {
  const first = await runVitest(config, filters);
  const { failedFiles } = first;
  if (!process.env["CI"] || failedFiles.length === 0 || failedFiles.length > maxRepeatedFiles) return first;

  console.log(`\nrunning again: ${failedFiles.join(", ")}`);
  const second = await runVitest(config, failedFiles, ["--maxWorkers=1"]);
  for (const file of failedFiles) if (!second.failedFiles.includes(file)) console.log(`flaky: ${file}`);
  return { passed: first.passed + first.failed - second.failed, failed: second.failed };
}

async function runVitest(
  config: string,
  filters: readonly string[],
  more: readonly string[] = [],
): Promise<TestReport> {
  const folder = mkdtempSync(join(tmpdir(), "interlock-test-"));
  const results = join(folder, "results.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`];
    const args = ["--no-install", "vitest", "run", "--config", config, ...reporters, ...more, ...filters];
    const code = await run("npx", args, { npm_config_loglevel: "error" });
    return readReport(readFileSync(results, "utf8"), code);
  } catch {
    return { passed: 0, failed: 1, failedFiles: [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The counts of a vitest report. Lists the tests that do not apply to the cluster of TEST_KUBECONFIG. */
export function readReport(json: string, code: number, print: (line: string) => void = console.log): TestReport {
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(json) as VitestReport;
  const inapplicable = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status, meta }) => status === "skipped" && meta.notApplicable !== undefined),
  );
  for (const { fullName, meta } of inapplicable) print(`not applicable: ${fullName}: ${meta.notApplicable}`);
  // Any other skipped test, or a file that did not load, is a failure.
  const failed = numFailedTests + numPendingTests - inapplicable.length;
  const failedFiles = testResults.filter(({ status }) => status === "failed").map(({ name }) => relative(".", name));
  return { passed: numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed, failedFiles };
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly meta: { readonly notApplicable?: string };
    }[];
  }[];
}
