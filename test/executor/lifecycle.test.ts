import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { annotationKeys, executionFinalizer, notificationRequests } from "../../src/resources/index.ts";
import { ExecutorWorld } from "./executor-world.ts";

const minute = 60_000;

describe("an execution", () => {
  let world: ExecutorWorld;
  beforeEach(async () => {
    world = await ExecutorWorld.open();
    await world.executor();
  });
  afterEach(() => world.close());

  it("runs, completes, frees its target, cools down, and lets the next one run", async () => {
    await world.execution("first");
    expect(await world.status("first")).toMatchObject({ phase: "Running", pipelineRunRef: { kind: "PipelineRun" } });

    await world.passTime(2_000);
    await world.report("True", { message: "Tasks Completed: 1 (Failed: 0, Cancelled 0), Skipped: 0" });
    expect(await world.status("first")).toMatchObject({ phase: "Completed", outcome: "Success", duration: "2s" });
    expect(await world.record()).not.toHaveProperty("status.holder");

    await world.execution("second");
    expect(await world.status("second")).toMatchObject({
      phase: "Skipped",
      skipDetails: { reason: "RecentlyRemediated", cause: "cooldown", cooldownRemaining: "5m" },
    });

    await world.passTime(5 * minute);
    expect(await world.run()).toBeUndefined();
    await world.execution("third");
    expect(await world.status("third")).toMatchObject({ phase: "Running" });
  });

  it("mirrors the progress of its run", async () => {
    await world.execution("first");

    await world.report("Unknown", {
      message: "Tasks Completed: 1 (Failed: 0, Cancelled 0), Incomplete: 2, Skipped: 0",
    });

    expect(await world.status("first")).toMatchObject({
      phase: "Running",
      pipelineRunStatus: { status: "Unknown", reason: "Running", completedTasks: 1 },
    });
  });

  it("describes the cause of a failure, and the next step", async () => {
    await world.execution("first");
    await world.passTime(150_000);

    await world.report("False", { message: "Tasks Completed: 1 (Failed: 1, Cancelled 0), Skipped: 0" });

    const { failureDetails } = await world.status("first");
    expect(failureDetails).toMatchObject({
      executionTimeBeforeFailure: "2m30s",
      naturalLanguageSummary: expect.stringMatching(
        /^Workflow cleanup failed on node\/worker-1 after 2m30s: .+ The engine reported: .+ Skipped: 0\. Nothing had been started/,
      ),
    });
    expect(failureDetails?.requiresManualReview).toBe(failureDetails?.wasExecutionFailure);
  });

  it("has its finalizer and its target's hash before any other write", async () => {
    await world.execution("first");

    expect((await world.seen("first")).metadata).toMatchObject({
      finalizers: [executionFinalizer],
      labels: { "kubernaut.ai/target-hash": (await world.record()).metadata.name },
    });
  });

  it("is recorded in the ledger, and creates one notice", async () => {
    await world.execution("first");
    await world.report("True");

    expect(world.eventTypes("first")).toEqual([
      "execution.admitted",
      "run.created",
      "execution.started",
      "execution.completed",
      "target.freed",
    ]);
    const { items } = await world.client.list(notificationRequests);
    expect(items.map(({ spec }) => spec)).toMatchObject([
      { eventType: "WorkflowCompleted", severity: "info", context: { execution: "first" } },
    ]);
  });

  it("logs the changes of the lock", async () => {
    await world.execution("first");
    await world.execution("second");
    await world.report("True");

    const fields = { workflowId: "cleanup", targetResource: "node/worker-1" };
    expect(world.log.events).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ event: "lock acquired", fields: expect.objectContaining(fields) }),
        expect.objectContaining({
          event: "resource locked",
          fields: expect.objectContaining({ ...fields, reason: "ResourceBusy" }),
        }),
        expect.objectContaining({ event: "lock released", fields: expect.objectContaining(fields) }),
        expect.objectContaining({
          event: "waiting for cooldown",
          fields: expect.objectContaining({ ...fields, remainingMs: 5 * minute }),
        }),
      ]),
    );
  });

  it("creates a notice about a skip with the text of the design document", async () => {
    await world.execution("workflow-node-disk-001", { workflowRef: cleanup });
    await world.execution("late", { workflowRef: cleanup });

    const { items } = await world.client.list(notificationRequests);
    expect(items.map(({ spec }) => spec)).toEqual([
      {
        eventType: "WorkflowSkipped",
        severity: "info",
        message: "Workflow execution skipped: Another workflow is remediating this resource",
        context: {
          workflowId: "node-disk-cleanup",
          targetResource: "node/worker-1",
          execution: "late",
          skipReason: "ResourceBusy",
          conflictingWorkflow: "workflow-node-disk-001",
        },
      },
    ]);
  });

  it("that failed while acting blocks the next execution until an operator acknowledges it", async () => {
    await world.execution("first");
    await world.report("Unknown");
    await world.deleteRun();
    expect(await world.status("first")).toMatchObject({
      phase: "Failed",
      failureDetails: { reason: "PipelineRunDeleted" },
    });

    await world.passTime(60 * minute);
    await world.execution("second");
    expect(await world.status("second")).toMatchObject({ skipDetails: { reason: "PreviousExecutionFailed" } });

    await world.annotate("first", { [annotationKeys.acknowledge]: "checked", [annotationKeys.acknowledgedBy]: "kim" });
    await world.execution("third");
    expect(await world.status("third")).toMatchObject({ phase: "Running" });
    expect(world.eventTypes("first")).toContain("failure.acknowledged");
  });

  it.each([
    ["a target that cannot be read", { targetResource: "widget/one" }],
    ["an engine that is not set up", { workflowRef: { ...cleanupRef(), engine: "job" as const } }],
  ])("with %s fails before anything is created", async (_what, spec) => {
    await world.execution("first", spec);

    expect(await world.status("first")).toMatchObject({
      phase: "Failed",
      failureDetails: { reason: "ValidationError", wasExecutionFailure: false },
    });
    expect(await world.run()).toBeUndefined();
  });

  it("counts failures before acting, waits longer each time, and stops after five", async () => {
    const broken = { workflowRef: { ...cleanupRef(), engine: "job" as const } };
    const seen: unknown[] = [];
    for (const waitMinutes of [1, 2, 4, 8, 10]) {
      await world.forIncident(`try-${waitMinutes}`, broken);
      const {
        consecutiveFailures,
        nextAllowedExecution = "",
        completionTime = "",
      } = await world.status(`try-${waitMinutes}`);
      seen.push([consecutiveFailures, (Date.parse(nextAllowedExecution) - Date.parse(completionTime)) / minute]);
      await world.passTime(waitMinutes * minute);
    }

    expect(seen).toEqual([
      [1, 1],
      [2, 2],
      [3, 4],
      [4, 8],
      [5, 10],
    ]);
    await world.execution("sixth");
    expect(await world.status("sixth")).toMatchObject({ skipDetails: { reason: "ExhaustedRetries" } });
  });

  it("is counted: phases, skips by reason, and failures in a row of the catalog's workflows", async () => {
    await world.workflow({ workflowId: "broken", containerImage: "x", engine: "job" });
    await world.execution("first");
    await world.execution("second");
    await world.forIncident("third", {
      targetResource: "node/worker-2",
      workflowRef: { workflowId: "broken", containerImage: "x" },
    });

    const text = await world.metrics.text();

    expect(text).toContain('workflowexecution_transitions_total{phase="Pending"} 3');
    expect(text).toContain('workflowexecution_transitions_total{phase="Running"} 1');
    expect(text).toContain('workflowexecution_runs_created_total{engine="tekton"} 1');
    expect(text).toContain('workflowexecution_backoff_skip_total{reason="ResourceBusy"} 1');
    expect(text).toContain('workflowexecution_failures_total{reason="ValidationError"} 1');
    expect(text).toContain('workflowexecution_consecutive_failures{workflow_id="broken"} 1');
  });

  it("is cancelled at its timeout, and fails with Timeout", async () => {
    await world.execution("first");
    await world.report("Unknown");

    await world.passTime(31 * minute);
    expect((await world.run())?.spec.status).toBe("Cancelled");
    await world.report("False");

    expect(await world.status("first")).toMatchObject({ phase: "Failed", failureDetails: { reason: "Timeout" } });
  });
});

const cleanup = { workflowId: "node-disk-cleanup", containerImage: "registry.invalid/cleanup:1" };

function cleanupRef() {
  return { workflowId: "cleanup", containerImage: "registry.invalid/cleanup:1" };
}
