import { describe, expect, it } from "vitest";
import type { PipelineRun, TaskRun } from "../tekton/pipeline-run.ts";
import { pipelineTasks } from "./view-run.ts";

describe("the tasks of a pipeline run", () => {
  it("are a graph by runAfter and results, with those of finally at its end", () => {
    const tasks = pipelineTasks(
      run({
        tasks: [
          { name: "look" },
          { name: "drain", runAfter: ["look"] },
          { name: "clean", params: [{ name: "path", value: "$(tasks.look.results.path)" }] },
        ],
        finally: [{ name: "report" }],
      }),
      [],
    );

    expect(tasks.map(({ name, after }) => [name, after])).toEqual([
      ["look", []],
      ["drain", ["look"]],
      ["clean", ["look"]],
      ["report", ["drain", "clean"]],
    ]);
  });

  it.each<[string, object | undefined, object]>([
    ["has not begun", undefined, { phase: "Pending", steps: [] }],
    ["runs", { startTime: "t1", conditions: [succeeded("Unknown")] }, { phase: "Running", startedAt: "t1" }],
    [
      "succeeded",
      {
        startTime: "t1",
        completionTime: "t2",
        conditions: [succeeded("True")],
        steps: [{ name: "s", terminated: { exitCode: 0 } }],
      },
      { phase: "Succeeded", endedAt: "t2", steps: [{ name: "s", phase: "Succeeded", exitCode: 0 }] },
    ],
    [
      "failed in its second step",
      {
        conditions: [succeeded("False")],
        steps: [
          { name: "a", terminated: { exitCode: 0 } },
          { name: "b", terminated: { exitCode: 3 } },
          { name: "c", waiting: {} },
        ],
      },
      {
        phase: "Failed",
        steps: [
          { name: "a", phase: "Succeeded", exitCode: 0 },
          { name: "b", phase: "Failed", exitCode: 3 },
          { name: "c", phase: "Pending" },
        ],
      },
    ],
  ])("show one that %s", (_name, status, expected) => {
    const [task] = pipelineTasks(run({ tasks: [{ name: "look" }] }), status ? [taskRun("look", status)] : []);

    expect(task).toMatchObject(expected);
  });

  it("show one that was skipped", () => {
    const skipped = run({ tasks: [{ name: "look" }] }, { skippedTasks: [{ name: "look", reason: "when" }] });

    expect(pipelineTasks(skipped, [])).toMatchObject([{ phase: "Skipped" }]);
  });
});

function run(pipelineSpec: object, status: object = {}): PipelineRun {
  return { metadata: { name: "r" }, spec: {}, status: { pipelineSpec, ...status } } as PipelineRun;
}

function taskRun(task: string, status: object): TaskRun {
  return { metadata: { name: task, labels: { "tekton.dev/pipelineTask": task } }, spec: {}, status } as TaskRun;
}

function succeeded(status: string) {
  return { type: "Succeeded", status, lastTransitionTime: "t" };
}
