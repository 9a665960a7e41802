import { parseDirective } from "./directive.ts";
import type {
  IgnoreReason,
  ReportedMergeRequest,
  ReportedNote,
  ReportOrigin,
  ReportOutcome,
  ReportRules,
} from "./report.ts";

/** Whether the head of a merge request is reviewed. */
export function reviewOutcome(
  mergeRequest: ReportedMergeRequest,
  origin: ReportOrigin,
  { reviewDrafts, skipLabels, requiredLabels = [] }: ReportRules,
): ReportOutcome {
  const { isOpen, isDraft, labels, headSha } = mergeRequest;
  const label = labels.find((label) => isListedLabel(label, skipLabels));
  const isLabelMissing = requiredLabels.length > 0 && !labels.some((label) => isListedLabel(label, requiredLabels));
  if (!isOpen) return ignoredOutcome("NotOpen", "the merge request is not open");
  if (isDraft && !reviewDrafts) return ignoredOutcome("Draft", "it is a draft, and gitlab.reviewDrafts is false");
  if (label !== undefined)
    return ignoredOutcome("Label", `it has the label ${label}, which is one of gitlab.skipLabels`);
  if (isLabelMissing) {
    const wanted = requiredLabels.join(", ");
    return ignoredOutcome("LabelMissing", `label missing: it has none of gitlab.requiredLabels (${wanted})`);
  }
  if (headSha === undefined) return ignoredOutcome("NoCommit", "it has no commit yet");

  const { project } = origin;
  const claimKey = claimKeys.review({ host: project.host, projectId: project.id, iid: mergeRequest.iid }, headSha);
  return {
    kind: "task",
    draft: {
      type: "Review",
      ...originFields(origin),
      claimKey,
      mergeRequest: mergeRequestFields(mergeRequest, headSha, project.id),
    },
  };
}

/** Whether a comment is a command to the agent. The access of its author is checked when the task is worked on. */
export function commandOutcome(
  note: ReportedNote,
  mergeRequest: ReportedMergeRequest,
  origin: ReportOrigin,
  { username }: ReportRules,
): ReportOutcome {
  const { project } = origin;
  if (note.isSystem) return ignoredOutcome("SystemNote", "GitLab wrote it");
  if (username && note.author.username.toLowerCase() === username.toLowerCase()) {
    return ignoredOutcome("OwnNote", "we wrote it");
  }
  const body = clip(note.body);
  const directive = parseDirective(body, username);
  if (!directive) return ignoredOutcome("NotForUs", "it neither starts with /copilot nor mentions the agent");
  if (mergeRequest.headSha === undefined) return ignoredOutcome("NoCommit", "its merge request has no commit yet");

  const key = { host: project.host, projectId: project.id, iid: mergeRequest.iid };
  return {
    kind: "task",
    draft: {
      type: "Command",
      ...originFields({ ...origin, requestedBy: note.author.username }),
      claimKey: claimKeys.note(key, note.id),
      mergeRequest: mergeRequestFields(mergeRequest, mergeRequest.headSha, project.id),
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

/** Whether the list has the label. Case is ignored. */
export function isListedLabel(label: string, labels: readonly string[]): boolean {
  return labels.some((one) => one.toLowerCase() === label.toLowerCase());
}

export function ignoredOutcome(reason: IgnoreReason, because: string): Extract<ReportOutcome, { kind: "ignored" }> {
  return { kind: "ignored", reason, because };
}

function originFields({ project, source, receivedTime, requestedBy }: ReportOrigin) {
  return { project, source, receivedTime, ...(requestedBy ? { requestedBy } : {}) };
}

function mergeRequestFields(
  { iid, sourceBranch, targetBranch, sourceProjectId }: ReportedMergeRequest,
  headSha: string,
  projectId: number,
) {
  const fork = sourceProjectId === projectId ? {} : { sourceProjectId };
  return { iid, headSha, sourceBranch, targetBranch, ...fork };
}

/** The longest text that the schema of a task accepts, without half a character at its end. GitLab allows a million. */
function clip(text: string): string {
  return text.slice(0, 65_536).replace(/\p{Surrogate}/gu, "\ufffd");
}

/** Identifies a merge request on GitLab. */
interface MergeRequestKey {
  readonly host: string;
  readonly projectId: number;
  readonly iid: number;
}

/**
 * The keys that are the same for all reports of one item, from a webhook or a poll. A key of a repetition continues the key of
 * the first task, not of the last one: the length of a key is limited.
 */
export const claimKeys = {
  review: ({ host, projectId, iid }: MergeRequestKey, headSha: string) =>
    `review:${host}:${projectId}:${iid}:${headSha}`,
  /** A review that a user requested is repeated, once per request. */
  reviewAgain: (key: MergeRequestKey, headSha: string, noteId: number) => `${claimKeys.review(key, headSha)}:${noteId}`,
  note: ({ host, projectId, iid }: MergeRequestKey, noteId: number) => `note:${host}:${projectId}:${iid}:${noteId}`,
  /** `since`: when the issue entered the trigger status. An issue that is moved back there is a new task. */
  issue: (site: string, key: string, since: string) => `jira:${site}:${key}:${since}`,
  /** A failed task is retried once per request. */
  retry: (claimKey: string, noteId: number) =>
    `${claimKey.replace(/(:retry:\d+|:after:[\w-]+)+$/, "")}:retry:${noteId}`,
  /** A review whose commit is the head again. `uid`: the superseded review. */
  after: (claimKey: string, uid: string) => `${claimKey}:after:${uid}`,
} as const;
