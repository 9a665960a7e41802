import { type Beginning, keyOf, openWatermark, type Watermark, type WatermarkStore } from "../../coordination/index.ts";
import type { ReportRules } from "../../tasks/index.ts";
import { ItemIntake } from "./item-intake.ts";
import { touchThrottleMs } from "./notes-memory.ts";
import { type PollerOptions, pollAsLeader, pollProjects } from "./poll-loop.ts";
import { ProjectPoll } from "./project-poll.ts";

export interface GitLabPollerOptions extends PollerOptions {
  /** Paths or ids. */
  readonly projects: readonly string[];
  /** The user name is read from GitLab unless it is given. */
  readonly rules: ReportRules;
  /** Where the first poll of a project starts. */
  readonly from: Beginning;
  /** How late an item may become visible. */
  readonly overlapMs: number;
  readonly watermarks: WatermarkStore;
  /** Observes the watermarks as they move. */
  readonly observe: (watermark: Watermark, serverDate: Date) => Watermark;
}

/** Polls the projects of GitLab until `signal` aborts, in one process at a time. */
export async function pollGitLab(options: GitLabPollerOptions): Promise<void> {
  const term = ({ fence }: { readonly fence: bigint }, signal: AbortSignal) => pollAll(options, fence, signal);
  await pollAsLeader("gitlab", options.gitlab.host, term, options);
}

/** One term of the leader. */
export async function pollAll(options: GitLabPollerOptions, fence: bigint, signal: AbortSignal): Promise<void> {
  const { gitlab, intake, log } = options;
  const username = options.rules.username ?? (await gitlab.self(signal)).username;
  const term = { ...options, rules: { ...options.rules, username }, fence, items: new ItemIntake(intake, log) };
  const projects = new Map(options.projects.map((name) => [name, projectPoller(name, term)]));
  const end = await pollProjects("gitlab", projects, options, signal);
  if (end === "superseded") log.warn("gitlab polling superseded", { fence });
}

interface Term extends GitLabPollerOptions {
  readonly fence: bigint;
  readonly items: ItemIntake;
}

/** The project is opened by its first poll: if that fails, the next poll opens it. */
function projectPoller(name: string, term: Term) {
  let project: ProjectPoll | undefined;
  return async (signal: AbortSignal) => {
    project ??= await openProject(name, term, signal);
    return project.poll(signal);
  };
}

async function openProject(name: string, term: Term, signal: AbortSignal): Promise<ProjectPoll> {
  const { gitlab, watermarks, from, overlapMs, fence, clock, observe } = term;
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
  return new ProjectPoll({ ...term, project, mergeRequests, notes });
}
