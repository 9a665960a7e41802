import type { Logger } from "../../telemetry/index.ts";
import { type Clock, sleep } from "../../time/index.ts";
import { type CheckpointOptions, makeCheckpoint } from "./make-checkpoint.ts";

export interface CheckpointsOptions extends Omit<CheckpointOptions, "nowMs" | "signal"> {
  readonly everyMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Checkpoints {
  stop(): Promise<void>;
}

/** Makes a checkpoint now and then periodically. Any number of processes may do so: each reads all heads. */
export function startCheckpoints({ everyMs, clock, log, ...options }: CheckpointsOptions): Checkpoints {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run() {
    while (!signal.aborted) {
      await makeAndLog().catch((error: Error) => {
        // The shipper logs an unavailable database as well, and the next checkpoint covers all rows.
        if (!signal.aborted) log.warn("checkpoint failed", { error: error.message });
      });
      await sleep(clock, everyMs, signal, { background: true }).catch(() => {});
    }
  }

  async function makeAndLog() {
    const outcome = await makeCheckpoint({ ...options, nowMs: clock.wallMs(), signal });
    if (outcome.kind === "written") log.info("checkpoint written", { file: outcome.file, writers: outcome.writers });
    if (outcome.kind !== "refused") return;
    const [first] = outcome.problems;
    log.error("checkpoint refused", { problems: outcome.problems.length, first: `${first?.file}: ${first?.message}` });
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
