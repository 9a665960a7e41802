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
  it.each([...before, ...during])("for %s is safe to try again as long as nothing had started", (reason) => {
    expect(classifyFailure(reason, { anythingStarted: false })).toEqual({ reason, wasExecutionFailure: false });
  });

  it.each(during)("for %s may have changed something once anything had started", (reason) => {
    expect(classifyFailure(reason, { anythingStarted: true })).toEqual({ reason, wasExecutionFailure: true });
  });

  it.each(before)("for %s after something had started is the failure of a task, not of the preparations", (reason) => {
    expect(classifyFailure(reason, { anythingStarted: true })).toEqual({
      reason: "TaskRunFailed",
      wasExecutionFailure: true,
    });
  });
});
