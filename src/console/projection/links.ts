import type { KubeObject } from "../../kube/index.ts";
import {
  type AutomationPause,
  type AutomationPauseSpec,
  parsePauseTarget,
  type RemediationApprovalRequest,
  type RemediationRequest,
  type RemediationTarget,
} from "../../resources/index.ts";
import { type IncidentLinks, pauseScope, rowKey } from "../rows/index.ts";
import type { RowKind } from "../wire.ts";
import type { RowEntry } from "./entry.ts";

/** A row that changes although its own object does not. */
export type Touch = (kind: RowKind, key: string) => void;

/**
 * A change in a queue changes the position of every incident behind it. So many of them are sent to viewers at once; the
 * others have their position when they are read.
 */
const maxMovedPositions = 100;

/** What the rows of some objects show of others: places in queues, approvals, failures and what pauses hold back. */
export class Links {
  readonly #touch: Touch;
  readonly #maxFailures: number;
  /** By target: the incidents that wait until it is free, in the order in which they are decided. */
  readonly #queues = new Map<string, Queued[]>();
  /** By target: the number of executions that are not admitted yet. */
  readonly #pendingExecutions = new Map<string, number>();
  readonly #records = new Map<string, TargetRecord>();
  /** By target: the incidents that wait after failures. */
  readonly #backingOff = new Map<string, Set<string>>();
  /** By incident: the approval that it waits for. */
  readonly #approvals = new Map<string, string>();
  /** By approval: the incident that waits for it. */
  readonly #approvalOf = new Map<string, string>();
  /** By scope: the number of incidents that are paused there. */
  readonly #paused = new Map<string, number>();
  /** By scope: the pauses of it. */
  readonly #pauses = new Map<string, Set<string>>();
  readonly #scopeOf = new Map<string, string>();

  constructor(maxFailures: number, touch: Touch) {
    this.#maxFailures = maxFailures;
    this.#touch = touch;
  }

  /** Takes in a change of one object, from `before` to `after`; `object` is undefined if it was deleted. */
  change(kind: RowKind, object: KubeObject | undefined, { before, after }: EntryChange): void {
    switch (kind) {
      case "incidents":
        return this.#changeIncident(object as RemediationRequest | undefined, { before, after });
      case "executions":
        return this.#changeExecution({ before, after });
      case "approvals":
        return this.#changeApproval(object as RemediationApprovalRequest | undefined, { before, after });
      case "targets":
        return this.#changeRecord(object as RemediationTarget | undefined, { before, after });
      case "pauses":
        return this.#changePause(object as AutomationPause | undefined, { before, after });
    }
  }

  /** Undefined for an incident that shows nothing of others. */
  ofIncident(entry: RowEntry): IncidentLinks | undefined {
    const { key, lane, target, workflow } = entry;
    if (lane === "queued") {
      const queue = this.#queues.get(target) ?? [];
      return { position: queue.findIndex((one) => one.key === key) + 1 };
    }
    if (lane === "backingOff") {
      const failures = this.#records.get(target)?.failures.get(workflow);
      // It waits for the attempt after those that failed.
      return failures === undefined ? undefined : { attempt: { number: failures + 1, of: this.#maxFailures } };
    }
    const approval = lane === "needsYou" ? this.#approvals.get(key) : undefined;
    return approval === undefined ? undefined : { approval };
  }

  /** The number of incidents and executions that wait for a target. */
  waitingFor(target: string): number {
    return (this.#queues.get(target)?.length ?? 0) + (this.#pendingExecutions.get(target) ?? 0);
  }

  /** The number of incidents that a pause holds back, if it lasts. */
  suppressedBy(pause: string): number {
    return this.#paused.get(this.#scopeOf.get(pause) ?? "") ?? 0;
  }

  #changeIncident(incident: RemediationRequest | undefined, { before, after }: EntryChange) {
    if (before?.lane === "queued") this.#leaveQueue(before);
    if (after?.lane === "queued" && incident) this.#joinQueue(after, incident);
    if (before?.lane === "backingOff") this.#backingOff.get(before.target)?.delete(before.key);
    if (after?.lane === "backingOff") addTo(this.#backingOff, after.target, after.key);
    if (before?.lane === "paused") this.#countPaused(before, -1);
    if (after?.lane === "paused") this.#countPaused(after, 1);
  }

  #joinQueue({ key, target }: RowEntry, { metadata }: RemediationRequest) {
    const queue = this.#queues.get(target) ?? [];
    this.#queues.set(target, queue);
    const { creationTimestamp = "", uid = "" } = metadata;
    const order = `${creationTimestamp} ${uid}`;
    const behind = queue.findIndex((other) => other.order > order);
    const at = behind < 0 ? queue.length : behind;
    queue.splice(at, 0, { key, order });
    this.#touchQueue(target, at);
  }

  #leaveQueue({ key, target }: RowEntry) {
    const queue = this.#queues.get(target);
    const at = queue?.findIndex((one) => one.key === key) ?? -1;
    if (!queue || at < 0) return;
    queue.splice(at, 1);
    if (queue.length === 0) this.#queues.delete(target);
    this.#touchQueue(target, at);
  }

  #touchQueue(target: string, from: number) {
    const moved = (this.#queues.get(target) ?? []).slice(from, from + maxMovedPositions);
    for (const { key } of moved) this.#touch("incidents", key);
    this.#touchRecord(target);
  }

  #touchRecord(target: string) {
    const record = this.#records.get(target);
    if (record) this.#touch("targets", record.key);
  }

