import { describe, expect, it } from "vitest";
import { pipelineRuns } from "../../../src/engines/tekton/pipeline-run.ts";
import { promMetrics } from "../../../src/telemetry/index.ts";
import { LocalStage, refOf, script } from "./local-stage.ts";

describe("the local engine counts", { timeout: 60_000 }, () => {
  it("runs by outcome, and the durations of their steps", async () => {
    await using stage = new LocalStage();
    const metrics = promMetrics();
    stage.workflow("good", script("true"));
    stage.workflow("bad", script("exit 3"));
    await stage.startRunner({ metrics });

    await stage.run("good", { name: "good", target: "node/a" });
    await stage.run("bad", { name: "bad", target: "node/b" });

    expect(await figures(metrics)).toMatchObject({
      local_runs_begun_total: 2,
      'local_runs_ended_total{outcome="succeeded"}': 1,
      'local_runs_ended_total{outcome="failed"}': 1,
      'local_runs_ended_total{outcome="cancelled"}': 0,
      'local_step_duration_seconds_count{outcome="succeeded"}': 1,
      'local_step_duration_seconds_count{outcome="failed"}': 1,
      local_steps_alive: 0,
      local_steps_adopted_total: 0,
    });
  });

  it("running steps, steps adopted from an earlier runner, and deleted runs", async () => {
    await using stage = new LocalStage();
    const metrics = promMetrics();
    stage.workflow("slow", script('echo up >> "$WITNESS"; exec sleep 600'));
    const first = await stage.startRunner();
    const run = await stage.begin("slow");
    await stage.untilWitnessed();
    await first.stop();

    await (await stage.startRunner({ metrics })).active;
    await stage.until(run, () => true);
    await untilFigure(metrics, "local_steps_adopted_total");
    const before = await figures(metrics);
    await stage.client.delete(pipelineRuns, refOf(run));
    await untilFigure(metrics, 'local_runs_ended_total{outcome="deleted"}');

    expect(before).toMatchObject({ local_steps_alive: 1, local_steps_adopted_total: 1, local_runs_begun_total: 0 });
    expect(await figures(metrics)).toMatchObject({ local_steps_alive: 0, local_steps_adopted_total: 1 });
  });
});

/** Each series with its value. */
async function figures(metrics: { text(): Promise<string> }): Promise<Record<string, number>> {
  const lines = (await metrics.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
}

async function untilFigure(metrics: { text(): Promise<string> }, name: string): Promise<void> {
  await expect.poll(async () => (await figures(metrics))[name]).toBe(1);
}
