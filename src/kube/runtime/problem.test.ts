import { expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { recordingLogger } from "../../../test/doubles/recording-logger.ts";
import type { Problem } from "./problem.ts";
import { problemLogger } from "./problem.ts";

it("logs a problem of many keys once a minute, and counts the others", async () => {
  const clock = new ManualClock();
  const log = recordingLogger();
  const report = problemLogger("stage problem", { log, clock });

  for (let i = 0; i < 100; i++) report(failed({ key: `ns/object-${i}` }));
  await clock.advance(60_000);
  report(failed({ key: "ns/later" }));

  expect(log.events).toMatchObject([
    { event: "stage problem", fields: { key: "ns/object-0", unreported: 0 } },
    { event: "stage problem", fields: { key: "ns/later", unreported: 99 } },
  ]);
});

it("logs each problem that differs in its kind, its controller or its message", () => {
  const log = recordingLogger();
  const report = problemLogger("stage problem", { log, clock: new ManualClock() });

  for (const other of [{}, { kind: "reconcile-stuck" }, { about: "targets" }, { message: "forbidden" }] as const) {
    report(failed(other));
  }

  expect(log.events).toHaveLength(4);
});

function failed(fields: Partial<Problem>): Problem {
  return { kind: "reconcile-failed", about: "executions", message: "ENOSPC: no space left on device", ...fields };
}
