import { describe, expect, it } from "vitest";
import { begunStep, type CodingTask } from "../resources/index.ts";
import { endedStatus } from "./statuses.ts";

describe("the status of a closed task", () => {
  it.each([
    ["later than its start", "2026-03-01T12:00:05.000Z", "2026-03-01T12:00:05.000Z"],
    [
      "earlier than its start, by another estimate of the clock,",
      "2026-03-01T11:59:59.000Z",
      "2026-03-01T12:00:00.000Z",
    ],
  ])("at a time %s has a completion time that is not before its start", (_when, now, completionTime) => {
    const task = running("2026-03-01T12:00:00.000Z");

    const status = endedStatus(task, { kind: "completed", message: "reviewed" }, Date.parse(now));

    expect(status).toMatchObject({ phase: "Completed", startTime: "2026-03-01T12:00:00.000Z", completionTime });
  });
});

function running(startTime: string): CodingTask {
  const steps = [{ name: begunStep, completedAt: startTime }];
  return { metadata: {}, status: { phase: "Running", startTime, attempts: 1, steps } } as unknown as CodingTask;
}
