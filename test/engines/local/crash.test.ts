import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pipelineRuns, succeededCondition } from "../../../src/engines/tekton/pipeline-run.ts";
import { isRunning, pipeline, refOf, script } from "./local-stage.ts";
import { builtRunner, RunnerProcess } from "./runner-process.ts";
import { openServedStage } from "./served-stage.ts";

let program = "";
const directory = mkdtempSync(join(tmpdir(), "interlock-runner-"));

beforeAll(async () => {
  program = await builtRunner(directory);
});
afterAll(() => rmSync(directory, { recursive: true }));

describe("a runner that is killed", () => {
  it.each(["Cancelled", undefined])(
    "leaves a step that goes on, and the next one ends it when asked: %s",
    async (asked) => {
      await using stage = await openServedStage();
      stage.workflow("w", script('echo $$ >> "$WITNESS"; sleep 600'));
      const runner = new RunnerProcess(program, stage.plan);
      const run = await stage.begin("w", { name: `asked-${asked}`.toLowerCase(), target: `node/${asked}` });
      await stage.untilWitnessed();
      await runner.kill();
      const pid = Number(stage.witnessed()[0]);
      expect(isRunning(pid)).toBe(true);

      if (asked) await stage.client.patch(pipelineRuns, refOf(run), { merge: { spec: { status: asked } } });
      else await stage.client.delete(pipelineRuns, refOf(run));
      await stage.startRunner();

      if (asked) expect(succeededCondition((await stage.end(run)).status)?.reason).toBe("Cancelled");
      else await expect(stage.until(run, () => false)).rejects.toThrow("the run was deleted");
      expect(isRunning(pid)).toBe(false);
      expect(stage.witnessed()).toHaveLength(1);
    },
  );

  it("together with a step leaves a run that failed during execution and is not retried", async () => {
    await using stage = await openServedStage();
    stage.workflow(
      "w",
      pipeline(`
  tasks:
    - name: only
      retries: 3
      taskSpec: {steps: [{name: run, script: 'echo $$ >> "$WITNESS"; sleep 600'}]}
`),
    );
    const runner = new RunnerProcess(program, stage.plan);
    const run = await stage.begin("w", { name: "lost", target: "node/lost" });
    await stage.untilWitnessed();
    await runner.kill();
    const folder = join(stage.dataDir, "runs", run.metadata.uid ?? "", "only.0", "steps", "0");
    process.kill(-Number(readFileSync(join(folder, "started"), "utf8")), "SIGKILL");

    await stage.startRunner();
    const end = await stage.end(run);

    expect(await stage.engine.readFailure(end)).toMatchObject({
      reason: "TaskRunFailed",
      anythingStarted: true,
      failedTaskName: "only",
      failedStepName: "run",
    });
    expect(stage.witnessed()).toHaveLength(1);
  });

  it("and whose run is deleted meanwhile keeps the target until its step has ended", async () => {
    await using stage = await openServedStage();
    stage.workflow(
      "slow",
      script(
        `trap '' TERM\necho slow >> "$WITNESS"\nfor i in 1 2 3 4 5; do sleep 0.2; done\necho slow ended >> "$WITNESS"`,
      ),
    );
    stage.workflow("fast", script('echo fast >> "$WITNESS"'));
    const runner = new RunnerProcess(program, stage.plan);
    const slow = await stage.begin("slow", { name: "kept", target: "node/kept" });
    await stage.untilWitnessed();
    await runner.kill();
    // By force: the finalizer that would have kept it is taken away.
    await stage.client.patch(pipelineRuns, refOf(slow), { merge: { metadata: { finalizers: null } } });
    await stage.client.delete(pipelineRuns, refOf(slow));
    const fast = await stage.begin("fast", { name: "kept", target: "node/kept" });

    await stage.startRunner({ graceMs: 60_000 });
    await stage.end(fast);

    expect(stage.witnessed()).toEqual(["slow", "slow ended", "fast"]);
  });
});
