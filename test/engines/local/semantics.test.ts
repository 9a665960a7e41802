import { describe, expect, it } from "vitest";
import type { RunOrder } from "../../../src/engines/index.ts";
import {
  type PipelineRun,
  pipelineRuns,
  succeededCondition,
  type TaskRun,
} from "../../../src/engines/tekton/pipeline-run.ts";
import { runOrder } from "../run-order.ts";
import { isRunning, LocalStage, pipeline, refOf, script } from "./local-stage.ts";

describe("a pipeline", () => {
  it("runs tasks in order, passes their results, and runs finally last", async () => {
    await using stage = new LocalStage();
    const run = await runOnce(
      stage,
      pipeline(`
  params: [{name: who, type: string}]
  results: [{name: greeting, value: "$(tasks.greet.results.text)"}]
  tasks:
    - name: shout
      params: [{name: text, value: "$(tasks.greet.results.text)"}]
      taskSpec:
        params: [{name: text}]
        steps:
          - env: [{name: TEXT, value: "$(params.text)!"}]
            script: echo "shout $TEXT" >> "$WITNESS"
    - name: greet
      taskSpec:
        results: [{name: text}]
        steps:
          - command: [sh, -c, 'printf "hello %s" "$1" > "$2"; echo greet >> "$WITNESS"', greet]
            args: ["$(params.who)", "$(results.text.path)"]
    - name: after
      runAfter: [shout]
      taskSpec: {steps: [{script: 'echo after >> "$WITNESS"'}]}
  finally:
    - name: last
      params: [{name: how, value: "$(tasks.shout.status) $(tasks.status)"}]
      taskSpec:
        params: [{name: how}]
        steps: [{env: [{name: HOW, value: "$(params.how)"}], script: 'echo "last $HOW" >> "$WITNESS"'}]
`),
      { parameters: { who: "world" } },
    );

    expect(verdict(run)).toEqual(["True", "Succeeded", "Tasks Completed: 4 (Failed: 0, Cancelled 0), Skipped: 0"]);
    expect(stage.witnessed()).toEqual(["greet", "shout hello world!", "after", "last Succeeded Succeeded"]);
    expect(Reflect.get(run.status ?? {}, "results")).toEqual([{ name: "greeting", value: "hello world" }]);
    expect(stage.engine.stateOf(run)).toMatchObject({
      kind: "succeeded",
      progress: { completedTasks: 4, totalTasks: 4 },
    });
  });

  it("skips a task whose condition is false, and tasks that need its results, but not tasks that only run after it", async () => {
    await using stage = new LocalStage();
    const run = await runOnce(
      stage,
      pipeline(`
  params: [{name: mode, default: quiet}]
  tasks:
    - name: maybe
      when: [{input: "$(params.mode)", operator: in, values: [loud]}]
      taskSpec: {results: [{name: r}], steps: [{script: 'echo maybe >> "$WITNESS"'}]}
    - name: needs
      params: [{name: r, value: "$(tasks.maybe.results.r)"}]
      taskSpec: {params: [{name: r}], steps: [{script: 'echo needs >> "$WITNESS"'}]}
    - name: needs-needs
      runAfter: [needs]
      taskSpec: {steps: [{script: 'echo needs-needs >> "$WITNESS"'}]}
    - name: after
      runAfter: [maybe]
      when: [{input: "$(params.mode)", operator: notin, values: [loud]}]
      taskSpec: {steps: [{script: 'echo after >> "$WITNESS"'}]}
`),
    );

    expect(verdict(run)).toEqual(["True", "Completed", "Tasks Completed: 1 (Failed: 0, Cancelled 0), Skipped: 3"]);
    expect(stage.witnessed()).toEqual(["after"]);
    expect(run.status?.skippedTasks).toEqual([
      { name: "maybe", reason: "When Expressions evaluated to false" },
      { name: "needs", reason: "Results were missing" },
      { name: "needs-needs", reason: "Parent Tasks were skipped" },
    ]);
  });

  it("starts no further task after a failure, and still runs finally", async () => {
    await using stage = new LocalStage();
    const run = await runOnce(
      stage,
      pipeline(`
  tasks:
    - name: bad
      taskSpec: {steps: [{name: works, script: 'echo bad >> "$WITNESS"'}, {name: fails, script: exit 7}, {name: never, script: 'echo never >> "$WITNESS"'}]}
    - name: next
      runAfter: [bad]
      taskSpec: {steps: [{script: 'echo next >> "$WITNESS"'}]}
  finally:
    - name: last
      params: [{name: how, value: "$(tasks.bad.status) $(tasks.next.status) $(tasks.status)"}]
      taskSpec: {params: [{name: how}], steps: [{command: [sh, -c, 'echo "$0" >> "$WITNESS"', "$(params.how)"]}]}
`),
    );

    expect(verdict(run)).toEqual(["False", "Failed", "Tasks Completed: 2 (Failed: 1, Cancelled 0), Skipped: 1"]);
    expect(stage.witnessed()).toEqual(["bad", "Failed None Failed"]);
    expect(await stage.engine.readFailure(run)).toEqual({
      reason: "TaskRunFailed",
      message: '"step-fails" exited with code 7',
      anythingStarted: true,
      failedTaskName: "bad",
      failedStepName: "fails",
      exitCode: 7,
    });
  });

  it("fails when a task needs a result that was not written", async () => {
    await using stage = new LocalStage();
    const run = await runOnce(
      stage,
      pipeline(`
  tasks:
    - name: silent
      taskSpec: {results: [{name: r}], steps: [{script: 'head -c 5000 /dev/zero > $(results.r.path)'}]}
    - name: needs
      params: [{name: r, value: "$(tasks.silent.results.r)"}]
      taskSpec: {params: [{name: r}], steps: [{script: 'echo needs >> "$WITNESS"'}]}
`),
    );

    expect(verdict(run).slice(0, 2)).toEqual(["False", "InvalidTaskResultReference"]);
    expect(stage.witnessed()).toEqual([]);
  });

  it("runs a task with a list, a default, names from the context, and a script of another language", async () => {
    await using stage = new LocalStage();
    const run = await runOnce(
      stage,
      pipeline(`
  params: [{name: files, type: array}, {name: n.x, default: dotted}]
  tasks:
    - name: only
      params: [{name: list, value: ["$(params.files[*])", end]}]
      taskSpec:
        params: [{name: list, type: array}, {name: extra, default: usual}]
        steps:
          - command: [sh, -c, 'echo "$# $1 $*" >> "$WITNESS"', x]
            args: ["$(params.list[*])", "$(params.list[1])", "$(params.extra)", '$(params["n.x"])', "$(context.task.retry-count)"]
          - env: [{name: NAME, value: "$(context.pipelineRun.name)/$(context.taskRun.name)"}]
            script: |
              #!/usr/bin/env node
              require("node:fs").appendFileSync(process.env.WITNESS, process.env.NAME + "\\n");
`),
      { parameters: { files: ["a b", "c"] } },
    );

    expect(verdict(run)[0]).toBe("True");
    expect(stage.witnessed()).toEqual([
      "7 a b a b c end c usual dotted 0",
      "wfe-cf0cc089293b1165/wfe-cf0cc089293b1165-only",
    ]);
  });
});

