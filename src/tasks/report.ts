import type { TaskDraft } from "./draft-task.ts";

/** Port: reads the payload of a webhook. Pure, and returns an ignored report for a payload it cannot read. */
export interface TaskReader {
  read(body: unknown, receivedAt: string): TaskReport;
}

/** One webhook: the object it reports on, and whether that becomes a task. */
export interface TaskReport {
  /** The metric label. */
  readonly object: (typeof reportedObjects)[number];
  readonly outcome: ReportOutcome;
  /** The facts for the ledger, as far as the payload has them. */
  readonly subject?: ReportSubject;
}

export const reportedObjects = ["merge_request", "note", "other"] as const;

/** Whether a report becomes a task. `because` is shown to people. */
export type ReportOutcome =
  | { readonly kind: "task"; readonly draft: TaskDraft }
  | { readonly kind: "ignored"; readonly reason: IgnoreReason; readonly because: string };

export const ignoreReasons = [
  "Unreadable",
  "NotHandled",
  "ProjectNotAllowed",
  "Draft",
  "Label",
  "LabelMissing",
  "NotOpen",
  "NoCommit",
  "NoNewCommits",
  "SystemNote",
  "OwnNote",
  "EditedNote",
  "NotForUs",
] as const;
export type IgnoreReason = (typeof ignoreReasons)[number];

/** The merge request, comment or issue of a report. */
export interface ReportSubject {
  readonly object: "merge_request" | "note" | "issue";
  readonly project?: { readonly host: string; readonly id: number; readonly path: string } | undefined;
  /** Number of the merge request. */
  readonly iid?: number | undefined;
  readonly headSha?: string | undefined;
  readonly noteId?: number | undefined;
  /** Key of the issue. */
  readonly issue?: string | undefined;
  readonly author?: string | undefined;
}

/** The name that people use: `gitlab.example.com/group/app!7`, or the key of an issue. */
export function subjectName({ project, iid, issue }: ReportSubject): string | undefined {
  if (issue !== undefined) return issue;
  return project === undefined || iid === undefined ? undefined : `${project.host}/${project.path}!${iid}`;
}

/** A merge request, as both a webhook and a poll report it. */
export interface ReportedMergeRequest {
  readonly iid: number;
  readonly isOpen: boolean;
  readonly isDraft: boolean;
  readonly labels: readonly string[];
  /** Undefined until the merge request has its first commit. */
  readonly headSha: string | undefined;
  readonly sourceBranch: string;
  readonly targetBranch: string;
  readonly sourceProjectId: number;
}

/** A comment on a merge request. */
export interface ReportedNote {
  readonly id: number;
  readonly discussionId?: string | undefined;
  readonly author: { readonly id: number; readonly username: string };
  readonly body: string;
  /** GitLab wrote it. */
  readonly isSystem: boolean;
}

/** The settings that decide which reports become tasks. */
export interface ReportRules {
  /** The agent's user name on GitLab. */
  readonly username?: string | undefined;
  readonly reviewDrafts: boolean;
  /** Merge requests with one of these labels are not reviewed. Case is ignored. */
  readonly skipLabels: readonly string[];
  /** Unless empty, only merge requests with one of these labels are reviewed. Case is ignored. */
  readonly requiredLabels?: readonly string[] | undefined;
}

/** Where a report comes from. */
export interface ReportOrigin {
  readonly project: TaskDraft["project"];
  readonly source: "webhook" | "poll";
  readonly receivedTime: string;
  /** The user who caused it, if known. */
  readonly requestedBy?: string | undefined;
}
