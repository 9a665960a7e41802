import { describe, expect, it } from "vitest";
import { type Engine, type RunState, tektonEngine } from "../../src/engines/index.ts";
import { type Pod, pods } from "../../src/engines/pods.ts";
import { type PipelineRun, type TaskRun, taskRuns } from "../../src/engines/tekton/pipeline-run.ts";
import { classifyFailure } from "../../src/resources/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { ManualClock } from "../doubles/manual-clock.ts";
import { type TestCluster, testCluster } from "../doubles/test-cluster.ts";
import { recorded, recordedNames, store } from "./recorded-runs.ts";

interface Recording {
  readonly run: PipelineRun;
  readonly taskRuns: readonly TaskRun[];
  readonly pods: readonly Pod[];
}

const states = {
  "bundle-missing-entry": "failed -/-",
  "bundle-missing-image": "failed -/-",
  "bundle-registry-down": "failed -/-",
  "bundle-success": "succeeded 1/1",
  cancelled: "failed -/1",
  "cancelled-run-finally": "failed -/3",
  "config-error": "failed 1/1",
  evicted: "failed 1/1",
  failure: "failed 1/1",
  "image-pull-backoff": "failed 1/1",
  "missing-param": "failed -/3",
  "missing-pipeline": "failed -/-",
  "missing-serviceaccount": "failed 1/1",
  "multi-first-fails": "failed 2/3",
  "multi-success": "succeeded 3/3",
  "oom-killed": "failed 1/1",
  pending: "running 0/1",
  "pipelinerun-pending": "suspended",
  "retry-success": "succeeded 1/1",
  running: "running 0/1",
  "stopped-run-finally": "failed -/3",
  success: "succeeded 1/1",
  timeout: "failed -/1",
  "timeout-tasks": "failed 1/1",
  unschedulable: "running 0/1",
} as const;

/** task, step and exit code; then whether anything may have changed. */
const failures = {
  "bundle-missing-entry": ["BundleNotFound", "- - -", false],
  "bundle-missing-image": ["BundleNotFound", "- - -", false],
  "bundle-registry-down": ["BundleNotFound", "- - -", false],
  cancelled: ["Cancelled", "remediate run -", true],
  "cancelled-run-finally": ["Cancelled", "first prepare -", true],
  "config-error": ["ConfigurationError", "remediate run -", false],
  evicted: ["Evicted", "remediate run 137", true],
  failure: ["TaskRunFailed", "remediate run 3", true],
  "image-pull-backoff": ["ImagePullFailed", "remediate run -", false],
  "missing-param": ["ConfigurationError", "- - -", false],
  "missing-pipeline": ["BundleNotFound", "- - -", false],
  "missing-serviceaccount": ["ServiceAccountMissing", "remediate - -", false],
  "multi-first-fails": ["TaskRunFailed", "first prepare 2", true],
  "oom-killed": ["OOMKilled", "remediate run 137", true],
  "stopped-run-finally": ["Cancelled", "- - -", true],
  timeout: ["Timeout", "remediate run -", true],
  "timeout-tasks": ["Timeout", "remediate run -", true],
} as const;

/** The same without a look at any TaskRun: a task had been made, so it may have begun. */
const failuresFromRunAlone = {
  ...failures,
  cancelled: ["Cancelled", "- - -", true],
  "cancelled-run-finally": ["Cancelled", "- - -", true],
  "config-error": ["TaskRunFailed", "- - -", true],
  evicted: ["TaskRunFailed", "- - -", true],
  failure: ["TaskRunFailed", "- - -", true],
  "image-pull-backoff": ["TaskRunFailed", "- - -", true],
  "missing-serviceaccount": ["TaskRunFailed", "- - -", true],
  "multi-first-fails": ["TaskRunFailed", "- - -", true],
  "oom-killed": ["TaskRunFailed", "- - -", true],
  timeout: ["Timeout", "- - -", true],
  "timeout-tasks": ["TaskRunFailed", "- - -", true],
} as const;

describe("the recorded statuses of Tekton", () => {
  it("are all in the tables", () => {
    const failed = Object.entries(states).flatMap(([name, state]) => (state.startsWith("failed") ? [name] : []));

    expect(Object.keys(states)).toEqual(recordedNames("tekton"));
    expect(Object.keys(failures)).toEqual(failed);
  });

  it.each(Object.entries(states))("%s is %s", (name, expected) => {
    const { run } = recorded<Recording>("tekton", name);

    expect(stateText(engineOn(newCluster()).stateOf(run))).toBe(expected);
  });

  it.each(Object.entries(failures))("%s failed because of %s", async (name, expected) => {
    const cluster = newCluster();
    await storeAll(cluster, recorded<Recording>("tekton", name));

    expect(await failureText(engineOn(cluster), name)).toEqual(expected);
  });

  it.each(Object.entries(failuresFromRunAlone))("%s without its TaskRuns is %s", async (name, expected) => {
    const cluster = newCluster();

    expect(await failureText(engineOn(cluster), name)).toEqual(expected);
  });

  it.each(Object.entries(failuresFromRunAlone))(
    "%s with TaskRuns that must not be read is %s",
    async (name, expected) => {
      const cluster = newCluster();
      await storeAll(cluster, recorded<Recording>("tekton", name));
      cluster.forbid("list", "taskruns");

      expect(await failureText(engineOn(cluster), name)).toEqual(expected);
    },
  );

  it("have the message of the task, because that of the run only counts tasks", async () => {
    const cluster = newCluster();
    const recording = recorded<Recording>("tekton", "config-error");
    await storeAll(cluster, recording);

    const { message } = await engineOn(cluster).readFailure(recording.run);

    expect(message).toBe('Failed to create pod due to config error: secret "missing" not found');
  });
});

function newCluster(): TestCluster {
  return testCluster({ clock: new ManualClock(), random: systemRandom(), namespaces: ["kubernaut-workflows"] });
}

function engineOn(cluster: TestCluster): Engine {
  return tektonEngine(cluster.client());
}

async function storeAll(cluster: TestCluster, recording: Recording) {
  await store(cluster.client(), taskRuns, recording.taskRuns);
  await store(cluster.client(), pods, recording.pods);
}

function stateText(state: RunState): string {
  if (state.kind === "suspended") return state.kind;
  const { completedTasks = "-", totalTasks = "-" } = state.progress;
  return `${state.kind} ${completedTasks}/${totalTasks}`;
}

async function failureText(engine: Engine, name: string) {
  const failure = await engine.readFailure(recorded<Recording>("tekton", name).run);
  const { reason, wasExecutionFailure } = classifyFailure(failure.reason, failure);
  const place = [failure.failedTaskName, failure.failedStepName, failure.exitCode].map((part) => part ?? "-").join(" ");
  expect(failure.message).not.toBe("");
  return [reason, place, wasExecutionFailure];
}
