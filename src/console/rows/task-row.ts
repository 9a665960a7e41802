import { type CodingTask, type CodingTaskSpec, describeStall, findStall } from "../../resources/index.ts";
import type { TaskRow } from "../wire.ts";
import { fitRow } from "./fit-row.ts";
import { field, rowBase, rowText } from "./row-base.ts";

export function toTaskRow(task: CodingTask): TaskRow {
  const { spec, status } = task;
  const message = taskMessage(task);
  return fitRow({
    kind: "tasks",
    ...rowBase(task),
    phase: status?.phase ?? "Pending",
    type: spec.type,
    project: spec.project.path,
    reference: taskReference(spec),
    author: spec.requestedBy ?? "",
    ...field("message", message && rowText(message)),
    ...field("endedAt", status && "completionTime" in status ? status.completionTime : undefined),
  });
}

/** The merge request or issue, as people write it: !12 or PROJ-123. */
function taskReference(spec: CodingTaskSpec): string {
  return spec.type === "Issue" ? spec.issue.key : `!${spec.mergeRequest.iid}`;
}

function taskMessage(task: CodingTask): string | undefined {
  const { status } = task;
  if (status?.phase === "Failed") return status.failure.message;
  const isEnded = status && "completionTime" in status;
  const stall = isEnded ? undefined : findStall(task);
  return stall ? describeStall(stall) : status?.message;
}
