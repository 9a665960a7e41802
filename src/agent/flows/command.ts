import { type End, failed } from "../end.ts";
import type { Discussion, MergeRequest } from "../gitlab/gitlab.ts";
import { markers, withoutMarks } from "../markers.ts";
import { type CommandAttempt, placeOf } from "../work/attempt.ts";
import { sayOrChange } from "../work/say.ts";
import { type BranchOutcome, changeBranch } from "./change-branch.ts";

/** Does what a comment asks for: changes the branch of its merge request, or answers. One reply says how it went. */
export async function command(attempt: CommandAttempt): Promise<End> {
  const { spec, gitlab, signal } = attempt;
  const [mergeRequest, discussions] = await Promise.all([
    gitlab.mergeRequest(placeOf(spec), signal),
    gitlab.discussions(placeOf(spec), signal),
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

/** Puts the task's one reply where the comment is, or changes it there. */
export async function reply(attempt: CommandAttempt, text: string): Promise<void> {
  const { spec, uid, gitlab, signal } = attempt;
  const place = placeOf(spec);
  const discussionId = spec.note.discussionId ?? (await threadOf(attempt, await gitlab.discussions(place, signal)))?.id;
  const mark = markers.answer(uid);
  await sayOrChange(attempt, place, { mark, body: text, ...(discussionId === undefined ? {} : { discussionId }) });
}

/** Who may have branches changed is looked up when it happens: rights that were taken away do not count. */
export async function whyNot(
  { spec, gitlab, settings, signal, journal }: CommandAttempt,
  { state }: MergeRequest,
  discussions: readonly Discussion[],
): Promise<End | undefined> {
  if (state !== "opened") return failed("NotOpen", `the merge request is ${state}: reopen it, then ask again`);
  const isThere = discussions.some(({ notes }) => notes.some(({ id }) => id === spec.note.id));
  if (!isThere) {
    // A reply of an earlier try must not go on saying that somebody is at work.
    const isQuiet = (journal.task.status?.attempts ?? 0) <= 1;
    return { kind: "cancelled", message: "the comment was deleted", isQuiet };
  }
  const { id: selfId } = await gitlab.self(signal);
  if (spec.note.authorId === selfId) return { kind: "cancelled", message: "it is our own comment", isQuiet: true };
  const level = await gitlab.accessLevel(spec.project.id, spec.note.authorId, signal);
  if (level >= settings.minAccessLevel) return undefined;
  const needed = accessNames.get(settings.minAccessLevel) ?? `access level ${settings.minAccessLevel}`;
  return failed("NotAllowed", `only members with the role ${needed} or above may ask for this`);
}

const accessNames: ReadonlyMap<number, string> = new Map([
  [10, "Guest"],
  [20, "Reporter"],
  [30, "Developer"],
  [40, "Maintainer"],
  [50, "Owner"],
]);

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
