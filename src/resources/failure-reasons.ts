/**
 * Why an execution failed. `before`: nothing had run, so a retry is safe. `during`: something may have changed, if any step had
 * started.
 */
export const failureReasons = {
  ValidationError: { when: "before", meaning: "the execution's spec is not valid" },
  PipelineRunCreationFailed: { when: "before", meaning: "the creation of the run was rejected" },
  BundleNotFound: { when: "before", meaning: "the workflow's bundle could not be resolved" },
  ImagePullFailed: { when: "before", meaning: "an image could not be pulled" },
  ServiceAccountMissing: { when: "before", meaning: "the service account does not exist" },
  QuotaExceeded: { when: "before", meaning: "a quota left no room for the run" },
  ConfigurationError: { when: "before", meaning: "the configuration of the run is invalid" },
  TaskRunFailed: { when: "during", meaning: "a task failed" },
  Timeout: { when: "during", meaning: "the run exceeded its timeout" },
  OOMKilled: { when: "during", meaning: "a step exceeded its memory limit" },
  Evicted: { when: "during", meaning: "the node evicted the run's pod" },
  PipelineRunDeleted: { when: "during", meaning: "the run was deleted from outside" },
  Cancelled: { when: "during", meaning: "the run was cancelled" },
  Unknown: { when: "during", meaning: "the engine reported no known reason" },
} as const satisfies Record<string, { readonly when: "before" | "during"; readonly meaning: string }>;

export type FailureReason = keyof typeof failureReasons;

interface FailureClass {
  readonly reason: FailureReason;
  /** True: something may have changed, and only an operator may decide that a retry is safe. */
  readonly wasExecutionFailure: boolean;
}

/** The class of a failure with the evident reason `found`. */
export function classifyFailure(found: FailureReason, { anythingStarted }: { anythingStarted: boolean }): FailureClass {
  // If the second task lacks its image, the first one may have changed something.
  const reason = anythingStarted && failureReasons[found].when === "before" ? "TaskRunFailed" : found;
  return { reason, wasExecutionFailure: anythingStarted };
}

/** All reasons, in the order of the table. */
export const failureReasonNames = Object.keys(failureReasons) as [FailureReason, ...FailureReason[]];
