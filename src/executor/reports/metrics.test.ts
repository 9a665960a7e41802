import { expect, it } from "vitest";
import type { WorkflowExecution } from "../../resources/index.ts";
import { promMetrics } from "../../telemetry/index.ts";
import { executorMetrics } from "./metrics.ts";

const minute = 60_000;

it("shows for how long the oldest execution has been Pending, and Running", async () => {
  const executions = [
    execution(50, undefined),
    execution(7, { phase: "Pending" }),
    execution(90, { phase: "Running", startTime: at(40) }),
    execution(99, { phase: "Running", startTime: at(12) }),
    execution(500, { phase: "Completed" }),
  ];

  expect(await oldest(executions)).toEqual({ Pending: 3_000, Running: 2_400 });
  expect(await oldest([])).toEqual({ Pending: 0, Running: 0 });
});

async function oldest(executions: readonly WorkflowExecution[]) {
  const metrics = promMetrics();
  const none = { list: () => [] };
  executorMetrics(metrics, {
    executions: { list: () => executions },
    records: none,
    entries: none,
    nowMs: () => 1_000 * minute,
  });
  const text = await metrics.text();
  const secondsOf = (phase: string) =>
    Number(new RegExp(`^workflowexecution_oldest_seconds\\{phase="${phase}"\\} (.+)$`, "m").exec(text)?.[1]);
  return { Pending: secondsOf("Pending"), Running: secondsOf("Running") };
}

function execution(minutesOld: number, status: object | undefined): WorkflowExecution {
  return { metadata: { name: "wfe", creationTimestamp: at(minutesOld) }, status } as WorkflowExecution;
}

function at(minutesAgo: number): string {
  return new Date((1_000 - minutesAgo) * minute).toISOString();
}
