import type { FailureReason } from "../../resources/index.ts";

/** What a reason of a PipelineRun's condition means to us. `Failed` is not here: then a task knows more. */
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

/** What a reason of a TaskRun's condition means to us. `Failed` and `StepFailed` are not here: then a step knows more. */
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
