import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { createVitest, type Vitest } from "vitest/node";
import type { Mutant } from "./mutant.ts";

export interface MutantCounts {
  readonly caught: number;
  /** Mutants that their suite did not notice, or that no longer fit the source, and suites that fail without a mutant. */
  readonly problems: readonly string[];
}

/** Applies each mutant by itself and runs its suite, which must fail. The files on disk are not changed. */
export async function runMutants(
  mutants: readonly Mutant[],
  print: (line: string) => void = console.log,
): Promise<MutantCounts> {
  let current: Mutant | undefined;
  let isApplied = false;
  const vitest = await createVitest(
    "test",
    { watch: false, reporters: [{}], config: "vitest.config.ts", globalSetup: [] },
    {
      plugins: [
        {
          name: "mutant",
          enforce: "pre",
          transform(code, id) {
            if (!current || id !== resolve(current.file)) return undefined;
            isApplied = true;
            return code.replace(current.from, () => current?.to ?? "");
          },
        },
      ],
    },
  );
  const problems: string[] = [];
  let caught = 0;
  const report = (problem: string) => {
    problems.push(problem);
    print(`  ${problem}`);
  };
  try {
    for (const suite of new Set(mutants.map((mutant) => mutant.suite))) {
      print(suite);
      if (!(await passes(vitest, suite))) {
        report(`${suite} fails without a mutant`);
        continue;
      }
      for (const mutant of mutants.filter((one) => one.suite === suite)) {
        const name = `${mutant.file}: ${mutant.mistake}`;
        if (!(await occursOnce(mutant))) {
          report(`${name}: the text to replace is not in the file exactly once`);
          continue;
        }
        current = mutant;
        isApplied = false;
        vitest.invalidateFile(resolve(mutant.file));
        const survived = await passes(vitest, suite);
        current = undefined;
        vitest.invalidateFile(resolve(mutant.file));
        if (!isApplied) report(`${name}: ${suite} does not load the file`);
        else if (survived) report(`${name}: survived ${suite}`);
        else caught++;
      }
    }
  } finally {
    await vitest.close();
  }
  return { caught, problems };
}

/** Returns whether the suite passes. */
async function passes(vitest: Vitest, suite: string): Promise<boolean> {
  const specifications = (await vitest.globTestSpecifications([suite])).filter(
    ({ moduleId }) => moduleId === resolve(suite),
  );
  if (specifications.length !== 1) throw new Error(`${suite} is not a test file`);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  // The result also lists the modules of earlier runs.
  const module = testModules.find(({ moduleId }) => moduleId === resolve(suite));
  return unhandledErrors.length === 0 && module !== undefined && module.ok();
}

async function occursOnce({ file, from }: Mutant): Promise<boolean> {
  return (await readFile(file, "utf8")).split(from).length === 2;
}
