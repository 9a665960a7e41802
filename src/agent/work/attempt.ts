import type { Lease } from "../../coordination/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Pause } from "../../policy/index.ts";
import type { CodingTask, CodingTaskSpec } from "../../resources/index.ts";
import type { TaskIntake } from "../../tasks/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Clock, Random } from "../../time/index.ts";
import type { Coder } from "../coder/coder.ts";
import type { Workshop } from "../git/workshop.ts";
import type { GitLab, MergeRequestRef } from "../gitlab/gitlab.ts";
import type { Jira } from "../jira/jira.ts";
import type { Settings } from "../settings.ts";
import type { Conversation } from "./conversation.ts";
import type { TaskProgress } from "./progress.ts";
import type { Redact } from "./redacted.ts";

/** The dependencies of an attempt. */
export interface AttemptDeps {
  readonly client: KubeClient;
  readonly gitlab: GitLab;
  /** Undefined: Jira is not configured. */
  readonly jira: Jira | undefined;
  readonly workshop: Workshop;
  readonly coder: Coder;
  readonly settings: Settings;
  /** Creates tasks that follow from this one. */
  readonly intake: TaskIntake;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Removes secrets from text that people read. */
  readonly redact: Redact;
  /** All active pauses, whatever they cover. */
  pauses(): readonly Pause[];
  /** Every task of the same merge request or issue. */
  relatedTasks(task: CodingTask): readonly CodingTask[];
}

/** One attempt at a task, under its lock. */
export interface Attempt<S extends CodingTaskSpec = CodingTaskSpec> extends AttemptDeps {
  readonly spec: S;
  readonly uid: string;
  readonly progress: TaskProgress;
  readonly lease: Lease;
  /** Aborts when the lock is lost, the task is cancelled or superseded, or the process stops. */
  readonly signal: AbortSignal;
}

/** One attempt at a task on a merge request. */
export interface MergeRequestAttempt<S extends SpecOf<"Review" | "Command"> = SpecOf<"Review" | "Command">>
  extends Attempt<S> {
  readonly conversation: Conversation;
}

export type ReviewAttempt = MergeRequestAttempt<SpecOf<"Review">>;
export type CommandAttempt = MergeRequestAttempt<SpecOf<"Command">>;
export type IssueAttempt = Attempt<SpecOf<"Issue">>;

export function mergeRequestRef({ project, mergeRequest }: SpecOf<"Review" | "Command">): MergeRequestRef {
  return { projectId: project.id, iid: mergeRequest.iid };
}

export type SpecOf<Type extends CodingTaskSpec["type"]> = Extract<CodingTaskSpec, { readonly type: Type }>;
