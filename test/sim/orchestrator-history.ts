import type { Change } from "../../src/apiserver/object-store.ts";
import type { LedgerEvent } from "../../src/ledger/index.ts";
import {
  closedIncidentPhases,
  type NotificationRequest,
  type RemediationRequest,
  type RemediationTarget,
  type WorkflowExecution,
} from "../../src/resources/index.ts";
import { Violation } from "./lock-history.ts";
import { CancelCheck } from "./orchestrator-cancel-check.ts";
import type { World } from "./world.ts";

const nextPhases: Readonly<Record<string, readonly string[]>> = {
  "": ["Pending", "Analyzing", "Blocked", "Withdrawn"],
  Pending: ["Analyzing", "Blocked", "Withdrawn"],
  Analyzing: ["Executing", "Blocked", "Withdrawn"],
  Blocked: ["Analyzing", "Executing", "Withdrawn"],
  Executing: ["Analyzing", "Blocked", "Verifying", "Completed", "Failed", "Withdrawn"],
  Verifying: ["Analyzing", "Completed", "Withdrawn"],
  Completed: [],
  Failed: [],
  Withdrawn: [],
};

/** How long a block may outlive its reason in times of peace: longer than a lost event is waited for. */
const maxPatienceMs = 20_000;

interface Execution {
  object: WorkflowExecution;
  isGone: boolean;
  readonly incident: string | undefined;
}

/** Everything the server wrote about incidents, in true order, checked as it happens against what must never be. */
export class OrchestratorHistory {
  readonly #world: World;
  readonly #serverNowMs: () => number;
  readonly #events: () => readonly LedgerEvent[];
  readonly #incidents = new Map<string, { object: RemediationRequest; since: number; isGone: boolean }>();
  /** Executions that came back after their incident had gone on, by uid. */
  readonly #late = new Set<string>();
  readonly #executions = new Map<string, Execution>();
  readonly #cancels: CancelCheck;
  readonly #holders = new Map<string, { uid: string | undefined; since: number }>();
  #peaceSince = Number.POSITIVE_INFINITY;
  #violation: Violation | undefined;
  decided = 0;

  constructor(world: World, serverNowMs: () => number, events: () => readonly LedgerEvent[]) {
    this.#world = world;
    this.#serverNowMs = serverNowMs;
    this.#events = events;
    this.#cancels = new CancelCheck(serverNowMs);
  }

