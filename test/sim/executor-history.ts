import type { Change } from "../../src/apiserver/object-store.ts";
import { runOwner } from "../../src/engines/index.ts";
import type { KubeObject } from "../../src/kube/index.ts";
import type { LedgerEvent } from "../../src/ledger/index.ts";
import {
  annotationKeys,
  parseTarget,
  type RemediationApprovalRequest,
  type RemediationTarget,
  type RemediationTargetStatus,
  targetHash,
  type WorkflowExecution,
} from "../../src/resources/index.ts";
import { ledgerContradiction } from "./executor-ledger-check.ts";
import { type KnownEnd, type PolicyRules, whyNotAllowed } from "./executor-policy-model.ts";
import {
  cooldownLeft,
  isAcknowledged,
  missingAck,
  missingEnd,
  recordContradiction,
  statusContradiction,
} from "./executor-record-check.ts";
import { needsApproval } from "./executor-story.ts";
import { Violation } from "./lock-history.ts";
import { runStage } from "./run-actors.ts";
import type { World } from "./world.ts";

/** What became of one execution, by the order in which the server wrote it down. */
export interface ExecutionTrail {
  readonly uid: string;
  readonly name: string;
  /** Hash of its target; undefined if that cannot be read. */
  readonly target: string | undefined;
  readonly workflowId: string;
  readonly createdAt: number;
  object: WorkflowExecution;
  /** Being deleted, or gone. */
  isLeaving: boolean;
  isGone: boolean;
  /** It was removed before any executor could settle it. */
  isForced: boolean;
  readonly startedRuns: Set<string>;
  readonly holdings: Holding[];
}

/** A stretch of record versions in which an execution held its target. */
export interface Holding {
  readonly fromVersion: number;
  readonly fromTime: number;
  toVersion?: number;
  toTime?: number;
  /** It ended because the record was deleted. */
  recordDeleted?: boolean;
}

interface Target {
  record: RemediationTarget | undefined;
  /** Every version of the record, and from when on it was the one. */
  readonly versions: { readonly fromTime: number; readonly status: RemediationTargetStatus | undefined }[];
  holder: ExecutionTrail | undefined;
  /** The run that was started and has not ended. */
  active: { readonly uid: string; readonly executionUid: string } | undefined;
  readonly ends: Map<string, KnownEnd>;
}

const nextPhases: Readonly<Record<string, readonly string[]>> = {
  "": ["Pending"],
  Pending: ["Running", "Skipped", "Failed"],
  Running: ["Completed", "Failed"],
  Completed: [],
  Failed: [],
  Skipped: [],
};

/** Everything the server wrote, in true order, checked as it happens against what must never be. */
export class ExecutorHistory {
  readonly executions = new Map<string, ExecutionTrail>();
  readonly #targets = new Map<string, Target>();
  readonly #runOwners = new Map<string, string>();
  readonly #meddledWith = new Set<string>();
  /** Decision of each approval request, by its name. */
  readonly #decisions = new Map<string, string>();
  /** Uid of the execution that each approval was used for, by its name. */
  readonly #approvals = new Map<string, string>();
  readonly #world: World;
  readonly #rules: PolicyRules;
  readonly #serverNowMs: () => number;
  #violation: Violation | undefined;
  admissions = 0;

  constructor(world: World, rules: PolicyRules, serverNowMs: () => number) {
    this.#world = world;
    this.#rules = rules;
    this.#serverNowMs = serverNowMs;
  }

