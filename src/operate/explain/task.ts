import { lastingPauses, type Pause, pausedBy, pauseOver, taskPause } from "../../policy/index.ts";
import {
  automationPauses,
  builtInKinds,
  type CodingTask,
  describeStall,
  findStall,
  isClosedTask,
} from "../../resources/index.ts";
import type { OperateContext } from "../context.ts";
import { OperationError } from "../errors/index.ts";
import { findTasks, parseGitTarget } from "../find/index.ts";
import type { Explanation } from "./explanation.ts";

/** Explains every task that `subject` names; undefined if it names none. */
export async function explainTasks(
  subject: string,
  { client, incidentsIn }: OperateContext,
): Promise<Explanation | undefined> {
  const tasks = await findTasks(client, subject);
  const isGitTarget = subject.startsWith("git:");
  if (tasks.length === 0 && !isGitTarget) return undefined;
  const nowMs = client.serverNowMs();
  const pauses = lastingPauses((await client.list(automationPauses)).items, nowMs, builtInKinds);
  const gitTarget = isGitTarget && explainGitTarget(parseGitTarget(subject), { pauses, nowMs, namespace: incidentsIn });
  if (tasks.length === 0 && !gitTarget) {
    throw new OperationError("not-found", `there are no tasks on ${subject}`, {
      hint: "see: interlock get tasks --output wide",
    });
  }
  const facts = { ...(gitTarget && { paused: gitTarget.paused }), tasks };
  return {
    facts,
    text: [...(gitTarget ? [gitTarget.text] : []), ...tasks.map((task) => explainTask(task, pauses, nowMs))],
  };
}

/** One paragraph per task. */
export async function explainTaskList(
  tasks: readonly CodingTask[],
  { client }: OperateContext,
): Promise<readonly (readonly string[])[]> {
  if (tasks.length === 0) return [];
  const nowMs = client.serverNowMs();
  const pauses = lastingPauses((await client.list(automationPauses)).items, nowMs, builtInKinds);
  return tasks.map((task) => explainTask(task, pauses, nowMs));
}

/** The pause of a branch or repository; undefined if tasks may start there. */
function explainGitTarget(
  target: string,
  { pauses, nowMs, namespace }: { pauses: readonly Pause[]; nowMs: number; namespace: string },
) {
  const repository = target.replace(/@.*$/, "");
  const paused = pausedBy({ target, repository, namespace }, pauses, nowMs);
  if (!paused) return undefined;
  const { evidence, clears, nextStep } = paused;
  const text = [
    `a coding task on ${target}: not now, Paused`,
    `  ${evidence}`,
    `  clears ${clears}`,
    `  next: ${nextStep}`,
  ];
  return { paused, text };
}

/** The subject of a task, its progress, the reason of its wait and the next step. */
function explainTask(task: CodingTask, pauses: readonly Pause[], nowMs: number): readonly string[] {
  const { metadata, spec, status } = task;
  const pause = describePause(task, pauses, nowMs);
  const lines = [`${metadata.name}: ${describeSubject(task)}${pause.nextStep ? ": not now, Paused" : ""}`];
  const addLine = (label: string, text: string | undefined) => text && lines.push(`  ${label.padEnd(12)} ${text}`);
  // The message of a failure has a line of its own.
  const message = status?.phase === "Failed" ? undefined : status?.message;
  addLine("phase", `${status?.phase ?? "Pending"}${message ? `: ${message}` : ""}`);
  const stall = findStall(task);
  addLine("stalled", stall && describeStall(stall));
  addLine(
    "requested",
    `${spec.requestedBy ? `by ${spec.requestedBy}, ` : ""}at ${spec.receivedTime}, reported by ${spec.source}`,
  );
  addLine("branch", spec.targetResource);
  addLine("claim key", spec.claimKey);
  addLine("paused", pause.paused);
  addLine("clears", pause.clears);
  if (status?.phase === "Waiting") {
    const { holder, nextAttemptTime } = status;
    addLine("waits for", holder && `${holder.identity}${holder.since ? `, at work since ${holder.since}` : ""}`);
    addLine("next attempt", holder ? undefined : nextAttemptTime);
  }
  for (const { name, completedAt, result } of (status?.steps ?? []).filter(isWork)) {
    addLine("done", `${name} at ${completedAt}${resultFacts(result)}`);
  }
  if (status?.attempts) addLine("attempts", String(status.attempts));
  if (status?.phase === "Completed") addLine("result", resultText(status.result));
  if (status?.phase === "Failed") addLine("failed", `${status.failure.reason}: ${status.failure.message}`);
  if (status?.phase === "Cancelled") addLine("not served", status.reason);
  addLine("next", pause.nextStep);
  addLine("next", nextStep(task));
  return lines;
}

/** The pause that covers a task, which waits for its end unless it is running already. */
function describePause(task: CodingTask, pauses: readonly Pause[], nowMs: number) {
  const over = isClosedTask(task) ? undefined : pauseOver(task, pauses, nowMs);
  if (!over) return {};
  const by = over.evidence.replace(/^paused: /, "");
  if (!taskPause(task, pauses, nowMs)) return { paused: `${by}; it continues` };
  return { paused: by, clears: over.clears, nextStep: over.nextStep };
}

function describeSubject({ spec }: CodingTask): string {
  switch (spec.type) {
    case "Review":
      return `review of ${spec.project.path}!${spec.mergeRequest.iid} at ${spec.mergeRequest.headSha.slice(0, 8)}`;
    case "Command":
      return `comment ${spec.note.id} on ${spec.project.path}!${spec.mergeRequest.iid}: ${firstLine(spec.note.body)}`;
    case "Issue":
      return `issue ${spec.issue.key} in ${spec.project.path}: ${firstLine(spec.issue.summary)}`;
  }
}

/** The other steps record the end, which has lines of its own. */
function isWork({ name }: { readonly name: string }): boolean {
  return name !== "failed" && name !== "cancelled";
}

/** Long results are left out. */
function resultFacts(result: Readonly<Record<string, string>> = {}): string {
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
    case "Cancelled":
      return status.reason === undefined ? `to retry, ${retry}` : undefined;
    case "Failed":
      return `to retry, ${retry}`;
    default:
      return `to stop it: interlock cancel ${metadata.name} --reason "…"`;
  }
}

function firstLine(text: string): string {
  return (text.trim().split("\n", 1)[0] ?? "").slice(0, 200);
}