  /** Throws what was found wrong. */
  check(): void {
    if (this.#violation) throw this.#violation;
  }

  /** From now on nothing goes wrong any more. */
  peace(): void {
    this.#peaceSince = this.#world.now;
  }

  incident({ do: what, entry, previous }: Change): void {
    const object = entry.object as RemediationRequest;
    const before = (previous?.object as RemediationRequest | undefined)?.status;
    const { uid = "", name = "" } = object.metadata;
    const [from, to] = [before?.phase ?? "", object.status?.phase ?? ""];
    const known = this.#incidents.get(uid);
    const since = known && from === to ? known.since : this.#world.now;
    this.#incidents.set(uid, { object, since, isGone: what === "delete" });
    if (what === "delete" || !previous) return;
    if (from !== to && !nextPhases[from]?.includes(to)) this.#fail("O1 phases", `${name} went from ${from} to ${to}`);
    this.#nothingForgotten(name, before, object.status);
    this.#report(this.#cancels.incident(object, previous.object as RemediationRequest));
    if (from !== to) this.#explained(name, object.status);
    if (from === "Executing" && (to === "Verifying" || to === "Completed")) this.#inheritsSuccess(name, before);
  }

  execution({ do: what, entry, previous }: Change): void {
    const object = entry.object as WorkflowExecution;
    const { uid = "" } = object.metadata;
    const incident = object.metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
    if (!previous && what === "put") this.#created(object, incident);
    this.#report(this.#cancels.execution(object, previous?.object as WorkflowExecution | undefined, what === "delete"));
    this.#executions.set(uid, { object, isGone: what === "delete", incident });
  }

  notice({ entry, previous }: Change): void {
    if (!previous) this.#report(this.#cancels.notice(entry.object as NotificationRequest));
  }

  record({ do: what, entry }: Change): void {
    const { metadata, status } = entry.object as RemediationTarget;
    const { name = "" } = metadata;
    const uid = what === "delete" ? undefined : status?.holder?.executionUid;
    if (this.#holders.get(name)?.uid !== uid) this.#holders.set(name, { uid, since: this.#world.now });
  }

  /** Without faults no incident waits for a reason that has cleared. */
  checkBlocks(): void {
    const { now } = this.#world;
    for (const { object, since, isGone } of this.#incidents.values()) {
      const { status, metadata } = object;
      if (isGone || status?.phase !== "Blocked") continue;
      const clearedAt = this.#clearedAt(status.block);
      const waits = now - Math.max(clearedAt ?? Number.POSITIVE_INFINITY, since, this.#peaceSince + 30_000);
      if (waits > maxPatienceMs)
        this.#fail(
          "O3 decided again",
          `${metadata.name} is blocked (${status.block.reason}) ${waits} ms after that cleared`,
        );
    }
    this.check();
  }

  /** After everything has healed: every incident has ended, and the ledger records how. */
  atRest(): void {
    const events = this.#events();
    for (const { object, isGone } of this.#incidents.values()) {
      const { status, metadata } = object;
      const { name = "", uid = "" } = metadata;
      const phase = status?.phase ?? "";
      if (!isGone && !isClosed(phase)) this.#fail("O4 liveness", `${name} is still "${phase}"`);
      const ends = events.filter(({ id }) => id === `${uid}/incident.closed`);
      if (isClosed(phase) && (ends.length !== 1 || ends[0]?.facts["phase"] !== phase))
        this.#fail("O5 ledger", `${name} is ${phase}; the ledger says ${ends[0]?.facts["phase"]}`);
    }
    for (const { object, isGone } of this.#executions.values()) {
      const phase = object.status?.phase ?? "";
      if (!isGone && !["Completed", "Failed", "Skipped"].includes(phase))
        this.#fail("O4 liveness", `${object.metadata.name} is still "${phase}"`);
    }
    this.#report(this.#cancels.atRest(events));
    for (const { uid } of this.#holders.values()) if (uid) this.#fail("O4 liveness", `${uid} still holds its target`);
    this.check();
  }

  /** An execution is made for a decision that is on record, one at a time for an incident, and for the oldest first. */
  #created({ metadata, spec }: WorkflowExecution, incident: string | undefined) {
    const { name = "", namespace } = metadata;
    this.decided++;
    if (incident === undefined) return;
    const decided = this.#events().find(
      ({ id, facts }) =>
        id.startsWith(`${incident}/incident.decided/`) &&
        facts["verdict"] === "run" &&
        facts["execution"] === `${namespace}/${name}`,
    );
    if (!decided) return this.#fail("O6 recorded first", `${name} was made, and the ledger does not say why`);
    // A create that came late, or twice, and that the incident has gone on without. It must not be taken over.
    const known = this.#incidents.get(incident)?.object.status?.executionRefs ?? [];
    if (Number(name.slice(name.lastIndexOf("-") + 1)) <= known.length) {
      this.#late.add(metadata.uid ?? "");
      return;
    }
    for (const other of this.#executions.values()) {
      const isUnfinished = !["Completed", "Failed", "Skipped"].includes(other.object.status?.phase ?? "");
      const { deletionTimestamp } = other.object.metadata;
      if (other.incident === incident && !other.isGone && isUnfinished && !deletionTimestamp)
        this.#fail("O7 one execution per attempt", `${name} was made while ${other.object.metadata.name} goes on`);
    }
    this.#oldestFirst(name, incident, spec);
    this.#report(this.#cancels.created(name, incident, Date.parse(decided.at)));
  }

  /** Without faults. Of incidents that wait for the same workflow on the same target the oldest comes first. */
  #oldestFirst(name: string, uid: string, { targetResource, workflowRef }: WorkflowExecution["spec"]) {
    const own = this.#incidents.get(uid)?.object;
    const { now } = this.#world;
    if (!own || now < this.#peaceSince + 35_000) return;
    for (const { object, since, isGone } of this.#incidents.values()) {
      const { status, metadata } = object;
      const isWaiting = status?.phase === "Blocked" && !isGone && now - since > 10_000 && !status.resolvedAt;
      const { target, workflowId } = status?.diagnosis ?? {};
      const isSame = target === targetResource && workflowId === workflowRef.workflowId;
      if (isWaiting && isSame && status.block.reason !== "Ineffective" && ageOf(object) < ageOf(own))
        this.#fail("O8 oldest first", `${name} was made while ${metadata.name}, who is older, waits for the same`);
    }
  }

  /** What the gateway wrote, and what was made for the incident, stays. */
  #nothingForgotten(name: string, before: RemediationRequest["status"], after: RemediationRequest["status"]) {
    const [was, is] = [before?.deduplication?.occurrenceCount ?? 0, after?.deduplication?.occurrenceCount ?? 0];
    if (is < was) this.#fail("O9 nothing forgotten", `${name} was reported ${was} times, and says ${is}`);
    const refs = after?.executionRefs ?? [];
    const lost = before?.executionRefs?.find(({ uid }) => !refs.some((ref) => ref.uid === uid));
    if (lost) this.#fail("O9 nothing forgotten", `${name} no longer knows of ${lost.name}`);
    const uids = refs.map(({ uid }) => uid);
    const late = uids.find((uid) => this.#late.has(uid));
    if (late) this.#fail("O7 one execution per attempt", `${name} took over ${late}, which it had gone on without`);
    if (new Set(uids).size !== uids.length) this.#fail("O7 one execution per attempt", `${name} names one twice`);
  }

  /** Every wait is explained on record before it is written, except for what the executor explains. */
  #explained(name: string, status: RemediationRequest["status"]) {
    if (status?.phase !== "Blocked" || status.block.decision?.endsWith("/execution.skipped")) return;
    const { decision } = status.block;
    if (!this.#events().some(({ id }) => id === decision))
      this.#fail("O6 recorded first", `${name} is blocked, and the ledger does not say why`);
  }

  #inheritsSuccess(name: string, before: RemediationRequest["status"]) {
    const uid = before?.follows?.uid ?? before?.executionRefs?.at(-1)?.uid ?? "";
    const execution = this.#executions.get(uid)?.object;
    const phase = execution?.status?.phase;
    if (phase !== "Completed") this.#fail("O10 success is earned", `${name} shares the end of one that is ${phase}`);
  }

