import { describe, expect, it } from "vitest";
import type { PipelineSpec, PipelineTask } from "../../../src/engines/local/pipeline/spec.ts";
import { toRunSnapshot } from "../../../src/engines/local/runner/read-run.ts";
import { decide } from "../../../src/engines/local/schedule/decide.ts";
import type { Attempt, StepRecord } from "../../../src/engines/local/schedule/run-snapshot.ts";
import { pipelineRunStatus } from "../../../src/engines/local/status/pipeline-run-status.ts";
import { toTaskRun } from "../../../src/engines/local/status/task-run.ts";
import {
  type PipelineRun,
  type StepState,
  succeededCondition,
  type TaskAttempt,
  type TaskRun,
} from "../../../src/engines/tekton/pipeline-run.ts";
import { recorded } from "../recorded-runs.ts";

/** What Tekton has and a process has not, and what we add. */
const notOurs = ["podName", "imageID", "artifacts", "annotations", "taskSpec"];

/** Runs that could have happened on this machine as well. */
const scenarios = [
  "success",
  "failure",
  "running",
  "cancelled",
  "timeout",
  "timeout-tasks",
  "retry-success",
  "multi-success",
  "multi-first-fails",
  "cancelled-run-finally",
  "stopped-run-finally",
];

describe("a local run has the status that Tekton recorded for the same pipeline:", () => {
  it.each(scenarios)("%s", (name) => {
    const { run, taskRuns } = recorded<Recording>("tekton", name);
    const ours = replayed(run, taskRuns);

    expect(runFacts(ours.run)).toEqual(runFacts(run));
    expect(ours.taskRuns.map(taskFacts)).toEqual(inOrder(run, taskRuns).map(taskFacts));
  });

  it.each(scenarios)("%s, in the same fields", (name) => {
    const { run, taskRuns } = recorded<Recording>("tekton", name);
    const ours = replayed(run, taskRuns);

    expect(fieldsOf(ours.run.status)).toEqual(fieldsOf(run.status));
    for (const [index, theirs] of inOrder(run, taskRuns).entries()) {
      expect(fieldsOf(ours.taskRuns[index]?.status)).toEqual(fieldsOf(theirs.status));
      expect(Object.keys(ours.taskRuns[index]?.metadata.labels ?? {})).toEqual(
        expect.arrayContaining(tektonLabels(theirs)),
      );
    }
  });
});

interface Recording {
  readonly run: PipelineRun;
  readonly taskRuns: readonly TaskRun[];
}

/** The run as we would have reported it, had our steps begun and ended as Tekton's did. */
function replayed(run: PipelineRun, taskRuns: readonly TaskRun[]): Recording {
  const pipelineSpec = withSteps(run, taskRuns);
  const attempts = new Map(taskRuns.map((task) => [taskOf(task), attemptsOf(task)]));
  const ours = { ...run, spec: { ...run.spec, pipelineSpec } };
  const snapshot = toRunSnapshot(ours, attempts, timeOf(run.status?.completionTime ?? run.status?.startTime));
  const decision = decide(snapshot);
  const written = inOrder(run, taskRuns).map((theirs) => {
    const task = [...pipelineSpec.tasks, ...(pipelineSpec.finally ?? [])].find(
      ({ name }) => name === taskOf(theirs),
    ) as PipelineTask;
    const isFinally = pipelineSpec.finally?.includes(task) ?? false;
    const view = decision.tasks.get(task.name) ?? { kind: "waiting" as const };
    return toTaskRun({
      run: ours,
      task,
      isFinally,
      attempts: attempts.get(task.name) ?? [],
      view,
      params: snapshot.params,
    });
  });
  return { run: { ...ours, status: pipelineRunStatus(ours, snapshot, decision, "here") }, taskRuns: written };
}

/** The recording leaves task specs out: one step for each that a TaskRun reports. */
function withSteps(run: PipelineRun, taskRuns: readonly TaskRun[]): PipelineSpec {
  const spec = run.spec.pipelineSpec as unknown as PipelineSpec;
  const complete = (task: PipelineTask): PipelineTask => {
    const steps = taskRuns.find((other) => taskOf(other) === task.name)?.status?.steps?.map(({ name }) => ({ name }));
    return { ...task, taskSpec: { steps: steps ?? [{ name: "step" }] } };
  };
  return { ...spec, tasks: spec.tasks.map(complete), ...(spec.finally && { finally: spec.finally.map(complete) }) };
}

