export { type Directive, parseDirective } from "./directive.ts";
export { draftTask, type TaskDraft } from "./draft-task.ts";
export { type IgnoredReport, reportIgnoredEvent, taskFacts, taskReceivedEvent } from "./ledger-events.ts";
export type {
  IgnoreReason,
  ReportedMergeRequest,
  ReportedNote,
  ReportOrigin,
  ReportOutcome,
  ReportRules,
  ReportSubject,
  TaskReader,
  TaskReport,
} from "./report.ts";
export { claimKeys, commandOutcome, ignoredOutcome, isListedLabel, reviewOutcome } from "./report-outcome.ts";
export { type TaskCreation, type TaskIntake, type TaskIntakeOptions, taskIntake } from "./task-intake.ts";
export {
  type TaskAdmission,
  type WebhookIntake,
  type WebhookIntakeOptions,
  webhookIntake,
} from "./webhook-intake.ts";
