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
  const command = await readCommand(attempt);
  if (command.kind !== "accepted") return command;

  await reply(attempt, "⏳ Working on it.");
  const outcome = await changeSourceBranch(attempt, command);
  if (outcome.kind === "failed") return outcome;
  const { sourceBranch } = command.mergeRequest;
  await reply(attempt, replyText(outcome, sourceBranch));
  if (outcome.kind === "nothing") return { kind: "completed", message: "no file changes needed" };
  const result = { summary: outcome.summary, branch: sourceBranch, commitSha: outcome.sha };
  return { kind: "completed", message: `pushed ${outcome.sha.slice(0, 8)} to ${sourceBranch}`, result };
}

/** Posts the only reply of the task below the comment, or changes it. */
export async function reply(attempt: CommandAttempt, text: string): Promise<void> {
  const { spec, conversation, signal } = attempt;
  // The thread on GitLab comes first: a webhook can name another one, which more users can read.
  const discussionId = findThread(attempt, await conversation.discussions(signal))?.id ?? spec.note.discussionId;
  await postAnswer(attempt, text, discussionId);
}

/** A comment that may be carried out, as GitLab returns it now. */
interface AcceptedCommand {
  readonly kind: "accepted";
  readonly mergeRequest: MergeRequest;
  readonly note: Note;
  readonly directive: Directive;
  /** The thread of the comment, the oldest note first. */
  readonly thread: readonly Note[];
}

/**
 * Reads the comment, and checks that it may be carried out. Access is checked first: a comment of a user who is not served
 * gets no reply.
 */
export async function readCommand(attempt: CommandAttempt): Promise<AcceptedCommand | End> {
  const { spec, gitlab, conversation, signal, progress, settings } = attempt;
  const [mergeRequest, discussions, self] = await Promise.all([
    gitlab.mergeRequest(mergeRequestRef(spec), signal),
    conversation.discussions(signal),
    gitlab.self(signal),
  ]);
  const isQuiet = progress.isFirstAttempt;
  const { notes: thread = [] } = findThread(attempt, discussions) ?? {};
  const note = thread.find(({ id }) => id === spec.note.id);
  if (!note) return { kind: "cancelled", message: "the comment was deleted", isQuiet };
  if (note.author.id === self.id) return { kind: "cancelled", message: "it is our own comment", isQuiet: true };
  // The author as GitLab reports it, not as the webhook does.
  const refusal = await checkAccess(attempt, mergeRequest, { user: note.author, isRequested: true });
  if (refusal) return refusal;
  // A sender who has the secret of the webhooks could otherwise give commands in the name of each author of a comment.
  const directive = parseDirective(note.body, settings.username ?? self.username);
  if (!directive) return { kind: "cancelled", message: "the comment on GitLab is not a command", isQuiet };
  if (directive.verb !== spec.note.verb) {
    return { kind: "cancelled", message: "the comment was changed: write a new one", isQuiet };
  }
  const { state } = mergeRequest;
  if (state !== "opened") return failedEnd("NotOpen", `the merge request is ${state}: reopen it, then ask again`);
  const moved = directive.verb === "do" ? await checkForkHead(attempt, mergeRequest, note) : undefined;
  return moved ?? { kind: "accepted", mergeRequest, note, directive, thread };
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

async function changeSourceBranch(
  attempt: CommandAttempt,
  { mergeRequest, note, directive, thread }: AcceptedCommand,
): Promise<BranchOutcome> {
  const { gitlab, signal, progress } = attempt;
  const { title, description, sourceBranch, targetBranch, sourceProjectId } = mergeRequest;
  const { id, path, webUrl, cloneUrl } = await gitlab.project(sourceProjectId, signal);
  const { instruction } = directive;
  return changeBranch(attempt, {
    repository: { projectId: id, cloneUrl },
    branch: sourceBranch,
    checkBeforePush: () => checkBeforePush(attempt, mergeRequest, note),
    onlyAt: progress.resultOf(forkHead)?.["sha"],
    // More users can read the commit than an internal comment.
    title: note.internal ? "fix: requested change" : `fix: ${firstLine(instruction).slice(0, 50)}`,
    request: {
      version: 1,
      kind: "edit",
      project: { path, url: webUrl },
      instruction,
      mergeRequest: { title, description, sourceBranch, targetBranch },
      thread: thread
        .filter((earlier) => earlier.id < note.id && !earlier.system)
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
  { author }: Note,
): Promise<Failed | undefined> {
  const refusal = await checkAccess(attempt, mergeRequest, { user: author, isRequested: true });
  if (!refusal) return undefined;
  if (refusal.kind === "failed") return { ...refusal, isQuiet: false };
  return failedEnd((refusal.kind === "cancelled" && refusal.reason) || "NotServed", refusal.message);
}

function findThread({ spec }: CommandAttempt, discussions: readonly Discussion[]): Discussion | undefined {
  return discussions.find(({ notes }) => notes.some(({ id }) => id === spec.note.id));
}

function replyText(outcome: Exclude<BranchOutcome, { kind: "failed" }>, sourceBranch: string): string {
  const { summary } = outcome;
  if (outcome.kind === "nothing") return `ℹ️ No file changes needed.\n\n${summary}`;
  return `✅ Changes pushed to \`${sourceBranch}\`: ${outcome.sha}\n\n${summary}`;
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
