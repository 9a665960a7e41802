import { z } from "zod";
import type { KubeObject } from "../kube/index.ts";
import { recentCauses } from "./block-reasons.ts";
import { ageColumn, defineKind, stalledColumn } from "./define-kind.ts";
import { failureReasonNames } from "./failure-reasons.ts";
import {
  conditions,
  count,
  durationText,
  engine,
  executionRef,
  incidentRef,
  name,
  parameters,
  targetText,
  text,
  timestamp,
  uid,
  usedApproval,
  version,
  type Wire,
  workflowId,
} from "./fields.ts";
import { immutable, onlyTransitions, type Transitions } from "./schema/rules.ts";

/** One run of one workflow on one target. */
export interface WorkflowExecution extends KubeObject {
  readonly spec: WorkflowExecutionSpec;
  /** Absent until the controller has seen the execution. */
  readonly status?: WorkflowExecutionStatus;
}

export type WorkflowExecutionSpec = Wire<typeof spec>;
export type WorkflowExecutionStatus = Wire<typeof status>;
export type WorkflowRef = Wire<typeof workflowRef>;
export type FailureDetails = Wire<typeof failureDetails>;
export type Cancellation = Wire<typeof cancellation>;
export type SkipDetails = Wire<typeof skipDetails>;
export type ConflictingWorkflow = Wire<typeof conflictingWorkflow>;
export type RecentRemediation = Wire<typeof recentRemediation>;
export type RunRef = Wire<typeof pipelineRunRef>;
export type RunStatus = Wire<typeof pipelineRunStatus>;
export type Workload = Wire<typeof workload>;
export type ExecutionPhase = WorkflowExecutionStatus["phase"];

/** A new execution has no phase; the controller makes it Pending. The API server refuses every other step. */
export const executionTransitions = {
  Pending: ["Running", "Failed", "Skipped"],
  Running: ["Completed", "Failed"],
  Completed: [],
  Failed: [],
  Skipped: [],
} as const satisfies Transitions;

/** More than any workflow has steps. */
export const maxImageDigests = 50;

const workflowRef = z.strictObject({
  workflowId: workflowId.describe("Id of the workflow in the catalog."),
  version: version.describe("Version of the workflow.").optional(),
  containerImage: text.describe("OCI bundle or image that holds the workflow. It must be the one in the catalog."),
  engine: engine
    .describe("What runs it: Tekton, a Kubernetes Job, or local processes. Must be that of the catalog if given.")
    .optional(),
  serviceAccountName: name.describe("Service account of the run. Must be that of the catalog if given.").optional(),
});

const spec = z
  .strictObject({
    workflowRef: workflowRef.describe("The workflow to run, as it was when the execution was created."),
    targetResource: targetText.describe(
      "What is acted on: namespace/kind/name, or kind/name for kinds without namespace. At most one execution runs per target.",
    ),
    parameters: parameters.describe("Values for the workflow's parameters.").optional(),
    remediationRequestRef: incidentRef
      .describe("The incident for which this was started; absent if a person started it.")
      .optional(),
  })
  .meta({
    description: "What to run, and on what. It never changes.",
    "x-kubernetes-validations": [immutable("an execution does not change: create a new one")],
  });

const pipelineRunRef = z.strictObject({
  name: name.describe("Name of the run."),
  namespace: name.describe("Its namespace."),
  uid: uid.describe("Its uid. A run with this name and another uid is not ours."),
  kind: z.enum(["PipelineRun", "Job"]).describe("What the engine calls it."),
});

const pipelineRunStatus = z.strictObject({
  status: z.enum(["True", "False", "Unknown"]).describe("Whether the run succeeded; Unknown while it goes on."),
  reason: z.string().describe("The engine's word for it.").optional(),
  message: z.string().describe("The engine's sentence about it.").optional(),
  completedTasks: count.describe("Tasks that have ended.").optional(),
  totalTasks: count.describe("Tasks in all.").optional(),
});

const workload = z.strictObject({
  engine: engine.describe("The engine that runs it."),
  image: text.describe("OCI bundle, image or folder that is run."),
  imageDigests: z
    .array(text)
    .max(maxImageDigests)
    .describe("Digests of everything that was pulled for it, as the cluster reports them; known after it began.")
    .optional(),
  serviceAccountName: name.describe("Service account of the run; that of the namespace if absent.").optional(),
});

const cancellation = z.strictObject({
  by: text.describe("Who requested it."),
  verified: z.boolean().describe("True if that identity was authenticated rather than claimed."),
  reason: text.describe("Why."),
  blocks: z.boolean().describe("True if the workflow stays blocked on the target until a person acknowledges."),
});

const failureDetails = z.strictObject({
  reason: z.enum(failureReasonNames).describe("Why it failed, in one word."),
  message: text.describe("Why it failed, as the engine put it."),
  failedTaskName: z.string().describe("The task of the pipeline that failed.").optional(),
  failedStepName: z.string().describe("The step of that task that failed.").optional(),
  exitCode: z.int().meta({ format: "int32" }).describe("Exit code of that step.").optional(),
  failedAt: timestamp.describe("When it failed."),
  executionTimeBeforeFailure: durationText.describe("How long it had run.").optional(),
  naturalLanguageSummary: text.describe(
    "What ran, on what, what failed, whether anything may have changed, and what to do.",
  ),
  wasExecutionFailure: z
    .boolean()
    .describe(
      "True if anything had started. The same workflow then stays blocked on this target until a person acknowledges.",
    ),
  requiresManualReview: z.boolean().describe("True if a person has to look."),
  cancellation: cancellation.describe("For an execution that an operator cancelled: who, and why.").optional(),
});

