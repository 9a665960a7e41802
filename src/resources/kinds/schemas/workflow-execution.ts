import { z } from "zod";
import { recentCauses } from "../../block-reasons.ts";
import { failureReasonNames } from "../../failure-reasons.ts";
import { immutable, onlyTransitions } from "../../schema/rules.ts";
import { executionTransitions, maxImageDigests } from "../phases-and-limits.ts";
import { defineSchema } from "./define-schema.ts";
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
  workflowId,
} from "./fields.ts";

export const workflowRef = z.strictObject({
  workflowId: workflowId.describe("Id of the workflow in the catalog."),
  version: version.describe("Version of the workflow.").optional(),
  containerImage: text.describe("OCI bundle or image of the workflow. Must equal the catalog's."),
  engine: engine
    .describe("The engine: Tekton, a Kubernetes Job, or local processes. Must equal the catalog's if given.")
    .optional(),
  serviceAccountName: name.describe("Service account of the run. Must equal the catalog's if given.").optional(),
});

export const spec = z
  .strictObject({
    workflowRef: workflowRef.describe("The workflow to run, as it was when the execution was created."),
    targetResource: targetText.describe(
      "The target: namespace/kind/name, or kind/name for kinds without namespace. At most one execution runs per target.",
    ),
    parameters: parameters.describe("Values for the workflow's parameters.").optional(),
    remediationRequestRef: incidentRef
      .describe("The incident of the execution; absent if an operator started it.")
      .optional(),
  })
  .meta({
    description: "The workflow, its target and its parameters. Immutable.",
    "x-kubernetes-validations": [immutable("an execution does not change: create a new one")],
  });

export const pipelineRunRef = z.strictObject({
  name: name.describe("Name of the run."),
  namespace: name.describe("Its namespace."),
  uid: uid.describe("Its uid. A run with the same name and another uid belongs to another owner."),
  kind: z.enum(["PipelineRun", "Job"]).describe("Kind of the run, as the engine names it."),
});

export const pipelineRunStatus = z.strictObject({
  status: z.enum(["True", "False", "Unknown"]).describe("Whether the run succeeded; Unknown while it is running."),
  reason: z.string().describe("Reason reported by the engine.").optional(),
  message: z.string().describe("Message reported by the engine.").optional(),
  completedTasks: count.describe("Number of ended tasks.").optional(),
  totalTasks: count.describe("Total number of tasks.").optional(),
});

export const workload = z.strictObject({
  engine: engine.describe("The engine of the run."),
  image: text.describe("OCI bundle, image or folder of the workflow."),
  imageDigests: z
    .array(text)
    .max(maxImageDigests)
    .describe("Digests of everything that was pulled, as reported by the cluster; known once the run started.")
    .optional(),
  serviceAccountName: name.describe("Service account of the run; that of the namespace if absent.").optional(),
});

export const cancellation = z.strictObject({
  by: text.describe("The operator who requested the cancellation."),
  verified: z.boolean().describe("True if that identity was authenticated rather than claimed."),
  reason: text.describe("Why."),
  blocks: z.boolean().describe("True if the workflow is blocked on the target until an operator acknowledges."),
});

export const failureDetails = z.strictObject({
  reason: z.enum(failureReasonNames).describe("Reason of the failure, in one word."),
  message: text.describe("Error reported by the engine."),
  failedTaskName: z.string().describe("The task of the pipeline that failed.").optional(),
  failedStepName: z.string().describe("The step of that task that failed.").optional(),
  exitCode: z.int().meta({ format: "int32" }).describe("Exit code of that step.").optional(),
  failedAt: timestamp.describe("When the execution failed."),
  executionTimeBeforeFailure: durationText.describe("Duration of the run.").optional(),
  naturalLanguageSummary: text.describe("Summary: workflow, target, failure, possible changes, and next steps."),
  wasExecutionFailure: z
    .boolean()
    .describe(
      "True if any step had started. The same workflow is then blocked on this target until an operator acknowledges.",
    ),
  requiresManualReview: z.boolean().describe("True if an operator must investigate."),
  cancellation: cancellation.describe("The cancellation by an operator, if any.").optional(),
});

const conflictingWorkflow = z.strictObject({
  ...executionRef.shape,
  workflowId: workflowId.describe("The workflow of that execution."),
  targetResource: targetText.describe("Its target, in canonical form."),
  startedAt: timestamp.describe("When it was granted the target."),
});

const recentRemediation = z.strictObject({
  ...executionRef.shape,
  workflowId: workflowId.describe("The workflow of that execution."),
  targetResource: targetText.describe("Its target, in canonical form."),
  completedAt: timestamp.describe("When the execution ended."),
  outcome: z.enum(["Success", "Failed"]).describe("Outcome of the execution."),
  cooldownRemaining: durationText.describe("Cooldown of the same workflow, from that time.").optional(),
});

const skipped = {
  message: text.describe("Reason and remedy, for display."),
  skippedAt: timestamp.describe("When the skip was decided."),
};

const blockedBy = recentRemediation.describe("The earlier execution that blocks this one.").optional();

export const skipDetails = z.discriminatedUnion("reason", [
  z.strictObject({
    reason: z.literal("ResourceBusy").describe("The check that blocks."),
    ...skipped,
    conflictingWorkflow: conflictingWorkflow.describe("The execution that holds the target."),
  }),
  z.strictObject({
    reason: z.literal("RecentlyRemediated"),
    ...skipped,
    cause: z.enum(recentCauses).describe("Whether the wait follows failures before acting, or a success."),
    cooldownRemaining: durationText.describe("Remaining wait, from skippedAt."),
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

const pipelineRun = pipelineRunRef.describe("The run of the execution.");

const startTime = timestamp.describe("When the run started.");

const completionTime = timestamp.describe("When the execution ended.");

const duration = durationText.describe("Duration from start to end, such as 2m30s.");

const history = {
  consecutiveFailures: count
    .describe("Consecutive failures before acting, of this workflow on this target, including this one.")
    .optional(),
  nextAllowedExecution: timestamp
    .describe("Earliest time of the next attempt of the workflow on this target.")
    .optional(),
};

const admitted = {
  workload: workload.describe("Engine, workflow and identity of the run, read from the run itself.").optional(),
  approvalRef: usedApproval.describe("The approval used.").optional(),
};

const common = { conditions: conditions.describe("Conditions, for tools that wait for them.").optional() };

export const status = z
  .discriminatedUnion("phase", [
    z.strictObject({ phase: z.literal("Pending").describe("Phase of the execution."), ...common }),
    z.strictObject({
      phase: z.literal("Running"),
      startTime,
      pipelineRunRef: pipelineRun,
      pipelineRunStatus: pipelineRunStatus.describe("State of the run, reported by the engine.").optional(),
      ...admitted,
      ...common,
    }),
    z.strictObject({
      phase: z.literal("Completed"),
      startTime,
      completionTime,
      duration,
      outcome: z.literal("Success").describe("Outcome of the execution."),
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
      failureDetails: failureDetails.describe("Why the execution failed."),
      ...history,
      ...admitted,
      ...common,
    }),
    z.strictObject({
      phase: z.literal("Skipped"),
      skipDetails: skipDetails.describe("Why no run was started."),
      ...common,
    }),
  ])
  .meta({
    description: "State of the execution. Absent until the controller has observed it.",
    "x-kubernetes-validations": [onlyTransitions(executionTransitions)],
  });

export const workflowExecutionSchema = defineSchema({
  kind: "WorkflowExecution",
  description: "WorkflowExecution is one run of one workflow on one target.",
  spec,
  status,
});
