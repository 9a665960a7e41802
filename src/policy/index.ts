export { askPolicy, type PolicyReport } from "./ask-policy.ts";
export { type Check, formatRemaining } from "./checks.ts";
export { type Allowed, type Blocked, decide, type PolicyDecision } from "./decide.ts";
export {
  type Checked,
  type CheckOptions,
  checkExpectation,
  type Difference,
} from "./expectations/check-expectation.ts";
export { droppedLabels } from "./expectations/dropped-labels.ts";
export type { Expectation } from "./expectations/expectation.ts";
export { readExpectations } from "./expectations/read-expectations.ts";
export { explain, explainChecks, type StoredCheck, toStoredCheck } from "./explanation.ts";
export {
  findEnd,
  findHistory,
  foldAck,
  foldEnd,
  foldIneffective,
  freeHolder,
  isCovered,
  isFolded,
  listEnds,
  neededUntilMs,
  withHolder,
} from "./fold.ts";
export { isLasting, isOn, lastingPauses, type Pause, type Paused, pausedBy } from "./pauses.ts";
export { type AskingIncident, askingIncident } from "./request.ts";
export { type OpenCause, openCauses } from "./rules/deferral.ts";
export { deferralProblems } from "./rules/deferral-problems.ts";
export { type Analysis, diagnose, diagnoseWithFacts } from "./rules/diagnose.ts";
export { distinctLabels } from "./rules/distinct-labels.ts";
export type { Facts, FactsReading } from "./rules/facts.ts";
export { type Rule, readRules } from "./rules/rule.ts";
export { ruleProblems } from "./rules/rule-problems.ts";
export { defaultPolicy, type PolicySettings } from "./settings.ts";
export { pausableTask, pauseOver, taskPause } from "./task-pause.ts";
export { isVerifiedName, type NameGuarantee } from "./verified-name.ts";
export { workflowRules } from "./workflow-rules.ts";
