import type { KubeObject } from "../../kube/index.ts";
import type { Wire } from "../../schema/index.ts";
import { ageColumn, defineKind, stalledColumn } from "./define-kind.ts";
import { closedTaskPhases } from "./phases-and-limits.ts";
import type { spec, status, step, verbs } from "./schemas/coding-task.ts";

/** A task for the agent: review a merge request, carry out a command, or solve an issue. */
export interface CodingTask extends KubeObject {
  readonly spec: CodingTaskSpec;
  readonly status?: CodingTaskStatus;
}

export type CodingTaskSpec = Wire<typeof spec>;
export type CodingTaskStatus = Wire<typeof status>;
export type CodingTaskStep = Wire<typeof step>;
export type CodingVerb = (typeof verbs)[number];

export const codingTasks = defineKind<CodingTask>({
  kind: "CodingTask",
  shortName: "ct",
  selectable: ["spec.targetResource"],
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Type", type: "string", jsonPath: ".spec.type" },
    { name: "Project", type: "string", jsonPath: ".spec.project.path" },
    { name: "MR", type: "integer", jsonPath: ".spec.mergeRequest.iid" },
    { name: "Issue", type: "string", jsonPath: ".spec.issue.key" },
    { name: "Position", type: "integer", jsonPath: ".status.position", description: "Tasks ahead in the queue" },
    { name: "Paused", type: "string", jsonPath: ".status.pause.name", description: "The pause that delays the task" },
    { name: "Holder", type: "string", jsonPath: ".status.holder.identity", priority: 1 },
    { name: "Target", type: "string", jsonPath: ".spec.targetResource", priority: 1 },
    { name: "Message", type: "string", jsonPath: ".status.message", priority: 1 },
    stalledColumn,
    ageColumn,
  ],
});

/** The step that is done as soon as work on a task begins. */
export const begunStep = "started";

/** The step that records the result of the coder. Its name is stored with tasks, so it stays. */
export const coderStep = "agent";

/** When work on the task first began. */
export function begunAt({ status }: CodingTask): string | undefined {
  return status?.steps?.find(({ name }) => name === begunStep)?.completedAt;
}

export type ClosedTaskStatus = Extract<CodingTaskStatus, { readonly completionTime: string }>;

/** The status of a task that has ended; undefined while it is open. */
export function closedTaskStatus({ status }: CodingTask): ClosedTaskStatus | undefined {
  const isClosed = (closedTaskPhases as readonly unknown[]).includes(status?.phase);
  return isClosed ? (status as ClosedTaskStatus) : undefined;
}

export function isClosedTask(task: CodingTask): boolean {
  return closedTaskStatus(task) !== undefined;
}

/** Whether it is a comment that is answered without the coder, such as `/copilot status`. */
export function isBuiltIn({ spec }: CodingTask): boolean {
  return spec.type === "Command" && spec.note.verb !== "do";
}