const conflictingWorkflow = z.strictObject({
  ...executionRef.shape,
  workflowId: workflowId.describe("The workflow it runs."),
  targetResource: targetText.describe("The target it holds, in canonical form."),
  startedAt: timestamp.describe("Since when it holds the target."),
});

const recentRemediation = z.strictObject({
  ...executionRef.shape,
  workflowId: workflowId.describe("The workflow it ran."),
  targetResource: targetText.describe("The target it acted on, in canonical form."),
  completedAt: timestamp.describe("When it ended."),
  outcome: z.enum(["Success", "Failed"]).describe("How it ended."),
  cooldownRemaining: durationText.describe("How long the same workflow has to wait, from then on.").optional(),
});

const skipped = {
  message: text.describe("Why, for people, and what can be done."),
  skippedAt: timestamp.describe("When it was decided."),
};
const blockedBy = recentRemediation.describe("The earlier execution that stands in the way.").optional();

const skipDetails = z.discriminatedUnion("reason", [
  z.strictObject({
    reason: z.literal("ResourceBusy").describe("Which check said no."),
    ...skipped,
    conflictingWorkflow: conflictingWorkflow.describe("The execution that holds the target."),
  }),
  z.strictObject({
    reason: z.literal("RecentlyRemediated"),
    ...skipped,
    cause: z.enum(recentCauses).describe("Why it is too early: after failures before acting, or after a success."),
    cooldownRemaining: durationText.describe("How long to wait, from skippedAt on."),
    recentRemediation: blockedBy,
  }),
  z.strictObject({
    reason: z.enum(["PreviousExecutionFailed", "ExhaustedRetries"]),
    ...skipped,
    recentRemediation: blockedBy,
  }),
  z.strictObject({ reason: z.literal("Paused"), ...skipped }),
  z.strictObject({ reason: z.literal("ObserveOnly"), ...skipped }),
]);

const pipelineRun = pipelineRunRef.describe("The run that carries it out.");
const startTime = timestamp.describe("When the run was started.");
const completionTime = timestamp.describe("When it ended.");
const duration = durationText.describe("From start to end, such as 2m30s.");
const history = {
  consecutiveFailures: count
    .describe("Failures in a row before acting, of this workflow on this target, this one included.")
    .optional(),
  nextAllowedExecution: timestamp.describe("Not before then may the workflow be tried again here.").optional(),
};
const admitted = {
  workload: workload.describe("What is run, by what and as whom: read from the run itself.").optional(),
  approvalRef: usedApproval.describe("The approval that it used.").optional(),
};
const common = { conditions: conditions.describe("Steps on the way, for tools that wait for them.").optional() };

const status = z
  .discriminatedUnion("phase", [
    z.strictObject({ phase: z.literal("Pending").describe("How far the execution has come."), ...common }),
    z.strictObject({
      phase: z.literal("Running"),
      startTime,
      pipelineRunRef: pipelineRun,
      pipelineRunStatus: pipelineRunStatus.describe("What the engine says about the run.").optional(),
      ...admitted,
      ...common,
    }),
    z.strictObject({
      phase: z.literal("Completed"),
      startTime,
      completionTime,
      duration,
      outcome: z.literal("Success").describe("How it ended."),
      pipelineRunRef: pipelineRun,
      pipelineRunStatus: pipelineRunStatus.optional(),
      ...history,
      ...admitted,
      ...common,
    }),
    z.strictObject({
      phase: z.literal("Failed"),
      startTime: startTime.optional(),
      completionTime,
      duration: duration.optional(),
      outcome: z.literal("Failed"),
      pipelineRunRef: pipelineRun.optional(),
      pipelineRunStatus: pipelineRunStatus.optional(),
      failureDetails: failureDetails.describe("Why it failed."),
      ...history,
      ...admitted,
      ...common,
    }),
    z.strictObject({
      phase: z.literal("Skipped"),
      skipDetails: skipDetails.describe("Why nothing was run."),
      ...common,
    }),
  ])
  .meta({
    description: "How far it has come. Absent until the controller has seen it.",
    "x-kubernetes-validations": [onlyTransitions(executionTransitions)],
  });

export const workflowExecutions = defineKind<WorkflowExecution>({
  kind: "WorkflowExecution",
  shortName: "wfe",
  description: "WorkflowExecution is one run of one workflow on one target.",
  spec,
  status,
  selectable: ["spec.targetResource"],
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Target", type: "string", jsonPath: ".spec.targetResource" },
    { name: "Workflow", type: "string", jsonPath: ".spec.workflowRef.workflowId" },
    { name: "Skipped", type: "string", jsonPath: ".status.skipDetails.reason", description: "Why nothing was run" },
    { name: "Failure", type: "string", jsonPath: ".status.failureDetails.reason", description: "Why it failed" },
    { name: "Duration", type: "string", jsonPath: ".status.duration" },
    { name: "Run", type: "string", jsonPath: ".status.pipelineRunRef.name", priority: 1 },
    { name: "Incident", type: "string", jsonPath: ".spec.remediationRequestRef.name", priority: 1 },
    { name: "Review", type: "boolean", jsonPath: ".status.failureDetails.requiresManualReview", priority: 1 },
    stalledColumn,
    ageColumn,
  ],
});
