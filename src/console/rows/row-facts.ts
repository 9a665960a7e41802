import type { KubeObject } from "../../kube/index.ts";
import {
  type AutomationPause,
  type CodingTask,
  closedStatus,
  findStall,
  isClosedIncident,
  isClosedTask,
  isSettled,
  isUnfinished,
  type NotificationRequest,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type RemediationTarget,
  type WorkflowExecution,
} from "../../resources/index.ts";
import type { RowKind } from "../wire.ts";
import { executionReason } from "./execution-row.ts";
import { incidentReason } from "./incident-row.ts";

/** The values by which objects are filtered and counted: in the console, and by `interlock get` and `interlock status`. */
export interface RowFacts {
  /** Whether there is still something to do about it. */
  readonly isOpen: boolean;
  /** Empty like every other text for a kind that has none. */
  readonly phase: string;
  /** As people read it: `Backoff`, not `RecentlyRemediated`, after failures. */
  readonly reason: string;
  /** Why writes about it keep failing. */
  readonly stall: string;
  readonly outcome: string;
  /** The whole target: a row may have only a part of a very long one. */
  readonly target: string;
  readonly workflow: string;
}

const readers: { readonly [K in RowKind]: (object: KubeObject) => Partial<RowFacts> & Pick<RowFacts, "isOpen"> } = {
  incidents: reader<RemediationRequest>((incident) => ({
    isOpen: !isClosedIncident(incident),
    phase: incident.status?.phase ?? "Pending",
    reason: incidentReason(incident) ?? "",
    outcome: closedStatus(incident)?.outcome ?? "",
    target: incident.status?.diagnosis?.target ?? "",
    workflow: incident.status?.diagnosis?.workflowId ?? "",
  })),
  executions: reader<WorkflowExecution>((execution) => ({
    isOpen: isUnfinished(execution),
    phase: execution.status?.phase ?? "Pending",
    reason: executionReason(execution) ?? "",
    target: execution.spec.targetResource,
    workflow: execution.spec.workflowRef.workflowId,
  })),
  approvals: reader<RemediationApprovalRequest>(({ spec, status }) => ({
    isOpen: status === undefined,
    phase: status?.decision ?? "Pending",
    target: spec.targetResource,
    workflow: spec.recommendedWorkflow.workflowId,
  })),
  pauses: reader<AutomationPause>(({ spec, status }) => ({
    isOpen: status === undefined,
    phase: status ? "Ended" : "Active",
    target: spec.scope === "Target" ? spec.targetResource : "",
  })),
  targets: reader<RemediationTarget>(({ spec, status }) => ({
    isOpen: status?.holder !== undefined,
    phase: status?.holder ? "Held" : "Free",
    target: spec.targetResource,
  })),
  tasks: reader<CodingTask>((task) => ({
    isOpen: !isClosedTask(task),
    phase: task.status?.phase ?? "Pending",
    reason: taskReason(task.status),
    target: task.spec.targetResource,
  })),
  notices: reader<NotificationRequest>(({ spec, status }) => ({
    isOpen: !isSettled(status),
    phase: status?.phase ?? "Pending",
    target: spec.context?.targetResource ?? "",
  })),
};

function reader<T extends KubeObject>(read: (object: T) => ReturnType<(typeof readers)[RowKind]>) {
  return (object: KubeObject) => read(object as T);
}

export function rowFacts(kind: RowKind, object: KubeObject): RowFacts {
  const facts = readers[kind](object);
  const stall = facts.isOpen ? (findStall(object)?.reason ?? "") : "";
  return { phase: "", reason: "", stall, outcome: "", target: "", workflow: "", ...facts };
}

function taskReason(status: CodingTask["status"]): string {
  if (status?.phase === "Failed") return status.failure.reason;
  return status && "reason" in status ? (status.reason ?? "") : "";
}

/** Everything that a filter by reason compares. A wait after failures is both a `Backoff` and `RecentlyRemediated`. */
export const reasonGetters: readonly ((facts: Pick<RowFacts, "reason" | "stall" | "outcome">) => string)[] = [
  ({ reason }) => reason,
  ({ reason }) => (reason === "Backoff" ? "RecentlyRemediated" : reason),
  ({ stall }) => stall,
  ({ outcome }) => outcome,
];
