import type { Analyzer } from "../orchestrator/index.ts";
import { diagnoseWithFacts, type Rule } from "../policy/index.ts";
import type { KindsCache } from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Clock } from "../time/index.ts";
import type { ReadFacts } from "./facts.ts";
import type { ReportHealth } from "./health/health-reports.ts";
import { readRulesFolder } from "./rules-folder.ts";
import { watchFolder } from "./watch-folder.ts";

export interface RulesOptions {
  /** The folder with the rules' files. */
  readonly directory: string;
  /** Whether invalid rules at start are an error, or the process starts without rules. */
  readonly ifWrong: "throw" | "start-without";
  readonly kinds: Pick<KindsCache, "current">;
  readonly readFacts: ReadFacts;
  readonly clock: Clock;
  readonly log: Logger;
  /** Receives the problems of the files after each reading. */
  readonly report?: ReportHealth | undefined;
}

/** The current rules of a folder. */
export interface RulesAnalyzer extends Analyzer {
  readonly rules: readonly Rule[];
  /** Reads the folder again. Invalid rules are logged, and the previous ones stay. */
  reload(): Promise<void>;
  close(): void;
}

/** Reads the rules and follows their changes. */
export async function openRules(options: RulesOptions): Promise<RulesAnalyzer> {
  const { directory, ifWrong, kinds, readFacts, clock, log, report = () => {} } = options;
  const first = await readRulesFolder(directory);
  const { problems } = first;
  report(problems);
  if (problems.length > 0 && ifWrong === "throw") {
    throw new TypeError(`invalid rules; fix these problems:\n  ${problems.join("\n  ")}`);
  }
  if (problems.length > 0) log.error("rules not loaded", { directory, problems });
  let { text } = first;
  let rules = problems.length > 0 ? [] : first.rules;
  if (rules.length === 0 && ifWrong === "throw")
    log.warn("no rules", { directory, next: "every incident will wait for a rule that matches" });
  const listeners = new Set<() => void>();

  async function reload() {
    const read = await readRulesFolder(directory).catch((error: Error) => {
      report([error.message]);
      throw error;
    });
    report(read.problems);
    if (read.text === text) return;
    text = read.text;
    if (read.problems.length > 0)
      return log.error("rules not loaded, the earlier ones stay", { problems: read.problems });
    rules = read.rules;
    log.info("rules loaded", { directory, rules: rules.map(({ name }) => name) });
    for (const changed of listeners) changed();
  }
  const watch = await watchFolder(directory, { clock, log, reload });

  return {
    get rules() {
      return rules;
    },
    analyze: (incident, signal, subject) =>
      diagnoseWithFacts(incident, rules, kinds.current, () => readFacts(incident, subject, signal)),
    subscribe(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    reload,
    close: () => watch.close(),
  };
}
