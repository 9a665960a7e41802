import { setMaxListeners } from "node:events";
import { isCoordinationError, keyOf, type LeaderWork, type Locks, runAsLeader } from "../../coordination/index.ts";
import type { TaskIntake } from "../../tasks/index.ts";
import type { Logger, Metrics } from "../../telemetry/index.ts";
import { backoffMs, type Clock, type Random, sleep } from "../../time/index.ts";
import type { GitLab } from "../gitlab/gitlab.ts";
import { isRemoteError } from "../remote-error.ts";

const sources = ["gitlab", "jira"] as const;
type Source = (typeof sources)[number];

/** The options that the pollers of GitLab and Jira share. */
export interface PollerOptions {
  readonly gitlab: GitLab;
  readonly intake: TaskIntake;
  readonly intervalMs: number;
  readonly locks: Locks;
  readonly countPoll: CountPoll;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export type CountPoll = (source: Source, outcome: "polled" | "failed") => void;

/**
 * Polls until `signal` aborts, in one process at a time. One lock covers all projects of a server: polling is cheap, and
 * a lease per project would cost more than it saves.
 */
export async function pollAsLeader(
  source: Source,
  host: string,
  work: LeaderWork,
  { locks, clock, random, signal, log }: PollerOptions,
): Promise<void> {
  const failed = (error: unknown) => log.warn("polling failed", { source, error });
  const purpose = `poll ${host}`;
  await runAsLeader(locks, keyOf(`${source}-poll`, host), work, { clock, random, signal, purpose, events: { failed } });
}

/** Runs one cycle. Throws an error that concerns the whole project; `superseded`: another replica polls it. */
type Poll = (signal: AbortSignal) => Promise<"polled" | "superseded">;

/**
 * Polls each project by itself, so a failing one does not delay the others. Ends when `signal` aborts, and returns
 * `superseded` as soon as another replica polls one of them.
 */
export async function pollProjects(
  source: Source,
  projects: ReadonlyMap<string, Poll>,
  options: PollerOptions,
  signal: AbortSignal,
): Promise<"stopped" | "superseded"> {
  const superseded = new AbortController();
  const either = AbortSignal.any([signal, superseded.signal]);
  // Every project listens to this signal, and more than ten listeners are not a leak.
  setMaxListeners(0, either);
  const loops = [...projects].map(async ([project, poll], i) => {
    // Projects do not all start at once.
    const firstInMs = (i * options.intervalMs) / projects.size;
    const end = await pollRepeatedly(poll, { ...options, source, project, firstInMs, signal: either });
    if (end === "superseded") superseded.abort();
  });
  await Promise.all(loops);
  return superseded.signal.aborted && !signal.aborted ? "superseded" : "stopped";
}

interface PollLoop extends PollerOptions {
  readonly source: Source;
  readonly project: string;
  readonly firstInMs: number;
}

/** The longest delay after a failure. */
const maxBackoffMs = 300_000;

/** After a failure it waits longer each time, or as long as the server asks. */
async function pollRepeatedly(poll: Poll, options: PollLoop): Promise<"stopped" | "superseded"> {
  const { source, project, clock, random, signal, intervalMs, countPoll, log } = options;
  const backoff = { baseMs: intervalMs, maxMs: Math.max(maxBackoffMs, intervalMs), jitter: 0.2 };
  let failures = 0;
  for (let waitMs = options.firstInMs; ; ) {
    if (waitMs > 0) await sleep(clock, waitMs, signal).catch(() => {});
    if (signal.aborted) return "stopped";
    try {
      if ((await poll(signal)) === "superseded") return "superseded";
      failures = 0;
      waitMs = intervalMs;
      countPoll(source, "polled");
    } catch (error) {
      if (signal.aborted) return "stopped";
      if (isCoordinationError(error, "lost")) return "superseded";
      failures++;
      const requestedMs = isRemoteError(error) ? (error.retryAfterMs ?? 0) : 0;
      waitMs = Math.max(requestedMs, backoffMs(failures, backoff, random.fraction()));
      countPoll(source, "failed");
      log.warn("project poll failed", { project, nextInMs: Math.round(waitMs), error });
    }
  }
}

export function pollCounter(metrics: Metrics): CountPoll {
  const polls = metrics.counter("agent_polls_total", "Polls of a project by outcome.", {
    source: sources,
    outcome: ["polled", "failed"],
  });
  return (source, outcome) => polls.with({ source, outcome }).inc();
}
