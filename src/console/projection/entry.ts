import type { KubeObject, ResourceType } from "../../kube/index.ts";
import {
  type AutomationPause,
  automationPauses,
  type CodingTask,
  codingTasks,
  isUnfinished,
  type NotificationRequest,
  notificationRequests,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type RemediationTarget,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import {
  toApprovalRow,
  toExecutionRow,
  toIncidentRow,
  toNoticeRow,
  toPauseRow,
  toTargetRow,
  toTaskRow,
} from "../rows/index.ts";
import type { Row, RowKind } from "../wire.ts";
import { type PackedRow, packRow } from "./packed-row.ts";

/** A row as the projection keeps it, with the values that filters and indexes compare. */
export interface RowEntry extends PackedRow {
  readonly key: string;
  /** When its object was created, in seconds since 1970, as precise as Kubernetes keeps it. */
  readonly createdSec: number;
  /** The latest time that the row shows. */
  readonly changedSec: number;
  /** Whether there is still something to do about it. */
  readonly isOpen: boolean;
  readonly lane: string;
  readonly phase: string;
  readonly reason: string;
  readonly outcome: string;
  readonly target: string;
  readonly workflow: string;
  readonly namespace: string;
  /** Of the object that the target names, if its kind has one: payment of payment/deployment/api. */
  readonly targetNamespace: string;
}

/** The part of an entry that is not in every row, or has other names there. */
type RowFacts = Pick<RowEntry, "isOpen"> & Partial<Pick<RowEntry, "phase" | "target">>;

interface RowSource {
  readonly type: ResourceType;
  toRow(object: KubeObject): Row;
  toFacts(object: KubeObject): RowFacts;
}

function source<T extends KubeObject>(
  type: ResourceType<T>,
  toRow: (object: T) => Row,
  toFacts: (object: T) => RowFacts,
): RowSource {
  return { type, toRow: toRow as RowSource["toRow"], toFacts: toFacts as RowSource["toFacts"] };
}

/** Where the rows of each kind come from. */
export const sources: Readonly<Record<RowKind, RowSource>> = {
  incidents: source(
    remediationRequests,
    (incident: RemediationRequest) => toIncidentRow(incident),
    ({ status }) => ({ isOpen: !status || !("completedAt" in status) }),
  ),
  executions: source(workflowExecutions, toExecutionRow, (execution: WorkflowExecution) => ({
    isOpen: isUnfinished(execution),
  })),
  approvals: source(remediationApprovalRequests, toApprovalRow, ({ status }: RemediationApprovalRequest) => ({
    isOpen: status === undefined,
    phase: status?.decision ?? "Pending",
  })),
  pauses: source(
    automationPauses,
    (pause: AutomationPause) => toPauseRow(pause),
    ({ spec, status }) => ({
      isOpen: status === undefined,
      phase: status ? "Ended" : "Active",
      target: spec.scope === "Target" ? spec.targetResource : "",
    }),
  ),
  targets: source(
    remediationTargets,
    (record: RemediationTarget) => toTargetRow(record),
    ({ status }) => ({ isOpen: status?.holder !== undefined, phase: status?.holder ? "Held" : "Free" }),
  ),
  tasks: source(codingTasks, toTaskRow, ({ spec, status }: CodingTask) => ({
    isOpen: !status || !("completionTime" in status),
    target: spec.targetResource,
  })),
  notices: source(notificationRequests, toNoticeRow, ({ spec, status }: NotificationRequest) => ({
    isOpen: !status || !("completionTime" in status),
    target: spec.context?.targetResource ?? "",
  })),
};

/** Makes entries. Texts that many rows have are kept once. */
export class EntryMaker {
  readonly #kept = new Map<string, string>();

  make(kind: RowKind, object: KubeObject): RowEntry {
    const { toRow, toFacts } = sources[kind];
    const row = toRow(object);
    const facts = toFacts(object);
    const fields = row as unknown as Readonly<Record<string, unknown>>;
    const target = this.#keep(facts.target ?? targetText(object) ?? fields["target"]);
    const { packed, textAt } = packRow(row);
    return {
      packed,
      textAt,
      key: row.key,
      createdSec: seconds(row.createdAt),
      changedSec: latestSecond(fields),
      isOpen: facts.isOpen,
      lane: this.#keep(fields["lane"]),
      phase: this.#keep(facts.phase ?? fields["phase"]),
      reason: kind === "pauses" ? "" : this.#keep(fields["reason"]),
      outcome: this.#keep(fields["outcome"]),
      target,
      workflow: this.#keep(fields["workflow"]),
      namespace: this.#keep(object.metadata.namespace),
      targetNamespace: this.#keep(targetNamespace(target)),
    };
  }

  #keep(value: unknown): string {
    if (typeof value !== "string") return "";
    const kept = this.#kept.get(value);
    if (kept !== undefined) return kept;
    this.#kept.set(value, value);
    return value;
  }
}

/** The whole target: the row may have a part of a very long one only. */
function targetText(object: KubeObject): string | undefined {
  const { spec, status } = object as {
    readonly spec?: { readonly targetResource?: unknown };
    readonly status?: { readonly diagnosis?: { readonly target?: string } };
  };
  return status?.diagnosis?.target ?? (typeof spec?.targetResource === "string" ? spec.targetResource : undefined);
}

function targetNamespace(target: string): string {
  const parts = target.split("/");
  return parts.length === 3 && !target.startsWith("git:") ? (parts[0]?.split(":").at(-1) ?? "") : "";
}

const times = ["createdAt", "startedAt", "endedAt", "lastSeenAt", "closedAt", "decidedAt", "heldSince"] as const;

/** Times in UTC are in the order of their texts, so that only the latest is parsed. */
function latestSecond(row: Readonly<Record<string, unknown>>): number {
  let latest = "";
  for (const name of times) {
    const time = row[name];
    if (typeof time === "string" && time > latest) latest = time;
  }
  return seconds(latest);
}

/** 0 for a time that cannot be read. */
function seconds(time: string): number {
  return Math.floor(Date.parse(time) / 1_000) || 0;
}
