import { expect, it } from "vitest";
import type { CodingTask } from "../resources/index.ts";
import { promMetrics } from "../telemetry/index.ts";
import { agentMetrics } from "./metrics.ts";

const minute = 60_000;

it("shows the age of the oldest open task in each phase", async () => {
  const tasks = [
    task(50, undefined),
    task(7, { phase: "Pending" }),
    task(30, { phase: "Waiting" }),
    task(35, { phase: "Waiting" }),
    task(300, { phase: "Waiting", pause: { name: "pause-1" } }),
    task(90, { phase: "Running", startTime: at(40) }),
    task(99, { phase: "Running", startTime: at(12) }),
    task(500, { phase: "Completed", startTime: at(400) }),
  ];

  expect(await oldest(tasks)).toEqual({ Pending: 3_000, Waiting: 2_100, Paused: 18_000, Running: 2_400 });
  expect(await oldest([])).toEqual({ Pending: 0, Waiting: 0, Paused: 0, Running: 0 });
});

async function oldest(tasks: readonly CodingTask[]) {
  const metrics = promMetrics();
  agentMetrics(metrics, { tasks: { list: () => tasks }, nowMs: () => 1_000 * minute });
  const lines = (await metrics.text()).matchAll(/^agent_oldest_task_seconds\{phase="(\w+)"\} (.+)$/gm);
  return Object.fromEntries([...lines].map(([, phase, seconds]) => [phase, Number(seconds)]));
}

function task(minutesOld: number, status: object | undefined): CodingTask {
  return { metadata: { name: "ct" }, spec: { type: "Issue", receivedTime: at(minutesOld) }, status } as CodingTask;
}

function at(minutesAgo: number): string {
  return new Date((1_000 - minutesAgo) * minute).toISOString();
}
