export {
  type CustomResourceDefinition,
  customResourceDefinitions,
  linearPattern,
  type StructuralSchema,
  type ValidationRule,
} from "../kube/index.ts";
export {
  type BlockReason,
  blockReasons,
  blockText,
  type RecentCause,
  type SkipReason,
  skipText,
} from "./block-reasons.ts";
export {
  type Catalog,
  type CatalogLookup,
  catalogInformerOptions,
  foundEntry,
  lookUpEntry,
  toCatalog,
} from "./catalog/catalog.ts";
export { type CatalogDefaults, catalogDifference } from "./catalog/catalog-difference.ts";
export { currentEntry, entryName } from "./catalog/catalog-entries.ts";
export { checkParameters } from "./catalog/check-parameters.ts";
export { isCodeVariable } from "./catalog/code-variables.ts";
export { listSecretParameters, redactParameters, redactValues } from "./catalog/redact-parameters.ts";
export {
  reservedParameters,
  type TargetKind,
  targetKindProblem,
  workflowProblems,
} from "./catalog/workflow-problems.ts";
export { closedNotice } from "./closed-notice.ts";
export { readDefinitions } from "./custom-kinds/definition-files.ts";
export { listKinds, readKinds } from "./custom-kinds/list-kinds.ts";
export { fixedKinds, grantKinds, type KindsCache, watchKinds } from "./custom-kinds/watch-kinds.ts";
export { classifyFailure, type FailureReason, failureReasons } from "./failure-reasons.ts";
export {
  type HealthArea,
  type HealthProblem,
  type Heartbeat,
  heartbeatSelector,
  type ReadHeartbeat,
  readHeartbeat,
  type StageHealth,
  toHeartbeatLease,
} from "./heartbeat.ts";
export {
  type AutomationPause,
  type AutomationPauseSpec,
  automationPauses,
} from "./kinds/automation-pause.ts";
export {
  begunAt,
  begunStep,
  type ClosedTaskStatus,
  type CodingTask,
  type CodingTaskSpec,
  type CodingTaskStatus,
  type CodingTaskStep,
  type CodingVerb,
  closedTaskStatus,
  coderStep,
  codingTasks,
  isBuiltIn,
  isClosedTask,
} from "./kinds/coding-task.ts";
export { toCrd } from "./kinds/crd.ts";
export type { Kind } from "./kinds/define-kind.ts";
export { waitUntilEstablished } from "./kinds/established.ts";
export { crdStep, installCrds } from "./kinds/install.ts";
export {
  isDigested,
  isSettled,
  type NoticeContext,
  type NotificationRequest,
  type NotificationRequestStatus,
  notificationRequests,
  type SettledStatus,
} from "./kinds/notification-request.ts";
export { ourCrds } from "./kinds/our-crds.ts";
export {
  closedIncidentPhases,
  closedTaskPhases,
  executionTransitions,
  keptEnds,
  maxImageDigests,
} from "./kinds/phases-and-limits.ts";
export {
  type RemediationApprovalRequest,
  type RemediationApprovalRequestStatus,
  remediationApprovalRequests,
} from "./kinds/remediation-approval-request.ts";
export {
  closedStatus,
  type Deduplication,
  type Diagnosis,
  hasSignalTexts,
  type IncidentBlock,
  type IncidentSeries,
  isClosedIncident,
  type RemediationRequest,
  type RemediationRequestSpec,
  type RemediationRequestStatus,
  remediationRequests,
  signalTextsRemoved,
  withoutSignalTexts,
} from "./kinds/remediation-request.ts";
export {
  type Acknowledgement,
  type ExecutionEnd,
  type Ineffectiveness,
  ineffectiveExecutions,
  type RemediationTarget,
  type RemediationTargetStatus,
  remediationTargets,
  type WorkflowHistory,
} from "./kinds/remediation-target.ts";
export {
  type RemediationWorkflow,
  type RemediationWorkflowSpec,
  remediationWorkflows,
  type WorkflowParameter,
} from "./kinds/remediation-workflow.ts";
export { resourceKinds } from "./kinds/resource-kinds.ts";
export {
  type Condition,
  type Engine,
  type ParameterValue,
  parameterValue,
  type RecordHolder,
  type TargetHolder,
  type UsedApproval,
} from "./kinds/schemas/fields.ts";
export { kindSchema } from "./kinds/schemas/kind-schema.ts";
export { noticeTypes } from "./kinds/schemas/notification-request.ts";
export {
  type Cancellation,
  type FailureDetails,
  isRecorded,
  isUnfinished,
  type RunRef,
  type RunStatus,
  type SkipDetails,
  type WorkflowExecution,
  type WorkflowExecutionStatus,
  type WorkflowRef,
  type Workload,
  workflowExecutions,
} from "./kinds/workflow-execution.ts";
export {
  annotationKeys,
  executionFinalizer,
  executionNamespace,
  incidentName,
  incidentNumber,
  labelKeys,
  labelText,
  managedBy,
  pauseFinalizer,
  runName,
  targetHash,
} from "./names.ts";
export { type ObjectFacts, objectFacts } from "./object-facts.ts";
export {
  type CancelRequest,
  cancelAnnotations,
  describeCancellation,
  readAckRequest,
  readCancelRequest,
} from "./operator-requests.ts";
export { type Reading, read } from "./reading.ts";
export {
  type FiringSeries,
  type FirstSignal,
  firstSignal,
  hasSmallSeries,
  highestSeverity,
  incidentSeverity,
  seriesLabels,
  seriesVersion,
  severityRank,
  toIncidentSeries,
  viewsBySeries,
  withoutSeries,
} from "./signals/series.ts";
export {
  computeFingerprint,
  defaultFingerprintFields,
  explainReadings,
  type FieldTrace,
  type FingerprintField,
  fingerprinter,
  type NodeHint,
  type PayloadReading,
  type Signal,
  type SignalReader,
  type SignalReading,
  signalTime,
} from "./signals/signal.ts";
export { describeStall, findStall, type Stall, type StallReason, stallReasons, withStall } from "./stalled.ts";
export { kindText } from "./target/built-in-kinds.ts";
export { builtInKinds, type CustomKind, type Kinds, kindsWith } from "./target/kinds.ts";
export { type ObjectReference, toObjectTarget } from "./target/object-target.ts";
export { parsePauseTarget, parseRecordedTarget, parseTarget } from "./target/parse-target.ts";
export { toRepositoryTarget } from "./target/repository-target.ts";
export { toResourceType } from "./target/resource-type.ts";
export type { ObjectTarget, Target, TargetReading } from "./target/target.ts";
export {
  duplicateKeys,
  maxAliases,
  maxYamlLength,
  parseYamlFile,
  readYamlFile,
  type TextFile,
} from "./yaml-file.ts";
