import { ackIdentity, approvalIdentity, resumeIdentity } from "../manifests/index.ts";
import { type OrchestratorSettings, startOrchestrator } from "../orchestrator/index.ts";
import { type Rule, ruleProblems } from "../policy/index.ts";
import { currentEntry, type Kinds, remediationWorkflows } from "../resources/index.ts";
import { openCoordination } from "./coordination.ts";
import { placesIn } from "./executor.ts";
import { factsLimits, factsReader } from "./facts.ts";
import type { ReportHealth } from "./health/health-reports.ts";
import { openKinds } from "./kinds.ts";
import { nameGuarantee } from "./names-known-since.ts";
import { stagePolicySettings } from "./policy-settings.ts";
import { openRules } from "./rules.ts";
import { type Stage, type StageOptions, toStage } from "./stage.ts";

export interface RunningOrchestrator extends Stage {
  /** Names of the rules it began with. */
  readonly rules: readonly string[];
}

/** Starts the orchestrator with the rules and locks that the configuration names. */
export async function openOrchestrator(options: StageOptions): Promise<RunningOrchestrator> {
  const { client, clock, log } = options;
  const { config } = options.loaded;
  const { kinds, close: closeKinds } = openKinds(options);
  const analyzer = await openRules({
    directory: config.rules.dir,
    ifWrong: "throw",
    kinds,
    readFacts: factsReader({ client, kinds, clock, ...factsLimits(config) }),
    clock,
    log,
    report: options.health?.reporter("rules"),
  });
  const reporter = new RuleProblems(options);
  const report = () => {
    kinds.synced
      .then(() => reporter.report(analyzer.rules, kinds.current))
      .catch((error: unknown) => log.warn("rules not compared with the catalog", { error }));
  };
  const unsubscribe = [analyzer.subscribe(report), kinds.subscribe(report)];
  report();
  const closeAll = () => {
    for (const end of unsubscribe) end();
    analyzer.close();
    closeKinds();
  };
  const coordination = await openCoordination({ ...options, stage: "ro" }).catch((error: unknown) => {
    closeAll();
    throw error;
  });
  const orchestrator = startOrchestrator({
    ...options,
    analyzer,
    locks: coordination.locks,
    kinds,
    namespace: config.execution.namespace,
    catalogNamespace: config.execution.catalogNamespace,
    settings: orchestratorSettings(options),
    answerersKnownSince: (signal) => nameGuarantee(options, approvalIdentity(placesIn(config)), signal),
    cancellersKnownSince: (signal) => nameGuarantee(options, ackIdentity(placesIn(config)), signal),
    resumersKnownSince: (signal) => nameGuarantee(options, resumeIdentity(), signal),
  });
  const stage = toStage(orchestrator, async () => {
    await orchestrator.stop({ deadlineMs: 5_000 });
    closeAll();
    await coordination.close();
  });
  return Object.assign(stage, { rules: analyzer.rules.map(({ name }) => name) });
}

/** Logs the rules that can never be carried out, each once until its problems change: their incidents would be blocked. */
class RuleProblems {
  readonly #options: StageOptions;
  readonly #reportHealth: ReportHealth | undefined;
  #reported: ReadonlySet<string> = new Set();

  constructor(options: StageOptions) {
    this.#options = options;
    this.#reportHealth = options.health?.reporter("rules");
  }

  async report(rules: readonly Rule[], kinds: Kinds): Promise<void> {
    const { client, loaded, log } = this.#options;
    const { catalogNamespace: namespace } = loaded.config.execution;
    const settings = stagePolicySettings(this.#options);
    const { items } = await client.list(remediationWorkflows, { namespace });
    const workflow = (id: string) =>
      currentEntry(
        items.filter(({ spec }) => spec.workflowId === id),
        kinds,
      );
    const found = new Set<string>();
    const messages: string[] = [];
    for (const rule of rules) {
      const problems = ruleProblems(rule, { workflow, kinds, settings });
      if (problems.length === 0) continue;
      messages.push(...problems.map((problem) => `rule "${rule.name}": ${problem}`));
      const key = JSON.stringify([rule.name, problems]);
      found.add(key);
      if (this.#reported.has(key)) continue;
      log.error("rule cannot be carried out", {
        rule: rule.name,
        problems,
        next: "its incidents wait until it is corrected",
      });
    }
    this.#reported = found;
    this.#reportHealth?.(messages);
  }
}

function orchestratorSettings(options: StageOptions): OrchestratorSettings {
  const { incidents, approval, verification, execution } = options.loaded.config;
  return {
    ...stagePolicySettings(options),
    ...incidents,
    verification,
    approvalExpiresAfterMs: approval.expiresAfterMs,
    engine: execution.engine,
  };
}
