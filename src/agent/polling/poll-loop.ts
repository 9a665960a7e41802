import { isCoordinationError } from "../../coordination/index.ts";
import type { Metrics } from "../../telemetry/index.ts";
import { backoffMs, type Clock, type Random, sleep } from "../../time/index.ts";
import { isRemoteError } from "../remote-error.ts";

export interface PollLoop {
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly intervalMs: number;
  /** The delay of the first poll, so that projects do not all start at once. */
  readonly firstInMs: number;
  polled(): void;
  failed(error: unknown, nextInMs: number): void;
}

/** The longest wait after a failure. */
const longestMs = 300_000;

/**
 * Polls repeatedly until `signal` aborts. After a failure it waits longer each time, or as long as the server asks.
 * Resolves to `superseded` if another replica polls.
 */
export async function pollRepeatedly(
  poll: (signal: AbortSignal) => Promise<"polled" | "superseded">,
  { clock, random, signal, intervalMs, firstInMs, polled, failed }: PollLoop,
): Promise<"stopped" | "superseded"> {
  let failures = 0;
  for (let waitMs = firstInMs; ; ) {
    if (waitMs > 0) await sleep(clock, waitMs, signal).catch(() => {});
    if (signal.aborted) return "stopped";
    try {
      if ((await poll(signal)) === "superseded") return "superseded";
      failures = 0;
      waitMs = intervalMs;
      polled();
    } catch (error) {
      if (signal.aborted) return "stopped";
      if (isCoordinationError(error, "lost")) return "superseded";
      failures++;
      const backoff = { baseMs: intervalMs, maxMs: Math.max(longestMs, intervalMs), jitter: 0.2 };
      const asked = isRemoteError(error) ? (error.retryAfterMs ?? 0) : 0;
      waitMs = Math.max(asked, backoffMs(failures, backoff, random.fraction()));
      failed(error, waitMs);
    }
  }
}

const sources = ["gitlab", "jira"] as const;
type Source = (typeof sources)[number];

export interface PollMetrics {
  polled(source: Source): void;
  failed(source: Source): void;
}

export function pollMetrics(metrics: Metrics): PollMetrics {
  const polls = metrics.counter("agent_polls_total", "Polls of a project by outcome.", {
    source: sources,
    outcome: ["polled", "failed"],
  });
  return {
    polled: (source) => polls.with({ source, outcome: "polled" }).inc(),
    failed: (source) => polls.with({ source, outcome: "failed" }).inc(),
  };
}
