import type { Logger } from "../../telemetry/index.ts";
import type { Clock, Timer } from "../../time/index.ts";
import { type CheckpointOptions, makeCheckpoint } from "./make-checkpoint.ts";

export interface CheckpointsOptions extends Omit<CheckpointOptions, "nowMs" | "signal"> {
  readonly everyMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Checkpoints {
  stop(): Promise<void>;
}

/** Makes a checkpoint now and then again and again. Any number of processes may do so: each sees all heads. */
export function startCheckpoints({ everyMs, clock, log, ...options }: CheckpointsOptions): Checkpoints {
  const stopping = new AbortController();
  const { signal } = stopping;
  let timer: Timer | undefined;
  let working = work();

  async function work(): Promise<void> {
    try {
      const outcome = await makeCheckpoint({ ...options, nowMs: clock.wallMs(), signal });
      if (outcome.kind === "written") log.info("checkpoint written", { file: outcome.file, writers: outcome.writers });
      if (outcome.kind === "refused") {
        const [first] = outcome.problems;
        log.error("checkpoint refused", {
          problems: outcome.problems.length,
          first: `${first?.file}: ${first?.message}`,
        });
      }
    } catch (error) {
      // The database may be away; that is logged by the shipper as well, and the next checkpoint covers all rows.
      if (!signal.aborted) log.warn("checkpoint failed", { error: (error as Error).message });
    }
    if (signal.aborted) return;
    const next = () => {
      working = work();
    };
    timer = clock.after(everyMs, next, { background: true });
  }

  return {
    async stop() {
      stopping.abort();
      timer?.cancel();
      await working;
    },
  };
}
