import type { KubeObject } from "../../kube/index.ts";
import {
  type AutomationPause,
  type CodingTask,
  isClosedIncident,
  isUnfinished,
  type NotificationRequest,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type RemediationTarget,
  type WorkflowExecution,
} from "../../resources/index.ts";
import { rowTypes } from "../rows/index.ts";
import type { RowKind } from "../wire.ts";
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

const factsOf: { readonly [K in RowKind]: (object: KubeObject) => RowFacts } = {
  incidents: facts<RemediationRequest>((incident) => ({ isOpen: !isClosedIncident(incident) })),
  executions: facts<WorkflowExecution>((execution) => ({ isOpen: isUnfinished(execution) })),
  approvals: facts<RemediationApprovalRequest>(({ status }) => ({
    isOpen: status === undefined,
    phase: status?.decision ?? "Pending",
  })),
  pauses: facts<AutomationPause>(({ spec, status }) => ({
    isOpen: status === undefined,
    phase: status ? "Ended" : "Active",
    target: spec.scope === "Target" ? spec.targetResource : "",
  })),
  targets: facts<RemediationTarget>(({ status }) => ({
    isOpen: status?.holder !== undefined,
    phase: status?.holder ? "Held" : "Free",
  })),
  tasks: facts<CodingTask>(({ spec, status }) => ({
    isOpen: !status || !("completionTime" in status),
    target: spec.targetResource,
  })),
  notices: facts<NotificationRequest>(({ spec, status }) => ({
    isOpen: !status || !("completionTime" in status),
    target: spec.context?.targetResource ?? "",
  })),
};

function facts<T extends KubeObject>(read: (object: T) => RowFacts): (object: KubeObject) => RowFacts {
  return (object) => read(object as T);
}

/** Makes entries. Texts that many rows have are kept once. */
export class EntryMaker {
  readonly #kept = new Map<string, string>();

  make(kind: RowKind, object: KubeObject): RowEntry {
    const row = rowTypes[kind].toRow(object);
    const facts = factsOf[kind](object);
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
