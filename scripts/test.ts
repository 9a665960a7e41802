import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check } from "./check.ts";
import { run } from "./run.ts";
import { installServices } from "./services.ts";

/**
 * `npm test`: installs what is missing, checks, runs every test. Ends with one line that counts them all.
 * `npm test -- NAME` runs only the test files whose path contains NAME.
 */
const only = process.argv.slice(2);
const problems = await installServices();
for (const problem of problems) console.error(problem);
if (problems.length > 0) finish(0, problems.length);

const checked = only.length === 0 ? await check() : { passed: 0, failed: [] };
const tested = await runTests();
for (const name of checked.failed) console.error(`check failed: ${name}`);
finish(checked.passed + tested.passed, checked.failed.length + tested.failed);

async function runTests(): Promise<{ passed: number; failed: number }> {
  const folder = mkdtempSync(join(tmpdir(), "interlock-test-"));
  const results = join(folder, "results.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`];
    const code = await run("npx", ["--no-install", "vitest", "run", ...reporters, ...only], {
      npm_config_loglevel: "error",
    });
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(results, "utf8"));
    // A skipped test, or a file that did not load, is a failure: silence must not look like success.
    const failed = numFailedTests + numPendingTests;
    return { passed: numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
  } catch {
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function finish(passed: number, failed: number): never {
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}