  /** In true time. */
  #clearedAt(block: { reason: string; until?: string; holder?: { executionUid: string } }): number | undefined {
    const { now } = this.#world;
    if (block.until !== undefined) {
      const ago = this.#serverNowMs() - Date.parse(block.until);
      return ago > 0 ? now - ago : undefined;
    }
    if (block.reason !== "ResourceBusy" || !block.holder) return undefined;
    const { executionUid } = block.holder;
    const phase = this.#executions.get(executionUid)?.object.status?.phase ?? "";
    if (!this.#executions.get(executionUid)?.isGone && !["Completed", "Failed", "Skipped"].includes(phase))
      return undefined;
    let freedAt = 0;
    for (const { uid, since } of this.#holders.values()) {
      if (uid === executionUid) return undefined;
      freedAt = Math.max(freedAt, since);
    }
    return freedAt;
  }

  #report(problem: string | undefined) {
    if (problem !== undefined) this.#fail("O11 cancelled once", problem);
  }

  #fail(what: string, why: string) {
    this.#violation ??= new Violation(what, `${why} (at ${Math.round(this.#world.now)} ms)`);
  }
}

function isClosed(phase: string): boolean {
  return (closedIncidentPhases as readonly string[]).includes(phase);
}

function ageOf({ metadata }: RemediationRequest): string {
  return `${metadata.creationTimestamp} ${metadata.uid}`;
}
