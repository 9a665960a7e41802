import { pauseOver } from "../../policy/index.ts";
import {
  annotationKeys,
  type CodingTask,
  type CodingTaskSpec,
  codingTasks,
  isBuiltIn,
  isClosedTask,
  readCancelRequest,
} from "../../resources/index.ts";
import { claimKeys } from "../../tasks/index.ts";
import { formatDuration } from "../../time/index.ts";
import type { End } from "../end.ts";
import type { MergeRequest, Note } from "../gitlab/gitlab.ts";
import { byCreation } from "../queue.ts";
import { RemoteError } from "../remote-error.ts";
import { describeTask } from "../statuses.ts";
import { type CommandAttempt, mergeRequestRef } from "../work/attempt.ts";
import { checkForkHead, readCommand, reply } from "./command.ts";
import { addTask } from "./review.ts";

/** Carries out a built-in command of a comment, and posts one reply. */
export async function runBuiltIn(attempt: CommandAttempt): Promise<End> {
  const command = await readCommand(attempt);
  if (command.kind !== "accepted") return command;
  const { answer = "" } = await attempt.progress.step("done", async () => {
    const done = await carryOut(attempt, command.mergeRequest, command.note);
    return { answer: [done, ...pauseText(attempt)].join("\n\n") };
  });
  await reply(attempt, answer);
  return { kind: "completed", message: `answered: ${command.directive.verb}` };
}

/** The paragraph of the reply that explains why the task waits. */
function pauseText({ progress, client, pauses }: CommandAttempt): readonly string[] {
  const paused = pauseOver(progress.task, pauses(), client.serverNowMs());
  if (!paused) return [];
  return [`⏸️ Automation is ${paused.evidence}; clears ${paused.clears}. Tasks that have not started wait until then.`];
}

function carryOut(attempt: CommandAttempt, mergeRequest: MergeRequest, note: Note): Promise<string> {
  switch (attempt.spec.note.verb) {
    case "review":
      return reviewAgain(attempt, mergeRequest, note);
    case "retry":
      return retry(attempt, note);
    case "cancel":
      return cancel(attempt, note);
    case "status":
      return Promise.resolve(statusText(attempt));
    case "help":
    case "do":
      return Promise.resolve(helpText);
  }
}

async function reviewAgain(attempt: CommandAttempt, mergeRequest: MergeRequest, requestNote: Note): Promise<string> {
  const { spec } = attempt;
  const { headSha } = mergeRequest;
  if (headSha === undefined) return "There is no commit to review yet.";
  const moved = await checkForkHead(attempt, mergeRequest, requestNote);
  if (moved?.retry) throw new RemoteError("unavailable", moved.message);
  if (moved) return `Not reviewed: ${moved.message}.`;
  const { note, ...rest } = spec;
  const key = { host: spec.project.host, ...mergeRequestRef(spec) };
  const claimKey = claimKeys.reviewAgain(key, headSha, note.id);
  await addTask(attempt, {
    ...rest,
    type: "Review",
    again: true,
    requesterId: requestNote.author.id,
    claimKey,
    mergeRequest: { ...spec.mergeRequest, headSha },
  });
  return `Review of ${headSha.slice(0, 8)} is queued.`;
}

/** Creates a new task with the same specification; the failed one stays unchanged. */
async function retry(attempt: CommandAttempt, requestNote: Note): Promise<string> {
  const { spec } = attempt;
  const last = otherTasks(attempt)
    .filter(({ status }) => status?.phase === "Failed")
    .sort(byCreation)
    .at(-1);
  if (!last) return "There is no failed task to retry.";
  const claimKey = claimKeys.retry(last.spec.claimKey, spec.note.id);
  // A repeated review is served by the access of the requester; a command by that of its author, which is read again.
  const again: CodingTaskSpec =
    last.spec.type === "Review"
      ? { ...last.spec, claimKey, requesterId: requestNote.author.id, requestedBy: requestNote.author.username }
      : { ...last.spec, claimKey };
  await addTask(attempt, again);
  return `The ${describeTask(last)} is queued again.`;
}

async function cancel(attempt: CommandAttempt, { author }: Note): Promise<string> {
  const { spec, client, signal } = attempt;
  const by = `requested by ${author.username} in comment ${spec.note.id}`;
  // An interrupted attempt at this command may have cancelled some, which have ended since.
  const isOurs = (task: CodingTask) => readCancelRequest(task)?.reason === by;
  const wanted = otherTasks(attempt).filter(
    (task) => isOurs(task) || (!isClosedTask(task) && isRequestedBefore(task, attempt)),
  );
  for (const { metadata } of wanted.filter((task) => !isOurs(task))) {
    const { name = "", namespace = "" } = metadata;
    const merge = { metadata: { annotations: { [annotationKeys.cancelRequested]: by } } };
    await client.patch(codingTasks, { name, namespace }, { merge }, { signal });
  }
  if (wanted.length === 0) return "There is no open task to cancel.";
  return `Cancelled:\n\n${wanted.map((task) => `- ${describeTask(task)}`).join("\n")}`;
}

/** GitLab may have been unavailable since the command was written. A webhook may be late, but notes are numbered. */
function isRequestedBefore(other: CodingTask, { spec, progress }: CommandAttempt): boolean {
  if (other.spec.type === "Command" && other.spec.note.id > spec.note.id) return false;
  return byCreation(other, progress.task) < 0;
}

function statusText(attempt: CommandAttempt): string {
  const tasks = [...otherTasks(attempt)].sort(byCreation);
  const open = tasks.filter((task) => !isClosedTask(task));
  const closed = tasks.filter(isClosedTask).slice(-3);
  if (tasks.length === 0) return "There are no tasks yet.";
  const nowMs = attempt.client.serverNowMs();
  return [...open, ...closed].map((task) => `- ${describeTask(task)}: ${describeStatus(task, nowMs)}`).join("\n");
}

function describeStatus({ metadata, status }: CodingTask, nowMs: number): string {
  const ageMs = Math.max(0, nowMs - Date.parse(metadata.creationTimestamp ?? ""));
  const seconds = formatDuration(Math.floor(ageMs / 1_000) * 1_000);
  return `${status?.phase ?? "Pending"}, requested ${seconds} ago${status?.message ? `; ${status.message}` : ""}`;
}

/** The tasks of the merge request, except this one and other built-in commands. */
function otherTasks(attempt: CommandAttempt): readonly CodingTask[] {
  const { progress } = attempt;
  return attempt.relatedTasks(progress.task).filter((task) => {
    return !isBuiltIn(task) && task.metadata.uid !== attempt.uid;
  });
}

const helpText = `Write \`/copilot\` and what you want changed. The change is pushed to the branch of this merge request.

- \`/copilot review\`: reviews the newest commit again
- \`/copilot retry\`: tries again what failed last
- \`/copilot cancel\`: stops the tasks that run or wait
- \`/copilot status\`: lists the tasks that run, wait, or have ended`;
