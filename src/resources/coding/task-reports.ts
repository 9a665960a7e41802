import { parseDirective } from "./directive.ts";
import type { TaskDraft } from "./draft-task.ts";
import { claimKeys } from "./keys.ts";

/** A merge request, as webhooks and lists both tell of it. */
export interface ReportedMergeRequest {
  readonly iid: number;
  readonly isOpen: boolean;
  readonly isDraft: boolean;
  readonly labels: readonly string[];
  /** Undefined until the first commit is there. */
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

/** Which reports become tasks. */
export interface ReportRules {
  /** Our own name on GitLab. */
  readonly username?: string | undefined;
  readonly reviewDrafts: boolean;
  /** Merge requests with one of them are not reviewed. Case does not count. */
  readonly skipLabels: readonly string[];
  /** Merge requests without any of them are not reviewed, if there are any. Case does not count. */
  readonly requiredLabels?: readonly string[] | undefined;
}

/** How we heard of it. */
export interface ReportOrigin {
  readonly project: TaskDraft["project"];
  readonly source: "webhook" | "poll";
  readonly receivedTime: string;
  /** Who did it, if that is known. */
  readonly requestedBy?: string | undefined;
}

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

/** What came of a report. `because` is for people. */
export type ReportOutcome =
  | { readonly kind: "task"; readonly draft: TaskDraft }
  | { readonly kind: "ignored"; readonly reason: IgnoreReason; readonly because: string };

/** Whether the head of a merge request is to be reviewed. */
export function reviewOf(
  mergeRequest: ReportedMergeRequest,
  origin: ReportOrigin,
  { reviewDrafts, skipLabels, requiredLabels = [] }: ReportRules,
): ReportOutcome {
  const { isOpen, isDraft, labels, headSha } = mergeRequest;
  const label = labels.find((label) => isOneOf(label, skipLabels));
  const isLabelMissing = requiredLabels.length > 0 && !labels.some((label) => isOneOf(label, requiredLabels));
  if (!isOpen) return ignored("NotOpen", "the merge request is not open");
  if (isDraft && !reviewDrafts) return ignored("Draft", "it is a draft, and gitlab.reviewDrafts is false");
  if (label !== undefined) return ignored("Label", `it has the label ${label}, which is one of gitlab.skipLabels`);
  if (isLabelMissing) {
    const wanted = requiredLabels.join(", ");
    return ignored("LabelMissing", `label missing: it has none of gitlab.requiredLabels (${wanted})`);
  }
  if (headSha === undefined) return ignored("NoCommit", "it has no commit yet");

  const { project } = origin;
  const claimKey = claimKeys.review({ host: project.host, projectId: project.id, iid: mergeRequest.iid }, headSha);
  return {
    kind: "task",
    draft: { type: "Review", ...common(origin), claimKey, mergeRequest: placeOf(mergeRequest, headSha, project.id) },
  };
}

/** Whether a comment tells us to do something. Whether its author may is looked up when it is done. */
export function commandOf(
  note: ReportedNote,
  mergeRequest: ReportedMergeRequest,
  origin: ReportOrigin,
  { username }: ReportRules,
): ReportOutcome {
  const { project } = origin;
  if (note.isSystem) return ignored("SystemNote", "GitLab wrote it");
  if (username && note.author.username.toLowerCase() === username.toLowerCase()) {
    return ignored("OwnNote", "we wrote it");
  }
  const body = clipped(note.body);
  const directive = parseDirective(body, username);
  if (!directive) return ignored("NotForUs", "it neither begins with /copilot nor names the agent");
  if (mergeRequest.headSha === undefined) return ignored("NoCommit", "its merge request has no commit yet");

  const place = { host: project.host, projectId: project.id, iid: mergeRequest.iid };
  return {
    kind: "task",
    draft: {
      type: "Command",
      ...common({ ...origin, requestedBy: note.author.username }),
      claimKey: claimKeys.note(place, note.id),
      mergeRequest: placeOf(mergeRequest, mergeRequest.headSha, project.id),
      note: {
        id: note.id,
        ...(note.discussionId ? { discussionId: note.discussionId } : {}),
        authorId: note.author.id,
        body,
        ...directive,
      },
    },
  };
}

/** Whether a label is one of those. Case does not count. */
export function isOneOf(label: string, labels: readonly string[]): boolean {
  return labels.some((one) => one.toLowerCase() === label.toLowerCase());
}

export function ignored(reason: IgnoreReason, because: string): Extract<ReportOutcome, { kind: "ignored" }> {
  return { kind: "ignored", reason, because };
}

function common({ project, source, receivedTime, requestedBy }: ReportOrigin) {
  return { project, source, receivedTime, ...(requestedBy ? { requestedBy } : {}) };
}

function placeOf(
  { iid, sourceBranch, targetBranch, sourceProjectId }: ReportedMergeRequest,
  headSha: string,
  projectId: number,
) {
  const fork = sourceProjectId === projectId ? {} : { sourceProjectId };
  return { iid, headSha, sourceBranch, targetBranch, ...fork };
}

/** As long as a task takes it, and never with half a character at its end. GitLab allows a million of them. */
function clipped(text: string): string {
  return text.slice(0, 65_536).replace(/\p{Surrogate}/gu, "\ufffd");
}
