import type { Metrics } from "../../telemetry/index.ts";
import { CoordinationError } from "../errors.ts";
import { lag } from "../watermarks/cursor.ts";
import type { AdvanceOutcome, Watermark } from "../watermarks/watermarks.ts";
import type { Observer, Stage } from "./observer.ts";

/** A watermark whose lag is shown until it is disposed of, when this process no longer polls its stream. */
export interface ObservedWatermark extends Watermark, Disposable {}

/**
 * Counts and logs how the watermarks of a stage move, and shows the largest lag among the streams it polls:
 * `using mark = observe(await openWatermark(store, key, { serverDate, … }), serverDate)`.
 */
export function observeWatermarks({ stage, metrics, log, clock }: Observer) {
  const polled = new Set<{ lagMs: number; at: number }>();
  const writes = watermarkMetrics(stage, metrics, () => {
    // Measured by the source's clock at the last poll, and growing since: a poller that hangs must show a growing lag.
    let largestMs = 0;
    for (const { lagMs, at } of polled) largestMs = Math.max(largestMs, lagMs + clock.now() - at);
    return largestMs;
  });

  return (watermark: Watermark, serverDate: Date): ObservedWatermark => {
    const stream = { lagMs: lag(watermark.record, serverDate), at: clock.now() };
    polled.add(stream);

    function note(outcome: AdvanceOutcome, lagMs: number) {
      const { key } = watermark;
      Object.assign(stream, { lagMs, at: clock.now() });
      switch (outcome.kind) {
        case "advanced":
          writes.with({ outcome: "written" }).inc();
          return log.debug("watermark advanced", { key, cursor: outcome.cursor, heldBy: outcome.heldBy, lagMs });
        case "unchanged":
          if (outcome.heldBy === undefined) return;
          return log.info("watermark held", { key, cursor: outcome.cursor, heldBy: outcome.heldBy, lagMs });
        case "stale":
          // Another process polls the stream now, and shows its lag.
          polled.delete(stream);
          writes.with({ outcome: "stale" }).inc();
          return log.warn("watermark stale", { key, fence: outcome.fence });
      }
    }

    return {
      key: watermark.key,
      get record() {
        return watermark.record;
      },
      queryFrom: () => watermark.queryFrom(),
      async advance(items, serverDate, options) {
        try {
          const outcome = await watermark.advance(items, serverDate, options);
          note(outcome, lag(watermark.record, serverDate));
          return outcome;
        } catch (error) {
          if (error instanceof CoordinationError) writes.with({ outcome: "failed" }).inc();
          throw error;
        }
      },
      [Symbol.dispose]: () => void polled.delete(stream),
    };
  };
}

function watermarkMetrics(stage: Stage, metrics: Metrics, largestLagMs: () => number) {
  metrics.gauge(
    `${stage}_watermark_lag_seconds`,
    "Lag of the slowest stream that this process polls, 0 if it polls none.",
    () => largestLagMs() / 1_000,
  );
  return metrics.counter(
    `${stage}_watermark_writes_total`,
    "Writes of a watermark: written, rejected as stale because another process polls now, or failed.",
    { outcome: ["written", "stale", "failed"] },
  );
}
