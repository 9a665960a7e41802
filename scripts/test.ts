import { allMutants } from "../test/mutants/all.ts";
import { runMutants } from "../test/mutants/run-mutants.ts";
import { check } from "./check.ts";
import { runTests } from "./run-tests.ts";
import { installServices } from "./services.ts";

/**
 * `npm test` installs missing services, checks, and runs every quick test. `npm run proof` runs the long ones: campaigns
 * of simulation, crash points, storms (`*.proof.ts`), and mutants. `-- NAME` runs only the files whose path contains NAME.
 * Both end with one line that counts everything.
 */
const isProof = process.argv[2] === "--proof";
const filters = process.argv.slice(isProof ? 3 : 2);

const problems = await installServices({ isProof });
for (const problem of problems) console.error(problem);
if (problems.length > 0) finish(0, problems.length);

const checked = isProof || filters.length > 0 ? { passed: 0, failed: [] } : await check();
const tested = await runTests({ config: isProof ? "vitest.proof.config.ts" : "vitest.config.ts", filters });
const mutated = isProof && filters.length === 0 ? await runMutants(allMutants) : { caught: 0, problems: [] };
for (const name of checked.failed) console.error(`check failed: ${name}`);
for (const problem of mutated.problems) console.error(`mutant: ${problem}`);
finish(
  checked.passed + tested.passed + mutated.caught,
  checked.failed.length + tested.failed + mutated.problems.length,
);

function finish(passed: number, failed: number): never {
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}
