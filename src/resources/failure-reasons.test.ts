import { describe, expect, it } from "vitest";
import { classifyFailure, type FailureReason } from "./failure-reasons.ts";

const before = [
  "ValidationError",
  "PipelineRunCreationFailed",
  "BundleNotFound",
  "ImagePullFailed",
  "ServiceAccountMissing",
  "QuotaExceeded",
  "ConfigurationError",
] as const satisfies readonly FailureReason[];
const during = [
  "TaskRunFailed",
  "Timeout",
  "OOMKilled",
  "Evicted",
  "PipelineRunDeleted",
  "Cancelled",
  "Unknown",
] as const satisfies readonly FailureReason[];

describe("a failure", () => {
  it.each([...before, ...during])("for %s is safe to retry if no step had started", (reason) => {
    expect(classifyFailure(reason, { anythingStarted: false })).toEqual({ reason, wasExecutionFailure: false });
  });

  it.each(during)("for %s may have changed something if a step had started", (reason) => {
    expect(classifyFailure(reason, { anythingStarted: true })).toEqual({ reason, wasExecutionFailure: true });
  });

  it.each(before)("for %s after a step had started is the failure of a task", (reason) => {
    expect(classifyFailure(reason, { anythingStarted: true })).toEqual({
      reason: "TaskRunFailed",
      wasExecutionFailure: true,
    });
  });
});