describe("a task", () => {
  it("is retried as often as its retries allow, and its TaskRun lists each attempt", async () => {
    await using stage = new LocalStage();
    const run = await runOnce(
      stage,
      pipeline(`
  tasks:
    - name: flaky
      retries: 2
      taskSpec: {steps: [{name: run, script: 'echo try >> "$WITNESS"; [ "$(wc -l < "$WITNESS")" -ge 2 ]'}]}
`),
    );

    expect(verdict(run)[0]).toBe("True");
    expect(stage.witnessed()).toEqual(["try", "try"]);
    const [flaky] = await stage.taskRuns(run);
    expect(flaky?.status?.retriesStatus).toHaveLength(1);
    expect(succeededCondition(flaky?.status?.retriesStatus?.[0])).toMatchObject({
      status: "False",
      reason: "Failed",
      message: '"step-run" exited with code 1',
    });
  });

  it("continues after a failed step with onError: continue", async () => {
    await using stage = new LocalStage();
    const run = await runOnce(
      stage,
      pipeline(`
  tasks:
    - name: only
      taskSpec: {steps: [{name: may-fail, onError: continue, script: exit 4}, {script: 'echo on >> "$WITNESS"'}]}
`),
    );

    expect(verdict(run)[0]).toBe("True");
    expect(stage.witnessed()).toEqual(["on"]);
    expect(steps((await stage.taskRuns(run))[0])).toEqual([
      ["may-fail", 4, "Continued"],
      ["unnamed-1", 0, "Completed"],
    ]);
  });

  it("ends at its timeout with all of its processes, and reports the timeout", async () => {
    await using stage = new LocalStage();
    const run = await runOnce(
      stage,
      pipeline(`
  tasks:
    - name: slow
      timeout: 300ms
      taskSpec: {steps: [{name: wait, script: 'sleep 600 & sleep 600'}]}
`),
    );

    expect(verdict(run)).toEqual(["False", "Failed", "Tasks Completed: 1 (Failed: 1, Cancelled 0), Skipped: 0"]);
    expect(await stage.engine.readFailure(run)).toMatchObject({
      reason: "Timeout",
      anythingStarted: true,
      failedTaskName: "slow",
    });
  });
});