  /** Throws what was found wrong. */
  check(): void {
    if (this.#violation) throw this.#violation;
  }

  /** This run is deleted from outside. */
  meddledWith(run: KubeObject): void {
    this.#meddledWith.add(run.metadata.uid ?? "");
  }

  forced(uid: string): void {
    const trail = this.executions.get(uid);
    if (trail) trail.isForced = true;
  }

  execution({ do: what, entry, previous }: Change): void {
    const object = entry.object as WorkflowExecution;
    const trail = this.#trailOf(object);
    const before = trail.object.status?.phase ?? "";
    const after = object.status?.phase ?? "";
    trail.object = object;
    trail.isLeaving ||= object.metadata.deletionTimestamp !== undefined;
    if (what === "delete") {
      trail.isLeaving = true;
      trail.isGone = true;
      return this.#endsItsCooldown(trail);
    }
    this.#isFolded(trail);
    if (!previous || before === after) return;
    if (!nextPhases[before]?.includes(after)) this.#fail("E1 phases", `${trail.name} went from ${before} to ${after}`);
    if (after === "Running") this.#ranItsOwn(trail);
    if (after === "Completed" || after === "Failed") {
      this.#endedAfterItsRun(trail);
      this.#figuresOfStatus(trail);
      this.#endedInItsTime(trail);
    }
    if (after === "Skipped") this.#skippedForAHolder(trail);
  }

  run({ do: what, entry, previous }: Change): void {
    const run = entry.object;
    if (!previous) this.#isFromCatalog(run);
    const { executionUid = "" } = runOwner(run);
    const { uid = "" } = run.metadata;
    const target = this.#targetOf(run.metadata.labels?.["kubernaut.ai/target-hash"] ?? "");
    this.#runOwners.set(uid, executionUid);
    const stage = runStage(run);
    const before = previous && runStage(previous.object);
    const isLeaving = what === "delete" || run.metadata.deletionTimestamp !== undefined;
    if (isLeaving && target.active?.uid === uid && stage !== "ended" && !this.#meddledWith.has(uid)) {
      this.#fail("E6 one at a time", `run ${uid} was deleted while it goes on`);
    }
    if (what === "delete" || stage === "ended") {
      if (target.active?.uid === uid) target.active = undefined;
    } else if (before === "suspended" && stage === "to-start") this.#started(uid, executionUid, target);
    else if (before === undefined && stage !== "suspended")
      this.#fail("E2 suspended", `run ${uid} began without leave`);
  }

  approval({ entry }: Change): void {
    const { metadata, status } = entry.object as RemediationApprovalRequest;
    if (status) this.#decisions.set(metadata.name ?? "", status.decision);
  }

  record({ do: what, entry, previous }: Change): void {
    const record = entry.object as RemediationTarget;
    const target = this.#targetOf(record.metadata.name ?? "");
    target.record = what === "delete" ? undefined : record;
    target.versions.push({ fromTime: this.#world.now, status: target.record?.status });
    const holder = what === "delete" ? undefined : record.status?.holder?.executionUid;
    if (what === "delete") for (const end of target.ends.values()) end.recordDeletedSince = true;
    else this.#noteEnds(target, record);
    if (holder !== target.holder?.uid) this.#holderChanged(target, holder, entry.revision, what === "delete");
    if (holder && (previous?.object as RemediationTarget | undefined)?.status && this.#justAdmitted(target, previous)) {
      this.#obeysPolicy(target);
    }
    if (what === "put" && record.status && target.active && holder !== target.active.executionUid) {
      this.#fail(
        "E3 held while it runs",
        `run ${target.active.uid} goes on, but the record names ${holder ?? "no holder"}`,
      );
    }
    if (what === "put") this.#saysWhatHappened(record, previous?.object as RemediationTarget | undefined);
  }

  /** After everything has healed: nothing is left undone. */
  atRest(runs: readonly KubeObject[], events: readonly LedgerEvent[]): void {
    for (const { name, object, isGone } of this.executions.values()) {
      const phase = object.status?.phase ?? "";
      if (!isGone && nextPhases[phase]?.length !== 0) this.#fail("E4 liveness", `${name} is still "${phase}"`);
      if (!isGone && object.metadata.deletionTimestamp)
        this.#fail("E4 liveness", `${name} was deleted and is still there`);
    }
    for (const run of runs) {
      this.#fail("E5 nothing left", `run ${run.metadata.name} of ${runOwner(run).executionUid} is ${runStage(run)}`);
    }
    for (const { holder } of this.#targets.values()) {
      if (holder)
        this.#fail("E5 nothing left", `${holder.name} (${holder.object.status?.phase}) still holds its target`);
    }
    for (const trail of this.executions.values()) {
      const missing = missingAck(trail, this.#targetOf(trail.target ?? "").record?.status);
      if (missing) this.#fail("E11 record", missing);
    }
    const wrong = ledgerContradiction([...this.executions.values()], events);
    if (wrong) this.#fail("E9 ledger", wrong);
    this.check();
  }

  #trailOf(object: WorkflowExecution): ExecutionTrail {
    const { uid = "", name = "" } = object.metadata;
    const known = this.executions.get(uid);
    if (known) return known;
    const read = parseTarget(object.spec.targetResource);
    const target = read.kind === "target" && read.target.type === "object" ? targetHash(read.target) : undefined;
    const trail: ExecutionTrail = {
      ...{ uid, name, target, object, workflowId: object.spec.workflowRef.workflowId, createdAt: this.#world.now },
      ...{ isLeaving: false, isGone: false, isForced: false, startedRuns: new Set<string>(), holdings: [] },
    };
    this.executions.set(uid, trail);
    return trail;
  }

  #targetOf(hash: string): Target {
    const known = this.#targets.get(hash);
    if (known) return known;
    const target: Target = { record: undefined, versions: [], holder: undefined, active: undefined, ends: new Map() };
    this.#targets.set(hash, target);
    return target;
  }

  /** What executions ask for that the catalog does not say is never in a run. */
  #isFromCatalog(run: KubeObject) {
    const text = JSON.stringify(run);
    const foreign = ["attacker.example", "cluster-admin-sa", "unheard-of"].find((word) => text.includes(word));
    if (foreign) this.#fail("E14 catalog", `run ${run.metadata.name} was created with ${foreign}`);
  }

  /** Nothing that requires an approval starts without one, and an approval is good for one run. */
  #isApproved({ uid, name, object, target }: ExecutionTrail) {
    const { workflowId, version } = object.spec.workflowRef;
    if (!needsApproval(workflowId, version)) return;
    const approval = object.metadata.annotations?.[annotationKeys.approval];
    if (approval === undefined) return this.#fail("E15 approval", `${name} was started without an approval`);
    const decision = this.#decisions.get(approval);
    if (decision !== "Approved")
      return this.#fail("E15 approval", `${name} was started with ${approval}, which is ${decision ?? "not answered"}`);
    const user = this.executions.get(this.#approvals.get(approval) ?? uid);
    this.#approvals.set(approval, uid);
    if (!user || user.uid === uid) return;
    // A record that is made again knows only the executions that are there.
    const end = this.#targetOf(target ?? "").ends.get(user.uid);
    if (user.isLeaving && (end?.recordDeletedSince ?? true)) return;
    this.#fail("E15 approval", `${name} was started with ${approval}, which ${user.name} had used`);
  }

  #started(uid: string, executionUid: string, target: Target) {
    const { active, holder, record } = target;
    if (active) this.#fail("E6 one at a time", `run ${uid} was started while ${active.uid} goes on`);
    if (holder?.uid !== executionUid && record?.status) {
      this.#fail(
        "E3 held while it runs",
        `run ${uid} of ${executionUid} was started while ${holder?.uid} holds the target`,
      );
    }
    target.active = { uid, executionUid };
    const trail = this.executions.get(executionUid);
    if (!trail) return this.#fail("E7 started once", `run ${uid} was started for no execution`);
    // Who is removed by force is gone between any two steps.
    if (trail.isGone && !trail.isForced)
      this.#fail("E7 started once", `run ${uid} was started for ${trail.name}, who is gone`);
    if (trail.startedRuns.size > 0) this.#fail("E7 started once", `${trail.name} was started a second time`);
    trail.startedRuns.add(uid);
    this.#isApproved(trail);
  }

  #ranItsOwn({ name, uid, object }: ExecutionTrail) {
    const run = object.status?.phase === "Running" ? object.status.pipelineRunRef.uid : "";
    if (this.#runOwners.get(run) !== uid) this.#fail("E7 own run", `${name} took run ${run} for its own`);
  }

  #endedAfterItsRun({ name, uid, target }: ExecutionTrail) {
    const { active } = this.#targetOf(target ?? "");
    if (active?.executionUid === uid)
      this.#fail("E3 held while it runs", `${name} ended, but its run ${active.uid} goes on`);
  }

  /** The holder that is named held the target at some moment since the execution was there. */
  #skippedForAHolder({ name, object, createdAt }: ExecutionTrail) {
    const details = object.status?.phase === "Skipped" ? object.status.skipDetails : undefined;
    if (details?.reason !== "ResourceBusy") return;
    const holder = this.executions.get(details.conflictingWorkflow.uid);
    const held = holder?.holdings.some(({ toTime = Number.POSITIVE_INFINITY }) => toTime >= createdAt);
    if (!held)
      this.#fail("E8 skip", `${name} was skipped for ${details.conflictingWorkflow.name}, who did not hold the target`);
  }

  #holderChanged(target: Target, uid: string | undefined, version: number, recordDeleted: boolean) {
    const { now } = this.#world;
    const last = target.holder?.holdings.at(-1);
    if (target.holder && uid) this.#fail("E6 one at a time", `${uid} took the target from ${target.holder.name}`);
    if (last) Object.assign(last, { toVersion: version, toTime: now, recordDeleted });
    target.holder = uid === undefined ? undefined : this.executions.get(uid);
    if (uid !== undefined && !target.holder) this.#fail("E8 holder", `${uid}, who never was, holds the target`);
    target.holder?.holdings.push({ fromVersion: version, fromTime: now });
  }

  #justAdmitted(target: Target, previous: Change["previous"]): boolean {
    const before = (previous?.object as RemediationTarget | undefined)?.status?.holder?.executionUid;
    return before !== target.holder?.uid;
  }

  /** What is in the record once is known for ever, whatever becomes of the record. */
  #noteEnds({ ends }: Target, { status }: RemediationTarget) {
    for (const { workflowId, recentEnds } of status?.workflows ?? []) {
      for (const end of recentEnds) {
        const known = ends.get(end.executionUid);
        ends.set(end.executionUid, { ...end, workflowId, recordDeletedSince: known?.recordDeletedSince ?? false });
      }
    }
  }

  #obeysPolicy(target: Target) {
    this.admissions++;
    const { holder, ends } = target;
    if (!holder) return;
    const trails = this.executions;
    const relevant = [...ends.values()].filter(
      (end) => end.workflowId === holder.workflowId && !isForgotten(end, trails),
    );
    const counted = relevant.map((end) => (isLeaving(end, trails) ? { ...end, cooldownEnded: true as const } : end));
    const why = whyNotAllowed(counted, acksOf(holder, trails), this.#serverNowMs(), this.#rules);
    if (why) this.#fail("E10 policy", `${holder.name} (${holder.workflowId}) was admitted: ${why}`);
  }

  #saysWhatHappened(record: RemediationTarget, previous: RemediationTarget | undefined) {
    const trails = this.executions;
    const wrong = recordContradiction({ record, previous, trails, rules: this.#rules });
    if (wrong) this.#fail("E11 record", wrong);
  }

  #isFolded(trail: ExecutionTrail) {
    const missing = missingEnd(trail, this.#targetOf(trail.target ?? "").record?.status);
    if (missing) this.#fail("E11 record", missing);
  }

  #endsItsCooldown(trail: ExecutionTrail) {
    const left = cooldownLeft(trail, this.#targetOf(trail.target ?? "").record?.status);
    if (left) this.#fail("E11 record", left);
  }

  #figuresOfStatus(trail: ExecutionTrail) {
    const { versions } = this.#targetOf(trail.target ?? "");
    const first = versions.findLastIndex(({ fromTime }) => fromTime <= trail.createdAt);
    // Before its first version there was no record.
    const seen = [...(first < 0 ? [undefined] : []), ...versions.slice(Math.max(0, first)).map(({ status }) => status)];
    const wrong = statusContradiction(trail, seen, this.#rules);
    if (wrong) this.#fail("E13 status", `${trail.name}: ${wrong}`);
  }

  /** Whatever the clock of its engine: the order of ends shows which failures an acknowledgement covers. */
  #endedInItsTime({ name, object: { metadata, status } }: ExecutionTrail) {
    if (!status || !("completionTime" in status)) return;
    const atMs = Date.parse(status.completionTime);
    const { clockErrorMs } = this.#rules;
    const isEarly = atMs < Date.parse(metadata.creationTimestamp ?? "") - clockErrorMs;
    if (isEarly || atMs > this.#serverNowMs() + clockErrorMs)
      this.#fail("E13 status", `${name} says that it ended at ${status.completionTime}`);
  }

  #fail(what: string, why: string) {
    this.#violation ??= new Violation(what, `${why} (at ${Math.round(this.#world.now)} ms)`);
  }
}

/** A record that is made again knows only the executions that are there. */
function isForgotten(end: KnownEnd, trails: ReadonlyMap<string, ExecutionTrail>): boolean {
  return end.recordDeletedSince && isLeaving(end, trails);
}

/** Deleting an execution ends its cooldown. Its success still ends a series of failures. */
function isLeaving({ executionUid }: KnownEnd, trails: ReadonlyMap<string, ExecutionTrail>): boolean {
  return trails.get(executionUid)?.isLeaving ?? true;
}

/** Until when everything is acknowledged, by what people wrote on executions that had ended. */
function acksOf(holder: ExecutionTrail, trails: ReadonlyMap<string, ExecutionTrail>): number {
  let until = Number.NEGATIVE_INFINITY;
  for (const trail of trails.values()) {
    const { target, workflowId, object } = trail;
    const isAcked = isAcknowledged(trail);
    const { status } = object;
    const completedAt = status && "completionTime" in status ? Date.parse(status.completionTime ?? "") : Number.NaN;
    if (isAcked && target === holder.target && workflowId === holder.workflowId && completedAt > until)
      until = completedAt;
  }
  return until;
}
