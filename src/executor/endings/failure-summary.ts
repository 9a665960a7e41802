import type { RunFailure } from "../../engines/index.ts";
import {
  type Cancellation,
  describeCancellation,
  type FailureReason,
  failureReasons,
  type WorkflowExecution,
} from "../../resources/index.ts";
import { formatDuration } from "../../time/index.ts";

interface SummaryInput {
  readonly execution: WorkflowExecution;
  readonly failure: RunFailure;
  readonly reason: FailureReason;
  readonly wasExecutionFailure: boolean;
  readonly durationMs: number | undefined;
  readonly cancellation?: Cancellation | undefined;
}

/** Summarises a failure in sentences: workflow, target, failed step, possible changes, and next step. */
export function summarise(input: SummaryInput): string {
  const { execution, failure, reason, wasExecutionFailure, durationMs, cancellation } = input;
  const { workflowRef, targetResource } = execution.spec;
  const after = durationMs === undefined ? "" : ` after ${formatDuration(durationMs)}`;
  if (cancellation) return summariseCancellation(input, cancellation, after);
  return [
    `Workflow ${workflowRef.workflowId} failed on ${targetResource}${after}: ${failureReasons[reason].meaning} (${reason}).`,
    where(failure),
    `${reason === "ValidationError" ? "" : "The engine reported: "}${failure.message.replace(/[^.!?]$/, "$&.")}`,
    wasExecutionFailure
      ? "It had begun to act, so the target may have been changed in part."
      : "Nothing had been started, so the target is unchanged.",
    wasExecutionFailure
      ? `Read its output (interlock logs ${execution.metadata.name}), look at the target, then acknowledge: interlock ack ${execution.metadata.name} --reason "…". Until then this workflow is blocked here.`
      : `${advice[reason] ?? "Remove the cause"}; it may be tried again after a short wait.`,
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

function summariseCancellation(
  { execution, failure }: SummaryInput,
  cancellation: Cancellation,
  after: string,
): string {
  const { workflowRef, targetResource } = execution.spec;
  return [
    `${describeCancellation(cancellation)}.`,
    `Workflow ${workflowRef.workflowId} on ${targetResource} was stopped${after}.`,
    failure.anythingStarted
      ? "It had begun to act, so the target may have been changed in part."
      : "Nothing had been started, so the target is unchanged.",
    cancellation.blocks
      ? `This workflow is blocked here until: interlock ack ${execution.metadata.name} --reason "…".`
      : "It may be run again at once.",
  ].join(" ");
}

function where({ failedTaskName, failedStepName, exitCode }: RunFailure): string {
  if (failedTaskName === undefined) return "";
  const step = failedStepName === undefined ? "" : `, step ${failedStepName}`;
  const code = exitCode === undefined ? "" : ` with exit code ${exitCode}`;
  return `Task ${failedTaskName}${step} failed${code}.`;
}

const advice: Partial<Record<FailureReason, string>> = {
  ValidationError: "Correct what is named and create a new execution",
  PipelineRunCreationFailed: "Correct what the refusal names",
  BundleNotFound: "Push the bundle, or correct containerImage",
  ImagePullFailed: "Check that the image exists and that the cluster may pull it",
  ServiceAccountMissing: "Create the service account, or name another one",
  QuotaExceeded: "Raise the quota, or wait until other runs have ended",
  ConfigurationError: "Correct the workflow's configuration",
};