  #changeExecution({ before, after }: EntryChange) {
    if (before?.phase === "Pending") this.#countPending(before.target, -1);
    if (after?.phase === "Pending") this.#countPending(after.target, 1);
  }

  #countPending(target: string, difference: number) {
    count(this.#pendingExecutions, target, difference);
    this.#touchRecord(target);
  }

  #changeRecord(record: RemediationTarget | undefined, { before, after }: EntryChange) {
    if (before && !after) this.#records.delete(before.target);
    if (!record || !after) return;
    const failed = (record.status?.workflows ?? []).filter(({ consecutiveFailures }) => consecutiveFailures > 0);
    const failures = new Map(failed.map(({ workflowId, consecutiveFailures }) => [workflowId, consecutiveFailures]));
    this.#records.set(after.target, { key: after.key, failures: failures.size === 0 ? noFailures : failures });
    for (const key of this.#backingOff.get(after.target) ?? []) this.#touch("incidents", key);
  }

  #changeApproval(approval: RemediationApprovalRequest | undefined, { before, after }: EntryChange) {
    const key = after?.key ?? before?.key ?? "";
    const earlier = this.#approvalOf.get(key);
    if (earlier !== undefined) {
      this.#approvalOf.delete(key);
      if (this.#approvals.get(earlier) === key) this.#approvals.delete(earlier);
      this.#touch("incidents", earlier);
    }
    const incident = approval?.spec.remediationRequestRef;
    if (!approval || !incident || approval.status !== undefined) return;
    const incidentKey = rowKey(incident, approval.metadata.namespace);
    this.#approvals.set(incidentKey, key);
    this.#approvalOf.set(key, incidentKey);
    this.#touch("incidents", incidentKey);
  }

  #changePause(pause: AutomationPause | undefined, { before, after }: EntryChange) {
    const key = after?.key ?? before?.key ?? "";
    const earlier = this.#scopeOf.get(key);
    if (earlier !== undefined) this.#pauses.get(earlier)?.delete(key);
    this.#scopeOf.delete(key);
    if (!pause || pause.status !== undefined) return;
    const scope = scopeKey(pause.spec);
    this.#scopeOf.set(key, scope);
    addTo(this.#pauses, scope, key);
  }

  #countPaused({ target, targetNamespace, workflow }: RowEntry, difference: number) {
    const scopes = ["everything", `namespace ${targetNamespace}`, `target ${target}`, `workflow ${workflow}`];
    for (const scope of scopes) {
      count(this.#paused, scope, difference);
      for (const key of this.#pauses.get(scope) ?? []) this.#touch("pauses", key);
    }
  }
}

/** The entries of one object before and after a change. */
export interface EntryChange {
  readonly before: RowEntry | undefined;
  readonly after: RowEntry | undefined;
}

interface Queued {
  readonly key: string;
  /** By age, then by uid, as the orchestrator decides. */
  readonly order: string;
}

interface TargetRecord {
  readonly key: string;
  /** By workflow: its failures in a row before acting. */
  readonly failures: ReadonlyMap<string, number>;
}

/** Most records have none. */
const noFailures: ReadonlyMap<string, number> = new Map();

/** The scope of a pause, with its target in canonical form. */
function scopeKey(spec: AutomationPauseSpec): string {
  const read = spec.scope === "Target" ? parsePauseTarget(spec.targetResource) : undefined;
  return pauseScope(spec.scope === "Target" && read?.kind === "target" ? { ...spec, targetResource: read.text } : spec);
}

function count(counts: Map<string, number>, key: string, difference: number): void {
  const next = (counts.get(key) ?? 0) + difference;
  if (next > 0) counts.set(key, next);
  else counts.delete(key);
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}
