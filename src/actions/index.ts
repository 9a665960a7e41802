export type { Action, ActionDescription, Right } from "./action.ts";
export { actions } from "./actions.ts";
export { actionsTable } from "./actions-table.ts";
export { gitlabIssues } from "./issues/gitlab-issues.ts";
export { readInputs } from "./read-inputs.ts";
export { type ActionOutcome, leaveReason, runAction } from "./run-action.ts";
export { workflowFiles } from "./workflow-files.ts";