function attemptsOf({ status }: TaskRun): readonly Attempt[] {
  const all = [...(status?.retriesStatus ?? []), ...(status ? [status] : [])];
  return all.map((attempt) => attemptOf(attempt));
}

function attemptOf(attempt: TaskAttempt): Attempt {
  const { reason, message = "" } = succeededCondition(attempt) ?? {};
  const isStopped = reason === "TaskRunCancelled";
  const startedAt = timeOf(attempt.startTime);
  const at = timeOf(attempt.completionTime ?? attempt.startTime);
  const begun = (attempt.steps ?? []).filter(({ terminationReason }) => terminationReason !== "Skipped");
  // When Tekton stops a task, it reports every step as ended then. Only the first can have begun.
  const steps = (isStopped ? begun.slice(0, 1) : begun).map((step) => stepOf(step, isStopped));
  const results = (attempt as { results?: { name: string; value: string }[] }).results ?? [];
  return {
    startedAt,
    ...(isStopped && { stop: { why: message.includes("timed out") ? "run-timeout" : "cancelled", at } as const }),
    steps,
    results: Object.fromEntries(results.map(({ name, value }) => [name, value])),
  };
}

function stepOf({ terminated, running }: StepState, isStopped: boolean): StepRecord {
  if (!terminated) return { startedAt: timeOf(running?.startedAt), pid: 1 };
  const { exitCode, finishedAt, startedAt, message } = terminated;
  const end = {
    how: isStopped ? "killed" : "exited",
    exitCode,
    finishedAt: timeOf(finishedAt),
    ...(message && { message }),
  } as const;
  return { startedAt: timeOf(startedAt), pid: 1, end };
}

function runFacts({ status }: PipelineRun) {
  const { childReferences, skippedTasks } = status ?? {};
  return { condition: verdict(status), childReferences, skippedTasks, results: Reflect.get(status ?? {}, "results") };
}

function taskFacts({ metadata, spec, status }: TaskRun) {
  const states = status?.steps?.map(({ name, container, terminated, terminationReason }) => ({
    ...{ name, container, terminationReason },
    ...{ exitCode: terminated?.exitCode, reason: terminated?.reason },
  }));
  const { ownerReferences, name } = metadata;
  const retries = status?.retriesStatus?.map(verdict);
  return {
    name,
    ownerReferences,
    condition: verdict(status),
    states,
    retries,
    asked: spec.status,
    because: spec.statusMessage,
  };
}

function verdict(status: Parameters<typeof succeededCondition>[0]) {
  const { lastTransitionTime: _, ...condition } = succeededCondition(status) ?? { lastTransitionTime: "" };
  return condition;
}

/** Every field that occurs below `value`, without places in lists. */
function fieldsOf(value: unknown, path = ""): string[] {
  const found = new Set<string>();
  const add = (inner: unknown, where: string) => {
    if (Array.isArray(inner)) for (const item of inner) add(item, where);
    else if (typeof inner === "object" && inner !== null) {
      for (const [name, below] of Object.entries(inner)) {
        if (notOurs.includes(name) || name === "pipelineSpec") continue;
        found.add(`${where}.${name}`);
        add(below, `${where}.${name}`);
      }
    }
  };
  add(value, path);
  // A stopped process has a known id, and no pod that ended with it and could report a message.
  const exceptions = [".steps.terminated.containerID", ".steps.terminated.message"];
  return [...found].filter((field) => !exceptions.includes(field)).sort();
}

function inOrder({ status }: PipelineRun, taskRuns: readonly TaskRun[]): TaskRun[] {
  const names = status?.childReferences?.map(({ name }) => name) ?? [];
  return [...taskRuns].sort((a, b) => names.indexOf(a.metadata.name ?? "") - names.indexOf(b.metadata.name ?? ""));
}

function tektonLabels({ metadata: { labels = {} } }: TaskRun): string[] {
  return Object.keys(labels).filter((label) => label.startsWith("tekton.dev/"));
}

function taskOf({ metadata: { labels = {} } }: TaskRun): string {
  return labels["tekton.dev/pipelineTask"] ?? "";
}

function timeOf(text: string | undefined): number {
  return Date.parse(text ?? "");
}
