import type { KubeObject } from "../../kube/index.ts";
import { type RowFacts, rowFacts, rowTypes } from "../rows/index.ts";
import type { RowKind } from "../wire.ts";
import { type PackedRow, packRow } from "./packed-row.ts";

/** A row as the projection keeps it, with the values that filters and indexes compare. */
export interface RowEntry extends PackedRow, RowFacts {
  readonly key: string;
  /** When its object was created, in seconds since 1970, as precise as Kubernetes keeps it. */
  readonly createdSec: number;
  /** The latest time that the row shows. */
  readonly changedSec: number;
  /** When a pause ends by itself, in seconds since 1970; otherwise 0. */
  readonly endsSec: number;
  readonly lane: string;
  readonly namespace: string;
  /** Of the object that the target names, if its kind has one: payment of payment/deployment/api. */
  readonly targetNamespace: string;
}

/** Makes entries. Texts that many rows have are kept once. */
export class EntryMaker {
  readonly #kept = new Map<string, string>();

  make(kind: RowKind, object: KubeObject): RowEntry {
    const row = rowTypes[kind].toRow(object);
    const { isOpen, phase, reason, stall, outcome, target, workflow } = rowFacts(kind, object);
    const { packed, textAt } = packRow(row);
    return {
      packed,
      textAt,
      key: row.key,
      createdSec: seconds(row.createdAt),
      changedSec: latestSecond(row as unknown as Readonly<Record<string, unknown>>),
      endsSec: row.kind === "pauses" && row.until !== undefined ? seconds(row.until) : 0,
      isOpen,
      lane: "lane" in row ? row.lane : "",
      phase: this.#keep(phase),
      reason: this.#keep(reason),
      stall: this.#keep(stall),
      outcome: this.#keep(outcome),
      target: this.#keep(target),
      workflow: this.#keep(workflow),
      namespace: this.#keep(object.metadata.namespace ?? ""),
      targetNamespace: this.#keep(targetNamespace(target)),
    };
  }

  #keep(value: string): string {
    const kept = this.#kept.get(value);
    if (kept !== undefined) return kept;
    this.#kept.set(value, value);
    return value;
  }
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
