import type { FailureReason } from "../../resources/index.ts";

/** The meaning of each reason in a PipelineRun's condition. `Failed` is missing: then a task has the details. */
export const runReasons: ReadonlyMap<string, FailureReason> = new Map([
  ...all("Cancelled", ["Cancelled", "PipelineRunCancelled"]),
  ...all("Timeout", ["PipelineRunTimeout"]),
  ...all("BundleNotFound", ["CouldntGetPipeline", "CouldntGetTask"]),
  ...all("ConfigurationError", [
    "CELEvaluationFailed",
    "CreateRunFailed",
    "InvalidMatrixParameterTypes",
    "InvalidParamValue",
    "InvalidPipelineResourceBindings",
    "InvalidPipelineResultReference",
    "InvalidTaskResultReference",
    "InvalidTaskRunSpecs",
    "InvalidWorkspaceBindings",
    "ObjectParameterMissKeys",
    "ParamArrayIndexingInvalid",
    "ParameterMissing",
    "ParameterTypeMismatch",
    "PipelineInvalidGraph",
    "PipelineValidationFailed",
    "RequiredWorkspaceMarkedOptional",
    "ResourceVerificationFailed",
  ]),
  ...all("TaskRunFailed", ["CouldntGetPipelineResult"]),
]);

/** The meaning of each reason in a TaskRun's condition. `Failed` and `StepFailed` are missing: then a step has the details. */
export const taskReasons: ReadonlyMap<string, FailureReason> = new Map([
  ...all("Cancelled", ["TaskRunCancelled"]),
  ...all("Timeout", ["TaskRunTimeout"]),
  ...all("BundleNotFound", ["TaskRunResolutionFailed"]),
  ...all("ImagePullFailed", ["TaskRunImagePullFailed", "PullImageFailed"]),
  ...all("QuotaExceeded", ["ExceededResourceQuota"]),
  ...all("Evicted", ["PodEvicted"]),
  ...all("OOMKilled", ["StepOOM", "SidecarOOM", "InitContainerOOM"]),
  ...all("ConfigurationError", [
    "CreateContainerConfigError",
    "InvalidParamValue",
    "PodAdmissionFailed",
    "PodCreationFailed",
    "ResourceVerificationFailed",
    "TaskRunValidationFailed",
    "TaskValidationFailed",
  ]),
]);

function all(meaning: FailureReason, reasons: readonly string[]): [string, FailureReason][] {
  return reasons.map((reason) => [reason, meaning]);
}
