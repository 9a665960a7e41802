import { describe, expect, it } from "vitest";
import { jobEngine } from "../../src/engines/index.ts";
import type { Job } from "../../src/engines/job/job.ts";
import { classifyFailure } from "../../src/resources/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { ManualClock } from "../doubles/manual-clock.ts";
import { testCluster } from "../doubles/test-cluster.ts";
import { recorded, recordedNames } from "./recorded-runs.ts";

const states = {
  "job-deadline": "failed 1/1 2026-11-15T03:14:40Z",
  "job-failure": "failed 1/1 2026-11-15T03:14:36Z",
  "job-running": "running 0/1",
  "job-success": "succeeded 1/1 2026-11-15T03:14:36Z",
  "job-suspended": "suspended",
};

describe("the recorded statuses of the Job controller", () => {
  it("are all in the table", () => {
    expect(Object.keys(states)).toEqual(recordedNames("job"));
  });

  it.each(Object.entries(states))("%s is %s", (name, expected) => {
    const state = engine().stateOf(recorded<Job>("job", name));

    const parts = state.kind === "suspended" ? [] : [`${state.progress.completedTasks}/${state.progress.totalTasks}`];
    const end = "completedAt" in state ? [state.completedAt] : [];
    expect([state.kind, ...parts, ...end].join(" ")).toBe(expected);
  });

  it.each([
    ["job-deadline", "Timeout", "Job was active longer than specified deadline"],
    ["job-failure", "TaskRunFailed", "Job has reached the specified backoff limit"],
  ])("%s without its pods is %s, and may have changed something", async (name, reason, message) => {
    const failure = await engine().readFailure(recorded<Job>("job", name));

    expect(classifyFailure(failure.reason, failure)).toEqual({ reason, wasExecutionFailure: true });
    expect(failure.message).toBe(message);
  });
});

function engine() {
  return jobEngine(testCluster({ clock: new ManualClock(), random: systemRandom() }).client());
}
