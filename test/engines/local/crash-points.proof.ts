import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PipelineRun, succeededCondition } from "../../../src/engines/tekton/pipeline-run.ts";
import { type LocalStage, pipeline } from "./local-stage.ts";
import { builtRunner, RunnerProcess } from "./runner-process.ts";
import { openServedStage } from "./served-stage.ts";

let program = "";
const directory = mkdtempSync(join(tmpdir(), "interlock-runner-"));

beforeAll(async () => {
  program = await builtRunner(directory);
});
afterAll(() => rmSync(directory, { recursive: true }));

const threeSteps = pipeline(`
  tasks:
    - name: first
      taskSpec:
        results: [{name: r}]
        steps:
          - script: echo one >> "$WITNESS"; printf two > $(results.r.path)
    - name: second
      params: [{name: r, value: "$(tasks.first.results.r)"}]
      taskSpec:
        params: [{name: r}]
        steps:
          - env: [{name: R, value: "$(params.r)"}]
            script: echo "$R" >> "$WITNESS"; exit 5
  finally:
    - name: last
      taskSpec: {steps: [{script: 'echo three >> "$WITNESS"'}]}
`);

it("a runner that is killed at any change leaves a run that the next one completes, each step run once", {
  timeout: 280_000,
}, async () => {
  // Two at a time: most of the time is the start of Node.
  const lanes = (["before", "after"] as const).map(async (when) => {
    for (let n = 1; ; n++) if (!(await survives(n, when))) return n;
  });
  const ends = await Promise.all(lanes);

  // Fewer would mean that the counter does not count.
  expect(ends[0]).toBeGreaterThan(30);
  expect(ends[1]).toBeGreaterThan(10);
});

/** Kills a runner at its `n`-th change. False: it made fewer. */
async function survives(n: number, when: "before" | "after"): Promise<boolean> {
  const dieAt = { nth: n, when };
  await using stage = await openServedStage();
  stage.workflow("w", threeSteps);
  const name = `killed-${when}-${n}`;
  const begun = await stage.begin("w", { name, target: `node/${name}` });
  const runner = new RunnerProcess(program, { ...stage.plan, dieAt });
  const isClosed = stage.end(begun).then(() => untilClosed(stage, begun));
  const first = await Promise.race([runner.ended, isClosed]);
  if (first === "closed") {
    await runner.kill();
    return false;
  }
  expect([first, n]).toEqual(["SIGKILL", n]);

  await stage.startRunner();
  const run = await stage.end(begun);
  await isClosed;

  expect([n, stage.witnessed()]).toEqual([n, ["one", "two", "three"]]);
  expect([n, succeededCondition(run.status)?.message]).toEqual([
    n,
    "Tasks Completed: 3 (Failed: 1, Cancelled 0), Skipped: 0",
  ]);
  expect(await stage.engine.readFailure(run)).toMatchObject({
    failedTaskName: "second",
    exitCode: 5,
    anythingStarted: true,
  });
  expect([n, await stage.killSteps()]).toEqual([n, []]);
  return true;
}

async function untilClosed(stage: LocalStage, { metadata: { uid = "" } }: PipelineRun): Promise<"closed"> {
  while (!readdirSync(join(stage.dataDir, "runs", uid)).includes("closed")) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return "closed";
}
