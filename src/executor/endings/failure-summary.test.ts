import { describe, expect, it } from "vitest";
import type { WorkflowExecution } from "../../resources/index.ts";
import { summarise } from "./failure-summary.ts";

const execution = {
  metadata: { name: "restart-1" },
  spec: { workflowRef: { workflowId: "restart" }, targetResource: "web/deployment/shop" },
} as unknown as WorkflowExecution;

describe("the summary of a failure", () => {
  it("names the command that prints the output of a run that had begun to act", () => {
    const text = summarise({
      execution,
      failure: {
        reason: "TaskRunFailed",
        message: "exited",
        anythingStarted: true,
        failedTaskName: "act",
        exitCode: 1,
      },
      reason: "TaskRunFailed",
      wasExecutionFailure: true,
      durationMs: 1_000,
    });

    expect(text).toContain("Task act failed with exit code 1. The engine reported: exited.");
    expect(text).toContain("Read its output (interlock logs restart-1), look at the target, then acknowledge");
  });
});
