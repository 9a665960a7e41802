import { cleanCommitMessage } from "../coder/clean-text.ts";
import { type End, failedEnd } from "../end.ts";
import type { MergeRequest, Project } from "../gitlab/gitlab.ts";
import { isSameStatus, type Jira, type JiraComment, type JiraIssue } from "../jira/jira.ts";
import { markers } from "../markers.ts";
import { toNoteText } from "../note-text.ts";
import { isRemoteError } from "../remote-error.ts";
import type { IssueAttempt, SpecOf } from "../work/attempt.ts";
import { changeBranch } from "./change-branch.ts";

/** Solves an issue with a branch, a commit and a merge request, and moves the issue through its statuses. */
export async function runIssue(attempt: IssueAttempt): Promise<End> {
  const { spec, gitlab, jira, signal, settings } = attempt;
  if (!jira) return failedEnd("NoJira", "Jira is not configured: set jira.url and its credentials");
  const found = await jira.issue(spec.issue.key, signal);
  const refusal = await beginWork(attempt, jira, found);
  if (refusal) return refusal;

  await postComment(attempt, "Working on it.");
  const project = await gitlab.project(spec.project.id, signal);
  const outcome = await changeBranch(attempt, toBranchOrder(spec, found, project));
  if (outcome.kind === "failed") return outcome;
  if (outcome.kind === "nothing") {
    await postComment(attempt, `The agent found no changes to make.\n\n${outcome.summary}`);
    return { kind: "completed", message: "no file changes needed" };
  }

  const { iid = "", url = "" } = await attempt.progress.step("merge-request", async () => {
    const { iid, webUrl } = await openMergeRequest(attempt, found, outcome.summary);
    return { iid: String(iid), url: webUrl };
  });
  await postComment(attempt, `Merge request: ${url}\n\n${outcome.summary}`);
  const { inReview } = settings.statusesOf(spec.issue.key);
  const moved = await jira.moveTo(spec.issue.key, inReview, signal);
  const message = `merge request !${iid} is open`;
  return {
    kind: "completed",
    message: moved.kind === "moved" ? message : `${message}; the issue cannot move from ${moved.from} to ${inReview}`,
    result: {
      summary: outcome.summary,
      branch: spec.branch,
      commitSha: outcome.sha,
      mergeRequestIid: Number(iid),
      mergeRequestUrl: url,
    },
  };
}

/** Moves the issue to its status for work in progress. The intention is recorded first. */
async function beginWork(
  attempt: IssueAttempt,
  jira: Jira,
  { status, statusSince }: JiraIssue,
): Promise<End | undefined> {
  const { spec, progress, settings, signal } = attempt;
  const { trigger, inProgress } = settings.statusesOf(spec.issue.key);
  // Only the reports are left, and the issue may have been moved since.
  if (progress.resultOf("merge-request")) return undefined;
  const isBegun = progress.resultOf("begin") !== undefined;
  const isOurs = isBegun && isSameStatus(status, inProgress);
  const isAsked = isSameStatus(status, trigger) && Date.parse(statusSince) <= Date.parse(spec.issue.since);
  if (!isOurs && !isAsked) {
    return { kind: "cancelled", message: `the issue has moved to ${status}`, isQuiet: !isBegun };
  }

  await progress.step("begin", async () => ({ from: status }));
  const moved = await jira.moveTo(spec.issue.key, inProgress, signal);
  if (moved.kind === "moved") return undefined;
  const reachable = moved.reachable.join(", ") || "nothing";
  return failedEnd(
    "TransitionMissing",
    `no transition leads from ${moved.from} to ${inProgress}, only to ${reachable}`,
  );
}

function toBranchOrder({ branch, targetBranch, issue }: SpecOf<"Issue">, found: JiraIssue, project: Project) {
  const { key, summary, description } = found;
  return {
    repository: { projectId: project.id, cloneUrl: project.cloneUrl },
    branch,
    from: targetBranch,
    title: commitTitle(issue.key, summary),
    request: {
      version: 1,
      kind: "edit",
      project: { path: project.path, url: project.webUrl },
      instruction: `Solve the issue ${key}: ${summary}`,
      issue: { key, summary, description },
    },
  } as const;
}

async function openMergeRequest(attempt: IssueAttempt, found: JiraIssue, summary: string): Promise<MergeRequest> {
  const { spec, gitlab, settings, signal } = attempt;
  const draft = {
    sourceBranch: spec.branch,
    targetBranch: spec.targetBranch,
    title: `${settings.draftMergeRequests ? "Draft: " : ""}${toNoteText(commitTitle(found.key, found.summary))}`,
    description: `${toNoteText(summary)}\n\nFor [${found.key}](${found.webUrl}).`,
  };
  // A branch has at most one open merge request: the next attempt gets the existing one if the response is lost.
  return gitlab.createMergeRequest(spec.project.id, draft, signal);
}

/** Each task has one comment, which is changed as the work proceeds. */
export async function postComment({ spec, uid, jira, signal }: IssueAttempt, text: string): Promise<void> {
  if (!jira) return;
  const { key } = spec.issue;
  const mark = markers.jiraAnswer(uid);
  const body = `${text}\n\n${mark}`;
  const selfId = await jira.self(signal);
  const isOurs = ({ authorId, text }: JiraComment) => authorId === selfId && text.includes(mark);
  const [first, ...doubles] = (await jira.comments(key, signal)).filter(isOurs);
  if (first) await jira.changeComment(key, first.id, body, signal);
  else await jira.addComment(key, body, signal);
  // A late request of a former lock holder may have added another. Some accounts may not delete comments.
  for (const { id } of doubles) await jira.deleteComment(key, id, signal).catch(ignoreRefusal);
}

function ignoreRefusal(error: unknown): void {
  if (!isRemoteError(error, "refused") && !isRemoteError(error, "denied")) throw error;
}

function commitTitle(key: string, summary: string): string {
  return cleanCommitMessage(`feat(${key}): ${summary.replace(/\s+/g, " ").trim()}`, 200, []);
}