describe("a run", () => {
  it("ends at its timeout", async () => {
    await using stage = new LocalStage();
    const run = await runOnce(stage, script("sleep 600"), { timeoutMs: 300 });

    expect(verdict(run)).toEqual([
      "False",
      "PipelineRunTimeout",
      'PipelineRun "wfe-cf0cc089293b1165" failed to finish within "300ms"',
    ]);
    expect(await stage.engine.readFailure(run)).toMatchObject({ reason: "Timeout", anythingStarted: true });
  });

  it("that is suspended starts no step, and can be cancelled", async () => {
    await using stage = new LocalStage();
    stage.workflow("w", script('echo ran >> "$WITNESS"'));
    const { active } = await stage.startRunner();
    await active;
    const run = await stage.create(runOrder({ workflow: { id: "w", containerImage: "w", pipeline: "p" } }));

    await stage.client.patch(pipelineRuns, refOf(run), stage.engine.cancel(run));
    const end = await stage.end(run);

    expect(verdict(end)).toEqual(["False", "Cancelled", 'PipelineRun "wfe-cf0cc089293b1165" was cancelled']);
    expect(await stage.engine.readFailure(end)).toMatchObject({ reason: "Cancelled", anythingStarted: false });
    expect(stage.witnessed()).toEqual([]);
  });

  it("that is cancelled kills a step that ignores SIGTERM", async () => {
    await using stage = new LocalStage();
    stage.workflow("w", script(`trap '' TERM\necho began >> "$WITNESS"\nwhile :; do sleep 1; done`));
    await stage.startRunner();
    const begun = await stage.begin("w");
    await stage.untilWitnessed();

    await cancel(stage, begun, "Cancelled");
    const end = await stage.end(begun);

    expect(verdict(end)[1]).toBe("Cancelled");
    const [task] = await stage.taskRuns(end);
    expect(succeededCondition(task?.status)?.reason).toBe("TaskRunCancelled");
    expect(steps(task)).toEqual([["run", 137, "TaskRunCancelled"]]);
    expect(await stage.engine.readFailure(end)).toMatchObject({ reason: "Cancelled", anythingStarted: true });
  });

  it.each([
    ["CancelledRunFinally", ["first", "last"], "PipelineRun was stopping"],
    ["StoppedRunFinally", ["first", "first ended", "last"], "PipelineRun was gracefully stopped"],
  ] as const)("with %s runs finally", async (asked, witnessed, reason) => {
    await using stage = new LocalStage();
    stage.workflow(
      "w",
      pipeline(`
  tasks:
    - name: first
      taskSpec: {steps: [{script: 'echo first >> "$WITNESS"; sleep 1.5; echo first ended >> "$WITNESS"'}]}
    - name: second
      runAfter: [first]
      taskSpec: {steps: [{script: 'echo second >> "$WITNESS"'}]}
  finally:
    - name: last
      taskSpec: {steps: [{script: 'echo last >> "$WITNESS"'}]}
`),
    );
    await stage.startRunner();
    const begun = await stage.begin("w");
    await stage.untilWitnessed();

    await cancel(stage, begun, asked);
    const end = await stage.end(begun);

    expect(verdict(end)[1]).toBe("Cancelled");
    expect(stage.witnessed()).toEqual(witnessed);
    expect(end.status?.skippedTasks).toEqual([{ name: "second", reason }]);
  });

  it("whose object is deleted is ended, and the object exists until its processes have ended", async () => {
    await using stage = new LocalStage();
    stage.workflow("w", script(`trap '' TERM\necho $$ >> "$WITNESS"\nwhile :; do sleep 1; done`));
    await stage.startRunner();
    const begun = await stage.begin("w");
    await stage.untilWitnessed();

    await stage.client.delete(pipelineRuns, refOf(begun));
    await expect(stage.until(begun, () => false)).rejects.toThrow("the run was deleted");

    expect(isRunning(Number(stage.witnessed()[0]))).toBe(false);
  });

  it("waits for an earlier run of its target that has not ended, and reports that", async () => {
    await using stage = new LocalStage();
    stage.workflow("slow", script('echo slow >> "$WITNESS"; sleep 1; echo slow ended >> "$WITNESS"'));
    stage.workflow("fast", script('echo fast >> "$WITNESS"'));
    await stage.startRunner();
    const slow = await stage.begin("slow");
    await stage.untilWitnessed();

    const fast = await stage.begin("fast", { name: "another-name" });
    const waiting = await stage.until(fast, (now) => succeededCondition(now.status) !== undefined);
    await stage.end(fast);

    expect(succeededCondition(waiting.status)?.message).toContain(`waits for the run ${slow.metadata.name}`);
    expect(stage.witnessed()).toEqual(["slow", "slow ended", "fast"]);
  });
});

async function runOnce(stage: LocalStage, text: string, special: Partial<RunOrder> = {}): Promise<PipelineRun> {
  stage.workflow("w", text);
  await stage.startRunner();
  return await stage.run("w", special);
}

async function cancel(stage: LocalStage, run: PipelineRun, status: string) {
  await stage.client.patch(pipelineRuns, refOf(run), { merge: { spec: { status } } });
}

function verdict(run: PipelineRun) {
  const { status, reason, message } = succeededCondition(run.status) ?? {};
  return [status, reason, message];
}

function steps(task: TaskRun | undefined) {
  return task?.status?.steps?.map(({ name, terminated, terminationReason }) => [
    name,
    terminated?.exitCode,
    terminationReason,
  ]);
}
