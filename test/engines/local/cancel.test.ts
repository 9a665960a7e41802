import { describe, expect, it } from "vitest";
import { type PipelineRun, pipelineRuns, succeededCondition } from "../../../src/engines/tekton/pipeline-run.ts";
import { isRunning, LocalStage, pipeline, refOf } from "./local-stage.ts";

/** A step that catches SIGTERM, and one that ignores it. Both note the ids of their shell and of a child. */
const graceful = `trap 'echo stopped >> "$WITNESS"; exit 1' TERM`;
const stubborn = `trap '' TERM`;

describe("a cancelled run of the local engine", () => {
  it("gets SIGTERM, and has the grace period to clean up", async () => {
    await using stage = new LocalStage();
    const run = await runningWith(stage, graceful, { graceMs: 600_000 });
    const pids = processIds(stage);

    const ended = await cancelled(stage, run);

    expect(succeededCondition(ended.status)?.reason).toBe("Cancelled");
    expect(stage.witnessed().slice(2)).toEqual(["stopped"]);
    expectGone(pids);
  });

  it("gets SIGKILL after the grace period, which ends its whole process group", async () => {
    await using stage = new LocalStage();
    const run = await runningWith(stage, stubborn, { graceMs: 300 });
    const pids = processIds(stage);

    const ended = await cancelled(stage, run);

    expect(succeededCondition(ended.status)?.reason).toBe("Cancelled");
    expectGone(pids);
  });

  it("starts neither the next task nor a finally task", async () => {
    await using stage = new LocalStage();
    const run = await runningWith(stage, graceful, { graceMs: 600_000 });

    await cancelled(stage, run);

    expect((await stage.taskRuns(run)).map(({ metadata }) => metadata.labels?.["tekton.dev/pipelineTask"])).toEqual([
      "first",
    ]);
    expect(stage.witnessed()).not.toContain("next");
    expect(stage.witnessed()).not.toContain("finally");
  });

  it("counts as a failure during execution", async () => {
    await using stage = new LocalStage();
    const run = await runningWith(stage, graceful, { graceMs: 600_000 });

    const ended = await cancelled(stage, run);

    expect(await stage.engine.readFailure(ended)).toMatchObject({ reason: "Cancelled", anythingStarted: true });
  });
});

/** A run whose first task has a shell and a child process, handles SIGTERM by `trap`, and does not end by itself. */
async function runningWith(stage: LocalStage, trap: string, options: { readonly graceMs: number }) {
  stage.workflow(
    "endless",
    pipeline(`
  tasks:
    - name: first
      taskSpec:
        steps:
          - script: |
              ${trap}
              sleep 600 &
              echo $! >> "$WITNESS"
              echo $$ >> "$WITNESS"
              while :; do sleep 0.05; done
    - name: next
      runAfter: [first]
      taskSpec: {steps: [{script: 'echo next >> "$WITNESS"'}]}
  finally:
    - name: last
      taskSpec: {steps: [{script: 'echo finally >> "$WITNESS"'}]}
`),
  );
  await stage.startRunner(options);
  const run = await stage.begin("endless");
  await stage.untilWitnessed(2);
  return run;
}

async function cancelled(stage: LocalStage, run: PipelineRun): Promise<PipelineRun> {
  const { resourceVersion: _, ...metadata } = run.metadata;
  // Conditional on no version: the engine writes the progress of the run meanwhile.
  await stage.client.patch(pipelineRuns, refOf(run), stage.engine.cancel({ ...run, metadata }));
  return stage.end(run);
}

function processIds(stage: LocalStage): readonly number[] {
  const pids = stage.witnessed().map(Number);
  expect(pids.map(isRunning)).toEqual([true, true]);
  return pids;
}

function expectGone(pids: readonly number[]) {
  expect(pids.map(isRunning)).toEqual([false, false]);
}
