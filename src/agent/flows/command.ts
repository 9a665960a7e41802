import { type Directive, parseDirective } from "../../tasks/index.ts";
import { type End, type Failed, failedEnd } from "../end.ts";
import type { Discussion, MergeRequest, Note } from "../gitlab/gitlab.ts";
import { type CommandAttempt, mergeRequestRef } from "../work/attempt.ts";
import { postAnswer } from "../work/post-once.ts";
import { type BranchOutcome, changeBranch } from "./change-branch.ts";
import { checkAccess } from "./check-access.ts";

/**
 * Carries out a comment: changes the branch of its merge request, or answers. One reply reports the progress and the
 * result.
 */
export async function runCommand(attempt: CommandAttempt): Promise<End> {
  const { spec, gitlab, conversation, signal } = attempt;
  const [mergeRequest, discussions] = await Promise.all([
    gitlab.mergeRequest(mergeRequestRef(spec), signal),
    conversation.discussions(signal),
  ]);
  const refusal = await findRefusal(attempt, mergeRequest, discussions);
  if (refusal) return refusal;

  await reply(attempt, "⏳ Working on it.");
  const outcome = await changeSourceBranch(attempt, mergeRequest, discussions);
  if (outcome.kind === "failed") return outcome;
  const text = replyText(outcome, mergeRequest);
  await reply(attempt, text);
  if (outcome.kind === "nothing") return { kind: "completed", message: "no file changes needed" };
  const result = { summary: outcome.summary, branch: mergeRequest.sourceBranch, commitSha: outcome.sha };
  return { kind: "completed", message: `pushed ${outcome.sha.slice(0, 8)} to ${mergeRequest.sourceBranch}`, result };
}

/** Posts the only reply of the task below the comment, or changes it. */
export async function reply(attempt: CommandAttempt, text: string): Promise<void> {
  const { spec, conversation, signal } = attempt;
  // The thread on GitLab comes first: a webhook can name another one, which more users can read.
  const discussionId = findThread(attempt, await conversation.discussions(signal))?.id ?? spec.note.discussionId;
  await postAnswer(attempt, text, discussionId);
}

/**
 * Returns why a comment is not acted on. Access is checked first: a comment of a user who is not served gets no reply.
 */
export async function findRefusal(
  attempt: CommandAttempt,
  mergeRequest: MergeRequest,
  discussions: readonly Discussion[],
): Promise<End | undefined> {
  const { spec, gitlab, signal, progress } = attempt;
  const note = findNote(attempt, discussions);
  if (!note) {
    return { kind: "cancelled", message: "the comment was deleted", isQuiet: progress.isFirstAttempt };
  }
  const { id: selfId } = await gitlab.self(signal);
  if (note.author.id === selfId) return { kind: "cancelled", message: "it is our own comment", isQuiet: true };
  // The author as GitLab reports it, not as the webhook does.
  const refusal = await checkAccess(attempt, mergeRequest, { user: note.author, isRequested: true });
  if (refusal) return refusal;
  const changed = await checkDirective(attempt, note);
  if (changed) return changed;
  const { state } = mergeRequest;
  if (state !== "opened") return failedEnd("NotOpen", `the merge request is ${state}: reopen it, then ask again`);
  return spec.note.verb === "do" ? checkForkHead(attempt, mergeRequest, note) : undefined;
}

/**
 * The comment as GitLab returns it has to be the command of the task. A sender who has the secret of the webhooks could
 * otherwise give commands in the name of each author of a comment.
 */
async function checkDirective(attempt: CommandAttempt, note: Note): Promise<End | undefined> {
  const { spec, progress } = attempt;
  const directive = await readDirective(attempt, note);
  if (directive?.verb === spec.note.verb) return undefined;
  const message = directive ? "the comment was changed: write a new one" : "the comment on GitLab is not a command";
  return { kind: "cancelled", message, isQuiet: progress.isFirstAttempt };
}

