import { sleep } from "../../time/index.ts";
import { type End, failed } from "../end.ts";
import type { MergeRequest, Project } from "../gitlab/gitlab.ts";
import type { Jira, JiraComment, JiraIssue } from "../jira/jira.ts";
import { plainMarkers, withoutMarks } from "../markers.ts";
import { isRemoteError } from "../remote-error.ts";
import type { IssueAttempt, SpecOf } from "../work/attempt.ts";
import { changeBranch } from "./change-branch.ts";

/** Solves an issue: a branch, a commit, a merge request; the issue says where it stands and moves on with it. */
export async function issue(attempt: IssueAttempt): Promise<End> {
  const { spec, gitlab, jira, signal, settings } = attempt;
  if (!jira) return failed("NoJira", "no Jira is set up here: set jira.url and its credentials");
  const found = await jira.issue(spec.issue.key, signal);
  const refusal = await begin(attempt, jira, found);
  if (refusal) return refusal;

  await comment(attempt, "Working on it.");
  const project = await gitlab.project(spec.project.id, signal);
  const outcome = await changeBranch(attempt, orderOf(spec, found, project));
  if (outcome.kind === "failed") return outcome;
  if (outcome.kind === "nothing") {
    await comment(attempt, `Agent found no changes to make.\n\n${outcome.summary}`);
    return { kind: "completed", message: "no file had to change" };
  }

  const { iid = "", url = "" } = await attempt.journal.step("merge-request", async () => {
    const { iid, webUrl } = await openMergeRequest(attempt, found, outcome.summary);
    return { iid: String(iid), url: webUrl };
  });
  await comment(attempt, `Merge request: ${url}\n\n${outcome.summary}`);
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

/** Moves the issue to where it says that somebody works on it. That we are about to is written down first. */
async function begin(attempt: IssueAttempt, jira: Jira, { status, statusSince }: JiraIssue): Promise<End | undefined> {
  const { spec, journal, settings, signal } = attempt;
  const { trigger, inProgress } = settings.statusesOf(spec.issue.key);
  // All that is left is to say so; it may have moved on already.
  if (journal.resultOf("merge-request")) return undefined;
  const isBegun = journal.resultOf("begin") !== undefined;
  const isOurs = isBegun && sameWord(status, inProgress);
  const isAsked = sameWord(status, trigger) && Date.parse(statusSince) <= Date.parse(spec.issue.since);
  if (!isOurs && !isAsked) {
    return { kind: "cancelled", message: `the issue stands in ${status} by now`, isQuiet: !isBegun };
  }

  await journal.step("begin", async () => ({ from: status }));
  const moved = await jira.moveTo(spec.issue.key, inProgress, signal);
  if (moved.kind === "moved") return undefined;
  const reachable = moved.reachable.join(", ") || "nothing";
  return failed("TransitionMissing", `no transition leads from ${moved.from} to ${inProgress}, only to ${reachable}`);
}

function orderOf({ branch, targetBranch, issue }: SpecOf<"Issue">, found: JiraIssue, project: Project) {
  const { key, summary, description } = found;
  return {
    repository: { projectId: project.id, cloneUrl: project.cloneUrl },
    branch,
    from: targetBranch,
    title: titleOf(issue.key, summary),
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
  const { spec, gitlab, settings, signal, clock } = attempt;
  const draft = {
    sourceBranch: spec.branch,
    targetBranch: spec.targetBranch,
    title: `${settings.draftMergeRequests ? "Draft: " : ""}${titleOf(found.key, found.summary)}`,
    description: `${withoutMarks(summary)}\n\nFor [${found.key}](${found.webUrl}).`,
  };
  for (let tries = 1; ; tries++) {
    try {
      // One branch has one open merge request: asking again finds the one that is there.
      return await gitlab.createMergeRequest(spec.project.id, draft, signal);
    } catch (error) {
      if (!isRemoteError(error, "unavailable") || tries === 3) throw error;
      await sleep(clock, 1_000, signal);
    }
  }
}

/** One comment per task, changed as the work goes on. */
export async function comment({ spec, uid, jira, signal }: IssueAttempt, text: string): Promise<void> {
  if (!jira) return;
  const { key } = spec.issue;
  const mark = plainMarkers.answer(uid);
  const body = `${text}\n\n${mark}`;
  const selfId = await jira.self(signal);
  const isOurs = ({ authorId, text }: JiraComment) => authorId === selfId && text.includes(mark);
  const [first, ...doubles] = (await jira.comments(key, signal)).filter(isOurs);
  if (first) await jira.changeComment(key, first.id, body, signal);
  else await jira.addComment(key, body, signal);
  // A request of a holder that lost its lock may arrive late. Not every account may delete what it said, though.
  for (const { id } of doubles) await jira.deleteComment(key, id, signal).catch(unlessRefused);
}

function unlessRefused(error: unknown): void {
  if (!isRemoteError(error, "refused") && !isRemoteError(error, "denied")) throw error;
}

function titleOf(key: string, summary: string): string {
  return `feat(${key}): ${summary.replace(/\s+/g, " ").trim()}`.slice(0, 200);
}

function sameWord(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}
