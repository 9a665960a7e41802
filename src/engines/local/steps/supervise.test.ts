import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Clock, systemClock } from "../../../time/index.ts";
import type { Processes } from "./processes.ts";
import { type Supervision, supervise } from "./supervise.ts";
import { systemProcesses } from "./system-processes.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "supervise-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("a step whose files cannot be written is an error for the caller, who tries again", async () => {
  const supervised = supervise(supervision({ folder: join(folder, "removed") }));

  await expect(supervised).rejects.toMatchObject({ code: "ENOENT" });
});

it("a step that runs for long costs no more memory with every look at it", async () => {
  let looks = 0;
  let end = (_complaint: undefined) => {};
  const wrapper = new Promise<undefined>((resolve) => {
    end = resolve;
  });
  const callbacks = vi.spyOn(wrapper, "then");
  const clock: Clock = {
    ...systemClock(),
    after: (_delayMs, wake, options) => {
      looks++;
      if (looks === 50) end(undefined);
      return systemClock().after(0, wake, options);
    },
  };
  const processes: Processes = { ...systemProcesses(), start: () => wrapper };

  await supervise(supervision({ clock, processes }));

  expect(looks).toBeGreaterThanOrEqual(50);
  expect(callbacks.mock.calls.length).toBeLessThan(5);
});

function supervision(given: Partial<Supervision>): Supervision {
  const never = new AbortController().signal;
  return {
    folder,
    processes: systemProcesses(),
    clock: systemClock(),
    stop: never,
    abandon: never,
    graceMs: 1_000,
    stubborn: () => {},
    adopted: () => {},
    launch: async () => ({
      folder: given.folder ?? folder,
      argv: ["true"],
      env: {},
      workingDir: folder,
      outputBytes: 1_000,
    }),
    ...given,
  };
}
