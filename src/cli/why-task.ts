import type { KubeClient } from "../kube/index.ts";
import { type CodingTask, codingTasks } from "../resources/index.ts";
import { CommandError, type Desk } from "./command.ts";
import { isNamed } from "./short-name.ts";

/** The coding task that a name means, whole or cut short, or those on a branch, oldest first. */
export async function findTasks(client: KubeClient, text: string): Promise<readonly CodingTask[]> {
  if (!/^(ct-|git:)/.test(text)) return [];
  const { items } = await client.list(codingTasks);
  if (text.startsWith("git:")) return items.filter(({ spec }) => spec.targetResource === text).sort(byAge);
  const found = items.filter(({ metadata }) => isNamed(text, metadata.name ?? ""));
  if (found.length > 1) {
    throw new CommandError(
      `${text} may be ${found.map(({ metadata }) => metadata.name).join(" or ")}: write more of it`,
    );
  }
  return found;
}

/** Every task that is meant, for machines and for people; undefined if no task is. */
export async function explainTasks(
  subject: string,
  { client }: Desk,
): Promise<{ readonly facts: object; readonly text: readonly string[] } | undefined> {
  const tasks = await findTasks(client, subject);
  if (tasks.length === 0 && subject.startsWith("git:")) {
    throw new CommandError(`there are no tasks on ${subject}; see: interlock get tasks --output wide`);
  }
  return tasks.length === 0 ? undefined : { facts: { tasks }, text: tasks.map(explainTask) };
}

/** What a task is, how far it has come, what it waits for, and what can be done about it. */
function explainTask(task: CodingTask): string {
  const { metadata, spec, status } = task;
  const lines = [`${metadata.name}: ${subjectOf(task)}`];
  const say = (what: string, text: string | undefined) => text && lines.push(`  ${what.padEnd(12)} ${text}`);
  say("phase", `${status?.phase ?? "Pending"}${status?.message ? `: ${status.message}` : ""}`);
  say(
    "asked",
    `${spec.requestedBy ? `by ${spec.requestedBy}, ` : ""}at ${spec.receivedTime}, heard of by ${spec.source}`,
  );
  say("branch", spec.targetResource);
  say("same as", `whatever else is reported as ${spec.claimKey}`);
  if (status?.phase === "Waiting") {
    const { holder, nextAttemptTime } = status;
    say("waits for", holder && `${holder.identity}${holder.since ? `, at work since ${holder.since}` : ""}`);
    say("next try", nextAttemptTime);
  }
  for (const { name, completedAt, result } of status?.steps ?? []) {
    say("done", `${name} at ${completedAt}${factsOf(result)}`);
  }
  if (status?.attempts) say("tries", String(status.attempts));
  if (status?.phase === "Completed") say("result", resultText(status.result));
  if (status?.phase === "Failed") say("failed", `${status.failure.reason}: ${status.failure.message}`);
  say("next", nextStep(task));
  return lines.join("\n");
}

function subjectOf({ spec }: CodingTask): string {
  switch (spec.type) {
    case "Review":
      return `review of ${spec.project.path}!${spec.mergeRequest.iid} at ${spec.mergeRequest.headSha.slice(0, 8)}`;
    case "Command":
      return `comment ${spec.note.id} on ${spec.project.path}!${spec.mergeRequest.iid}: ${firstLine(spec.note.body)}`;
    case "Issue":
      return `issue ${spec.issue.key} in ${spec.project.path}: ${firstLine(spec.issue.summary)}`;
  }
}

/** Long results were for the work alone. */
function factsOf(result: Readonly<Record<string, string>> = {}): string {
  const short = Object.entries(result).filter(([, value]) => value.length <= 100 && !value.includes("\n"));
  return short.map(([name, value]) => `, ${name} ${value}`).join("");
}

function resultText(result: { readonly summary?: string; readonly mergeRequestUrl?: string } | undefined) {
  return [result?.mergeRequestUrl, result?.summary && firstLine(result.summary)].filter(Boolean).join("; ");
}

function nextStep({ metadata, spec, status }: CodingTask): string | undefined {
  const retry = spec.type === "Issue" ? "move the issue back" : "write /copilot retry on the merge request";
  switch (status?.phase) {
    case "Completed":
    case "Superseded":
      return undefined;
    case "Failed":
    case "Cancelled":
      return `to have it tried again, ${retry}`;
    default:
      return `to stop it: interlock cancel ${metadata.name} --reason "…"`;
  }
}

function firstLine(text: string): string {
  return (text.trim().split("\n", 1)[0] ?? "").slice(0, 200);
}

function byAge({ metadata: one }: CodingTask, { metadata: other }: CodingTask): number {
  return (one.creationTimestamp ?? "") < (other.creationTimestamp ?? "") ? -1 : 1;
}
