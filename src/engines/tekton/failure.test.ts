import { describe, expect, it } from "vitest";
import type { Pod } from "../pods.ts";
import { pipelineRunFailure } from "./failure.ts";
import type { PipelineRun, StepState, TaskRun } from "./pipeline-run.ts";

const at = "2026-11-15T06:00:00Z";

describe("the reason of a failure", () => {
  it.each(["there is no room on the device", "timeout of the request", "forbidden", "image pull", "quota"])(
    "is not guessed from a sentence such as %j",
    (message) => {
      const tasks = [task({ message, steps: [ended(1, { reason: "Error", message })] })];

      expect(pipelineRunFailure(run(), { taskRuns: tasks }).reason).toBe("TaskRunFailed");
    },
  );

  it.each([
    ["OOMKilled", "StepOOM"],
    ["Evicted", "PodEvicted"],
    ["Timeout", "TaskRunTimeout"],
    ["QuotaExceeded", "ExceededResourceQuota"],
    ["ConfigurationError", "PodAdmissionFailed"],
    ["BundleNotFound", "TaskRunResolutionFailed"],
    ["ConfigurationError", "PodCreationFailed"],
    ["Cancelled", "TaskRunCancelled"],
    ["TaskRunFailed", "StepFailed"],
    ["TaskRunFailed", "SomethingNew"],
  ])("is %s for a task with %s", (expected, reason) => {
    expect(pipelineRunFailure(run(), { taskRuns: [task({ reason })] }).reason).toBe(expected);
  });

  it("is Unknown for an unknown reason of the run if no task failed", () => {
    expect(pipelineRunFailure(run({ reason: "SomethingNew" }), { taskRuns: [] }).reason).toBe("Unknown");
  });

  it("is Timeout for a step that exceeded its own timeout", () => {
    const steps = [ended(1, { terminationReason: "TimeoutExceeded" })];

    expect(pipelineRunFailure(run(), { taskRuns: [task({ steps })] }).reason).toBe("Timeout");
  });

  it("is Evicted for a pod that was preempted", () => {
    const pod: Pod = {
      metadata: { name: "task-pod" },
      status: { phase: "Failed", conditions: [{ type: "DisruptionTarget", status: "True" }] },
    };
    const tasks = [task({ steps: [ended(137)] })];

    expect(pipelineRunFailure(run(), { taskRuns: tasks, pods: [pod] }).reason).toBe("Evicted");
  });
});

describe("the place of a failure", () => {
  it("is the task that failed by itself, not one that was stopped because of it", () => {
    const tasks = [
      task({ name: "stopped", reason: "TaskRunCancelled", at: "2026-11-15T05:00:00Z" }),
      task({ name: "culprit" }),
    ];

    expect(pipelineRunFailure(run({ children: ["stopped", "culprit"] }), { taskRuns: tasks }).failedTaskName).toBe(
      "culprit in the pipeline",
    );
  });

  it("is the first of several tasks that failed", () => {
    const tasks = [task({ name: "cleanup", at: "2026-11-15T07:00:00Z" }), task({ name: "work" })];

    expect(pipelineRunFailure(run({ children: ["work", "cleanup"] }), { taskRuns: tasks }).failedTaskName).toBe(
      "work in the pipeline",
    );
  });

  it("is not a task whose failure is ignored", () => {
    const tasks = [task({ name: "ignored", reason: "FailureIgnored" })];

    expect(pipelineRunFailure(run(), { taskRuns: tasks })).not.toHaveProperty("failedTaskName");
  });

  it("is the step that failed, after one whose failure is ignored", () => {
    const steps = [
      ended(4, { name: "ignored", terminationReason: "Continued" }),
      ended(5, { name: "culprit" }),
      ended(1, { name: "skipped", terminationReason: "Skipped" }),
    ];

    const failure = pipelineRunFailure(run(), { taskRuns: [task({ steps })] });

    expect(failure).toMatchObject({ failedStepName: "culprit", exitCode: 5 });
  });

  it("is the step without an image, though an earlier one already ran", () => {
    const steps: StepState[] = [
      { name: "one", imageID: "a@sha256:1", running: {} },
      { name: "two", waiting: {} },
    ];

    const failure = pipelineRunFailure(run(), { taskRuns: [task({ reason: "TaskRunImagePullFailed", steps })] });

    expect(failure).toMatchObject({ reason: "ImagePullFailed", failedStepName: "two", anythingStarted: true });
  });
});

