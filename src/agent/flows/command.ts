import { type End, type Failed, failed } from "../end.ts";
import type { Discussion, MergeRequest, Note } from "../gitlab/gitlab.ts";
import { markers, withoutMarks } from "../markers.ts";
import { type CommandAttempt, mergeRequestRef } from "../work/attempt.ts";
import { postOrChange } from "../work/post-once.ts";
import { type BranchOutcome, changeBranch } from "./change-branch.ts";
import { whyNotServed } from "./why-not-served.ts";

/** Does what a comment asks for: changes the branch of its merge request, or answers. One reply says how it went. */
export async function command(attempt: CommandAttempt): Promise<End> {
  const { spec, gitlab, conversation, signal } = attempt;
  const [mergeRequest, discussions] = await Promise.all([
    gitlab.mergeRequest(mergeRequestRef(spec), signal),
    conversation.discussions(signal),
  ]);
  const refusal = await whyNot(attempt, mergeRequest, discussions);
  if (refusal) return refusal;

  await reply(attempt, "⏳ Working on it.");
  const outcome = await change(attempt, mergeRequest, discussions);
  if (outcome.kind === "failed") return outcome;
  const text = answerOf(outcome, mergeRequest);
  await reply(attempt, text);
  if (outcome.kind === "nothing") return { kind: "completed", message: "no file had to change" };
  const result = { summary: outcome.summary, branch: mergeRequest.sourceBranch, commitSha: outcome.sha };
  return { kind: "completed", message: `pushed ${outcome.sha.slice(0, 8)} to ${mergeRequest.sourceBranch}`, result };
}

/** Posts the task's one reply below the comment, or changes it. */
export async function reply(attempt: CommandAttempt, text: string): Promise<void> {
  const { spec, uid, conversation, signal } = attempt;
  const discussionId = spec.note.discussionId ?? threadOf(attempt, await conversation.discussions(signal))?.id;
  const mark = markers.answer(uid);
  await postOrChange(attempt, { mark, body: text, ...(discussionId === undefined ? {} : { discussionId }) });
}

/** Why a comment is not acted on. Access is looked up first: what others write gets no reply. */
export async function whyNot(
  attempt: CommandAttempt,
  mergeRequest: MergeRequest,
  discussions: readonly Discussion[],
): Promise<End | undefined> {
  const { spec, gitlab, signal, journal } = attempt;
  const note = noteOf(attempt, discussions);
  if (!note) {
    // A reply of an earlier try must not go on saying that somebody is at work.
    const isQuiet = (journal.task.status?.attempts ?? 0) <= 1;
    return { kind: "cancelled", message: "the comment was deleted", isQuiet };
  }
  const { id: selfId } = await gitlab.self(signal);
  if (note.author.id === selfId) return { kind: "cancelled", message: "it is our own comment", isQuiet: true };
  // The author as GitLab names them, whatever the webhook claimed.
  const refusal = await whyNotServed(attempt, mergeRequest, { user: note.author, isRequested: true });
  if (refusal) return refusal;
  const { state } = mergeRequest;
  if (state !== "opened") return failed("NotOpen", `the merge request is ${state}: reopen it, then ask again`);
  return spec.note.verb === "do" ? whyForkMoved(attempt, mergeRequest, note) : undefined;
}

/**
 * A member who asks for something on a fork has read the commits that were there. Its owner may push others at any time,
 * and those are not served before a member asks again.
 */
export async function whyForkMoved(
  { spec, gitlab, signal, journal }: CommandAttempt,
  { sourceProjectId, headSha }: MergeRequest,
  note: Note,
): Promise<Failed | undefined> {
  if (sourceProjectId === spec.project.id || journal.resultOf(forkHead)) return undefined;
  const changes = await gitlab.changes(mergeRequestRef(spec), signal);
  if (!changes || changes.refs.headSha !== headSha) {
    return failed("ChangesMissing", "GitLab has not worked out what the merge request changes", true);
  }
  if (Date.parse(changes.createdAt) < Date.parse(note.createdAt)) {
    // Remembered: a later try must not take what was pushed meanwhile, by us or by others, for what the member read.
    await journal.record(forkHead, { sha: changes.refs.headSha });
    return undefined;
  }
  const message = `the fork has new commits since this was asked (${headSha?.slice(0, 8)}): read them, then ask again`;
  return failed("ForkMoved", message);
}

/** The step that remembers which commit of a fork a member has asked about. */
const forkHead = "fork-head";

/** The comment as it is on GitLab now; undefined: it was deleted. */
export function noteOf({ spec }: CommandAttempt, discussions: readonly Discussion[]): Note | undefined {
  return discussions.flatMap(({ notes }) => notes).find(({ id }) => id === spec.note.id);
}

async function change(
  attempt: CommandAttempt,
  mergeRequest: MergeRequest,
  discussions: readonly Discussion[],
): Promise<BranchOutcome> {
  const { spec, gitlab, signal } = attempt;
  const { title, description, sourceBranch, targetBranch, sourceProjectId } = mergeRequest;
  const project = await gitlab.project(sourceProjectId, signal);
  const thread = threadOf(attempt, discussions)?.notes ?? [];
  const { instruction, id } = spec.note;
  return changeBranch(attempt, {
    repository: { projectId: project.id, cloneUrl: project.cloneUrl },
    branch: sourceBranch,
    whyNotPush: () => whyNotPush(attempt, mergeRequest, discussions),
    onlyAt: attempt.journal.resultOf(forkHead)?.["sha"],
    title: `fix: ${firstLine(instruction).slice(0, 50)}`,
    request: {
      version: 1,
      kind: "edit",
      project: { path: project.path, url: project.webUrl },
      instruction,
      mergeRequest: { title, description, sourceBranch, targetBranch },
      thread: thread
        .filter((note) => note.id < id && !note.system)
        .map(({ author, body }) => ({ author: author.username, text: body })),
    },
  });
}

/** The author may have been removed while the coder worked. The reply announced the work, so it also gets the end. */
async function whyNotPush(
  attempt: CommandAttempt,
  mergeRequest: MergeRequest,
  discussions: readonly Discussion[],
): Promise<Failed | undefined> {
  const user = noteOf(attempt, discussions)?.author ?? { id: 0, username: "" };
  const refusal = await whyNotServed(attempt, mergeRequest, { user, isRequested: true });
  if (!refusal) return undefined;
  if (refusal.kind === "failed") return { ...refusal, isQuiet: false };
  return failed((refusal.kind === "cancelled" && refusal.reason) || "NotServed", refusal.message);
}

function threadOf({ spec }: CommandAttempt, discussions: readonly Discussion[]): Discussion | undefined {
  return discussions.find(({ notes }) => notes.some(({ id }) => id === spec.note.id));
}

function answerOf(outcome: Exclude<BranchOutcome, { kind: "failed" }>, { sourceBranch }: MergeRequest): string {
  const summary = withoutMarks(outcome.summary);
  if (outcome.kind === "nothing") return `ℹ️ No file changes needed.\n\n${summary}`;
  return `✅ Changes pushed to \`${sourceBranch}\`: ${outcome.sha}\n\n${summary}`;
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