async function readDirective({ gitlab, settings, signal }: CommandAttempt, note: Note): Promise<Directive | undefined> {
  const { username } = settings.username === undefined ? await gitlab.self(signal) : settings;
  return parseDirective(note.body, username);
}

/**
 * A member who comments on a merge request from a fork has read its commits. The owner of the fork may push others at any
 * time; those are not served until a member comments again.
 */
export async function checkForkHead(
  { spec, gitlab, signal, progress }: CommandAttempt,
  { sourceProjectId, headSha }: MergeRequest,
  note: Note,
): Promise<Failed | undefined> {
  if (sourceProjectId === spec.project.id || progress.resultOf(forkHead)) return undefined;
  const changes = await gitlab.changes(mergeRequestRef(spec), signal);
  if (!changes || changes.refs.headSha !== headSha) {
    return failedEnd("ChangesMissing", "GitLab has not computed the changes of the merge request", true);
  }
  if (Date.parse(changes.createdAt) < Date.parse(note.createdAt)) {
    // Recorded, so that a later attempt does not accept commits that were pushed after the member asked.
    await progress.record(forkHead, { sha: changes.refs.headSha });
    return undefined;
  }
  const message = `the fork has new commits since the request (${headSha?.slice(0, 8)}): read them, then ask again`;
  return failedEnd("ForkMoved", message);
}

/** The step that records the fork's commit that a member asked about. */
const forkHead = "fork-head";

/** The comment as it is on GitLab now; undefined if it was deleted. */
export function findNote({ spec }: CommandAttempt, discussions: readonly Discussion[]): Note | undefined {
  return discussions.flatMap(({ notes }) => notes).find(({ id }) => id === spec.note.id);
}

async function changeSourceBranch(
  attempt: CommandAttempt,
  mergeRequest: MergeRequest,
  discussions: readonly Discussion[],
): Promise<BranchOutcome> {
  const { spec, gitlab, signal } = attempt;
  const { title, description, sourceBranch, targetBranch, sourceProjectId } = mergeRequest;
  const project = await gitlab.project(sourceProjectId, signal);
  const thread = findThread(attempt, discussions)?.notes ?? [];
  const { id } = spec.note;
  const note = findNote(attempt, discussions);
  const directive = note && (await readDirective(attempt, note));
  if (!directive) throw new TypeError("findRefusal refuses a comment that is no command");
  const { instruction } = directive;
  return changeBranch(attempt, {
    repository: { projectId: project.id, cloneUrl: project.cloneUrl },
    branch: sourceBranch,
    checkBeforePush: () => checkBeforePush(attempt, mergeRequest, discussions),
    onlyAt: attempt.progress.resultOf(forkHead)?.["sha"],
    // More users can read the commit than an internal comment.
    title: note.internal ? "fix: requested change" : `fix: ${firstLine(instruction).slice(0, 50)}`,
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

/**
 * The author may have lost access while the coder worked. A reply announced the work, so the reply also gets the end.
 */
async function checkBeforePush(
  attempt: CommandAttempt,
  mergeRequest: MergeRequest,
  discussions: readonly Discussion[],
): Promise<Failed | undefined> {
  const user = findNote(attempt, discussions)?.author ?? { id: 0, username: "" };
  const refusal = await checkAccess(attempt, mergeRequest, { user, isRequested: true });
  if (!refusal) return undefined;
  if (refusal.kind === "failed") return { ...refusal, isQuiet: false };
  return failedEnd((refusal.kind === "cancelled" && refusal.reason) || "NotServed", refusal.message);
}

function findThread({ spec }: CommandAttempt, discussions: readonly Discussion[]): Discussion | undefined {
  return discussions.find(({ notes }) => notes.some(({ id }) => id === spec.note.id));
}

function replyText(outcome: Exclude<BranchOutcome, { kind: "failed" }>, { sourceBranch }: MergeRequest): string {
  const { summary } = outcome;
  if (outcome.kind === "nothing") return `ℹ️ No file changes needed.\n\n${summary}`;
  return `✅ Changes pushed to \`${sourceBranch}\`: ${outcome.sha}\n\n${summary}`;
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
