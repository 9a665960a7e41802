import { allMutants } from "./all.ts";
import { runMutants } from "./run-mutants.ts";

// npm run mutants [-- WORD]: only the mutants whose source file, suite or mistake contains the word.
const [word = ""] = process.argv.slice(2);
const mutants = allMutants.filter(({ file, suite, mistake }) => `${file} ${suite} ${mistake}`.includes(word));
if (mutants.length === 0) {
  console.error(`error: no mutant contains "${word}"; see test/mutants`);
  process.exit(1);
}
const { caught, problems } = await runMutants(mutants);
if (problems.length > 0) console.log(`\nproblems:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
console.log(`\n${caught} passed, ${problems.length} failed`);
process.exit(problems.length === 0 ? 0 : 1);