describe("whether anything started", () => {
  it("is yes for a task of which an earlier attempt began", () => {
    const retried = { ...task({ steps: [{ name: "run", waiting: {} }] }) };
    const status = { ...retried.status, retriesStatus: [{ steps: [ended(1)] }] };

    expect(pipelineRunFailure(run(), { taskRuns: [{ ...retried, status }] }).anythingStarted).toBe(true);
  });

  it("is yes for a TaskRun that was deleted", () => {
    expect(pipelineRunFailure(run({ children: ["gone"] }), { taskRuns: [] }).anythingStarted).toBe(true);
  });

  it("is yes for a TaskRun that the run does not list, because it was created just before the cancellation", () => {
    const cancelled = run({ reason: "Cancelled" });

    expect(pipelineRunFailure(cancelled, { taskRuns: [task({ steps: [ended(1)] })] }).anythingStarted).toBe(true);
  });

  it("is no for a run that was cancelled before it had a task", () => {
    expect(pipelineRunFailure(run({ reason: "Cancelled" }), { taskRuns: [] }).anythingStarted).toBe(false);
  });

  it("is yes for a cancelled run if reading its TaskRuns is forbidden", () => {
    expect(pipelineRunFailure(run({ reason: "Cancelled" }), {}).anythingStarted).toBe(true);
  });

  it("is yes for a pod that was cancelled before its steps were reported, no for one that was never scheduled", () => {
    const cancelled = task({ reason: "TaskRunCancelled", steps: [] });
    const statusMessage = "TaskRun cancelled as the PipelineRun it belongs to has timed out.";
    const timedOut = { ...cancelled, spec: { statusMessage } };

    expect(pipelineRunFailure(run(), { taskRuns: [cancelled] }).anythingStarted).toBe(true);
    expect(pipelineRunFailure(run(), { taskRuns: [timedOut] }).anythingStarted).toBe(false);
  });
});

it("a cancelled run names the pods that have not ended yet", () => {
  const pods: Pod[] = [
    { metadata: { name: "ending", deletionTimestamp: at }, status: { phase: "Running" } },
    { metadata: { name: "ended" }, status: { phase: "Failed" } },
  ];

  expect(pipelineRunFailure(run({ reason: "Cancelled" }), { taskRuns: [], pods }).unfinished).toEqual(["ending"]);
});

function run({ reason = "Failed", children = [] as readonly string[] } = {}): PipelineRun {
  return {
    metadata: { name: "run", uid: "u" },
    spec: {},
    status: {
      conditions: [{ type: "Succeeded", status: "False", reason, message: "the run's words", lastTransitionTime: at }],
      childReferences: children.map((name) => ({ kind: "TaskRun", name, pipelineTaskName: `${name} in the pipeline` })),
    },
  };
}

interface TaskOptions {
  readonly name?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly at?: string;
  readonly steps?: readonly StepState[];
}

function task({ name = "task", reason = "Failed", message = "", at: time = at, steps = [] }: TaskOptions): TaskRun {
  return {
    metadata: { name },
    spec: {},
    status: {
      podName: `${name}-pod`,
      completionTime: time,
      conditions: [{ type: "Succeeded", status: "False", reason, message, lastTransitionTime: time }],
      steps,
    },
  };
}

interface EndOptions {
  readonly name?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly terminationReason?: string;
}

function ended(exitCode: number, { name = "run", terminationReason, ...how }: EndOptions = {}): StepState {
  return {
    name,
    imageID: "image@sha256:1",
    ...(terminationReason && { terminationReason }),
    terminated: { containerID: "containerd://1", exitCode, ...how },
  };
}
