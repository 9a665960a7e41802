import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ManualClock } from "../../../../test/doubles/manual-clock.ts";
import { recordingLogger } from "../../../../test/doubles/recording-logger.ts";
import { promMetrics } from "../../../telemetry/index.ts";
import { systemProcesses } from "../steps/system-processes.ts";
import { systemFiles } from "./files.ts";
import { localMetrics } from "./local-metrics.ts";
import { OpenRun } from "./open-run.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "open-run-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("a step that fails again and again, as on a full disk, is logged once a minute", async () => {
  const [clock, log] = [new ManualClock(), recordingLogger()];
  const tools = {
    ...{ processes: systemProcesses(), files: systemFiles(), clock, log, graceMs: 1_000 },
    ...{ metrics: localMetrics(promMetrics(), () => 0), abandon: new AbortController().signal },
  };
  const record = { uid: "run-1", name: "wfe-1", namespace: "runs", target: "node/one" };
  const parts = { record, folder: {}, taskRuns: {} } as Pick<OpenRun, "record" | "folder" | "taskRuns">;
  let attempts = 0;
  const launch = () => {
    attempts++;
    return Promise.reject(new Error("ENOSPC: no space left on device"));
  };
  const open = new OpenRun(parts, tools, () => {});

  while (clock.now() < 62_000) {
    open.supervise({ folder, launch, secrets: [] });
    await open.idle();
    await clock.advance(2_000);
  }

  expect(attempts).toBeGreaterThan(25);
  const lines = log.events.filter(({ event }) => event === "step supervision failed");
  expect(lines.map(({ fields }) => fields?.["unreported"])).toEqual([0, 29]);
});
