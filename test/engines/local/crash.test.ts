import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveApi } from "../../../src/apiserver/http/serve.ts";
import { embeddedClient } from "../../../src/apiserver/index.ts";
import { volatileStore } from "../../../src/apiserver/volatile-store.ts";
import { type PipelineRun, pipelineRuns, succeededCondition } from "../../../src/engines/tekton/pipeline-run.ts";
import { namespaces } from "../../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import { isRunning, LocalStage, namespace, pipeline, refOf, script } from "./local-stage.ts";
import { builtRunner, RunnerProcess } from "./runner-process.ts";

const token = "the-admin-token";

let program = "";
const directory = mkdtempSync(join(tmpdir(), "interlock-runner-"));

beforeAll(async () => {
  program = await builtRunner(directory);
});
afterAll(() => rmSync(directory, { recursive: true }));

/** A stage of its own for each run, with an API server that another process can reach. */
class ServedStage extends LocalStage {
  readonly #served: Awaited<ReturnType<typeof serveApi>>;

  constructor(served: Awaited<ReturnType<typeof serveApi>>) {
    super(embeddedClient(served.api));
    this.#served = served;
  }

  get plan() {
    const { dataDir, workflowsRoot, witnessFile } = this;
    return { url: this.#served.url, token, dataDir, workflowsRoot, witnessFile };
  }

  override async [Symbol.asyncDispose]() {
    await super[Symbol.asyncDispose]();
    await this.#served.close();
  }
}

async function openStage(): Promise<ServedStage> {
  const options = { store: volatileStore(), clock: systemClock(), random: systemRandom(), tokens: { admin: token } };
  const stage = new ServedStage(await serveApi({ ...options, acceptPlainTokens: true }));
  await stage.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  return stage;
}

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

describe("a runner that is killed", () => {
  it("at any change it makes leaves a run that the next one brings to its right end, each step run once", {
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

  it.each(["Cancelled", undefined])(
    "leaves a step that goes on, and the next one ends it when asked: %s",
    async (asked) => {
      await using stage = await openStage();
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

  it("together with a step leaves a run that failed while executing, and is not tried again", async () => {
    await using stage = await openStage();
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

    expect(await stage.engine.failureOf(end)).toMatchObject({
      reason: "TaskRunFailed",
      anythingStarted: true,
      failedTaskName: "only",
      failedStepName: "run",
    });
    expect(stage.witnessed()).toHaveLength(1);
  });

  it("and whose run was deleted meanwhile keeps the target until its step has ended", async () => {
    await using stage = await openStage();
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

/** Kills a runner at its `n`-th change. False: it made fewer. */
async function survives(n: number, when: "before" | "after"): Promise<boolean> {
  const dieAt = { nth: n, when };
  await using stage = await openStage();
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
  expect(await stage.engine.failureOf(run)).toMatchObject({
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
