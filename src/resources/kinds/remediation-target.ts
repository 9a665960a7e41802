import type { KubeObject } from "../../kube/index.ts";
import type { Wire } from "../../schema/index.ts";
import { annotationKeys } from "../names.ts";
import { ageColumn, defineKind, stalledColumn } from "./define-kind.ts";
import type {
  acknowledgement,
  executionEnd,
  ineffectiveness,
  spec,
  status,
  workflowHistory,
} from "./schemas/remediation-target.ts";

/** The target record: the current holder of a target, and the history that the policy reads. Named by the target's hash. */
export interface RemediationTarget extends KubeObject {
  readonly spec: Wire<typeof spec>;
  readonly status?: RemediationTargetStatus;
}

export type RemediationTargetStatus = Wire<typeof status>;
export type WorkflowHistory = Wire<typeof workflowHistory>;
export type ExecutionEnd = Wire<typeof executionEnd>;
export type Ineffectiveness = Wire<typeof ineffectiveness>;
export type Acknowledgement = Wire<typeof acknowledgement>;

export const remediationTargets = defineKind<RemediationTarget>({
  kind: "RemediationTarget",
  shortName: "rt",
  selectable: ["spec.targetResource"],
  columns: [
    { name: "Target", type: "string", jsonPath: ".spec.targetResource" },
    { name: "Holder", type: "string", jsonPath: ".status.holder.executionName", description: "The current holder" },
    { name: "Workflow", type: "string", jsonPath: ".status.holder.workflowId" },
    { name: "Since", type: "date", jsonPath: ".status.holder.since" },
    { name: "Engine", type: "string", jsonPath: ".status.holder.engine", priority: 1 },
    stalledColumn,
    ageColumn,
  ],
});

/** Uids of the latest successes of the workflows that an orchestrator marked as ineffective on this target. */
export function ineffectiveExecutions(record: RemediationTarget | undefined): readonly string[] {
  const marks = record?.metadata.annotations?.[annotationKeys.ineffectiveExecutions] ?? "";
  return marks.split(",").filter((uid) => uid !== "");
}
