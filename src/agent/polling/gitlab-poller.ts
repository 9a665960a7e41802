import { setMaxListeners } from "node:events";
import {
  type Beginning,
  keyOf,
  type LeaderWork,
  type Locks,
  openWatermark,
  runAsLeader,
  type Watermark,
  type WatermarkStore,
} from "../../coordination/index.ts";
import type { ReportRules, TaskIntake } from "../../tasks/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Clock, Random } from "../../time/index.ts";
import type { GitLab } from "../gitlab/gitlab.ts";
import { FailureCounter } from "./failure-counter.ts";
import { touchThrottleMs } from "./notes-memory.ts";
import type { PollMetrics } from "./poll-loop.ts";
import { pollRepeatedly } from "./poll-loop.ts";
import { ProjectPoll } from "./project-poll.ts";

export interface GitLabPollerOptions {
  readonly gitlab: GitLab;
  /** Paths or ids. */
  readonly projects: readonly string[];
  /** The user name is read from GitLab unless it is given. */
  readonly rules: ReportRules;
  readonly intervalMs: number;
  /** Where the first poll of a project starts. */
  readonly from: Beginning;
  /** How late an item may become visible. */
  readonly overlapMs: number;
  readonly intake: TaskIntake;
  readonly locks: Locks;
  readonly watermarks: WatermarkStore;
  /** Observes the watermarks as they move. */
  readonly observe: (watermark: Watermark, serverDate: Date) => Watermark;
  readonly metrics: PollMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Polls the projects until `signal` aborts, in one process at a time. One lock covers all of them: polling is cheap,
 * and a lease per project would cost more than it saves.
 */
export async function pollGitLab(options: GitLabPollerOptions): Promise<void> {
  const { gitlab, locks, clock, random, signal, log } = options;
  const work: LeaderWork = ({ fence }, signal) => pollAll(options, fence, signal);
  const failed = (error: unknown) => log.warn("gitlab polling failed", { error });
  const purpose = "poll GitLab";
  await runAsLeader(locks, keyOf("gitlab-poll", gitlab.host), work, {
    clock,
    random,
    signal,
    purpose,
    events: { failed },
  });
}

/** One term of the leader. Each project is polled by itself, so a failing one does not delay the others. */
export async function pollAll(options: GitLabPollerOptions, fence: bigint, signal: AbortSignal): Promise<void> {
  const { gitlab, projects, intervalMs, metrics, log, clock, random } = options;
  const username = options.rules.username ?? (await gitlab.self(signal)).username;
  const rules = { ...options.rules, username };
  const superseded = new AbortController();
  const either = AbortSignal.any([signal, superseded.signal]);
  // Every project listens to this signal, and more than ten listeners are not a leak.
  setMaxListeners(0, either);
  const failureCounter = new FailureCounter(log);
  await Promise.all(
    projects.map(async (name, i) => {
      let project: ProjectPoll | undefined;
      const poll = async (signal: AbortSignal) => {
        project ??= await openProject(name, { ...options, rules }, { fence, failureCounter, signal });
        return project.poll(signal);
      };
      const end = await pollRepeatedly(poll, {
        clock,
        random,
        signal: either,
        intervalMs,
        firstInMs: (i * intervalMs) / projects.length,
        polled: () => metrics.polled("gitlab"),
        failed(error, nextInMs) {
          metrics.failed("gitlab");
          log.warn("project poll failed", { project: name, nextInMs: Math.round(nextInMs), error });
        },
      });
      if (end === "superseded") superseded.abort();
    }),
  );
  if (superseded.signal.aborted && !signal.aborted) log.warn("gitlab polling superseded", { fence });
}

interface Term {
  readonly fence: bigint;
  readonly failureCounter: FailureCounter;
  readonly signal: AbortSignal;
}

async function openProject(
  name: string,
  options: GitLabPollerOptions,
  { fence, failureCounter, signal }: Term,
): Promise<ProjectPoll> {
  const { gitlab, watermarks, from, overlapMs, clock, observe } = options;
  const project = await gitlab.project(name, signal);
  // Only GitLab's clock counts here, and every list carries it.
  const none = { from: new Date(clock.wallMs()).toISOString(), limit: 1 };
  const { serverDate } = await gitlab.mergeRequestsSince(project.id, none, signal);
  const open = async (kind: string, aheadMs: number) => {
    // A watermark ahead by this much makes the first query start now: older items stay as they are.
    const begin = new Date(serverDate.getTime() + aheadMs);
    const key = keyOf("gitlab", gitlab.host, project.id, kind);
    return observe(await openWatermark(watermarks, key, { from, serverDate: begin, overlapMs, fence }), serverDate);
  };
  const mergeRequests = await open("mrs", overlapMs + touchThrottleMs);
  const notes = await open("notes", overlapMs);
  return new ProjectPoll({ ...options, project, mergeRequests, notes, failureCounter });
}
