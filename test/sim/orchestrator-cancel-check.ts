import type { LedgerEvent } from "../../src/ledger/index.ts";
import {
  isUnfinished,
  type NotificationRequest,
  type RemediationRequest,
  readCancelRequest,
  type WorkflowExecution,
} from "../../src/resources/index.ts";

/**
 * A replica reads the incident before it decides, records and creates: a cancellation between the two is forwarded to the execution.
 * The time of a decision is the replica's estimate of the server's clock.
 */
const maxClockErrorMs = 1_000;

interface CancelledExecution {
  object: WorkflowExecution;
  /** Being deleted, or gone: what its incident does next is up to the operator who deleted it. */
  isLeaving: boolean;
}

/**
 * What must be true of incidents and executions that an operator cancels while they are open. Each method returns what is
 * wrong, or undefined.
 */
export class CancelCheck {
  readonly #serverNowMs: () => number;
  /** By uid, with the time of the cancellation. */
  readonly #incidents = new Map<string, { readonly object: RemediationRequest; readonly atMs: number }>();
  readonly #executions = new Map<string, CancelledExecution>();

  constructor(serverNowMs: () => number) {
    this.#serverNowMs = serverNowMs;
  }

  /** A cancelled incident ends as Cancelled, and so does one whose own execution was cancelled. */
  incident(object: RemediationRequest, before: RemediationRequest): string | undefined {
    const { name, uid = "" } = object.metadata;
    const [was, is] = [outcomeOf(before), outcomeOf(object)];
    if (was !== undefined) return was === is ? undefined : `${name} ended ${was}, and then ${is}`;
    if (readCancelRequest(object) && !this.#incidents.has(uid))
      this.#incidents.set(uid, { object, atMs: this.#serverNowMs() });
    if (is === undefined || this.#isUpToOperator(object)) return undefined;
    const isCancelled = this.#incidents.has(uid) || this.#ownExecutionIsCancelled(object);
    // A replica that has not yet seen the end of the execution may find that it took too long.
    if (isCancelled === (is === "Cancelled") || (is === "TimedOut" && !this.#incidents.has(uid))) return undefined;
    return `${name} ${isCancelled ? "was cancelled" : "was not cancelled"}, and ended ${is}`;
  }

  /** One that had not been started ends as Cancelled; one that runs may end by itself before it is stopped. */
  execution(object: WorkflowExecution, before: WorkflowExecution | undefined, isGone: boolean): string | undefined {
    const { name, uid = "", deletionTimestamp } = object.metadata;
    const isLeaving = isGone || deletionTimestamp !== undefined;
    const isRequested = readCancelRequest(object) !== undefined && (!before || isUnfinished(before));
    if (isRequested || this.#executions.has(uid)) this.#executions.set(uid, { object, isLeaving });
    if (!isRequested || isLeaving || isUnfinished(object)) return undefined;
    const isFromPending = (before?.status?.phase ?? "Pending") === "Pending";
    if (!isFromPending || wasCancelled(object)) return undefined;
    return `${name} was cancelled before it was started, and ended ${object.status?.phase}`;
  }

  /** Nothing is decided and created for an incident that was cancelled, itself or by its latest execution. */
  created(name: string, incidentUid: string, decidedAtMs: number): string | undefined {
    const incident = this.#incidents.get(incidentUid);
    if (incident && decidedAtMs > incident.atMs + maxClockErrorMs)
      return `${name} was decided after ${incident.object.metadata.name} had been cancelled`;
    for (const { object, isLeaving } of this.#executions.values()) {
      const owner = object.metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
      if (owner === incidentUid && !isLeaving && wasCancelled(object))
        return `${name} was created although ${object.metadata.name} had been cancelled`;
    }
    return undefined;
  }

  /**
   * An operator who cancels is not paged about it. Two critical notices remain true after a cancellation: one about the
   * target (`skipReason`), and one about an execution that failed by itself.
   */
  notice({ spec }: NotificationRequest): string | undefined {
    const { execution, skipReason } = spec.context ?? {};
    if (execution) {
      const cancelled = [...this.#executions.values()].some(
        ({ object }) => object.metadata.name === execution && wasCancelled(object),
      );
      return cancelled ? `a notice (${spec.eventType}) was created for ${execution}, which was cancelled` : undefined;
    }
    const incident = this.#incidents.get(spec.remediationRequestRef?.uid ?? "");
    if (!incident || spec.severity !== "critical" || skipReason) return undefined;
    return `a critical notice (${spec.eventType}) was created for ${incident.object.metadata.name}, which was cancelled`;
  }

  /** The ledger names the operator once for each. */
  atRest(events: readonly LedgerEvent[]): string | undefined {
    const namings = (id: string) => events.filter((event) => event.id === id && event.facts["by"] === "kim").length;
    for (const [uid, { object }] of this.#incidents) {
      const { metadata } = object;
      const count = namings(`${uid}/incident.cancelled`);
      if (count !== 1) return `${metadata.name} was cancelled; the ledger says so ${count} times`;
    }
    for (const [uid, { object }] of this.#executions) {
      const count = namings(`${uid}/execution.cancelled`);
      if (wasCancelled(object) && count !== 1)
        return `${object.metadata.name} was cancelled; the ledger says so ${count} times`;
    }
    return undefined;
  }

  #ownExecutionIsCancelled(incident: RemediationRequest): boolean {
    const execution = this.#ownExecution(incident);
    return execution !== undefined && wasCancelled(execution.object);
  }

  /** An execution was cancelled and then deleted: the incident ends as Cancelled if it was read before it was gone. */
  #isUpToOperator(incident: RemediationRequest): boolean {
    const execution = this.#ownExecution(incident);
    return execution?.isLeaving === true && wasCancelled(execution.object);
  }

  #ownExecution({ status }: RemediationRequest): CancelledExecution | undefined {
    const own = status?.follows ? undefined : status?.executionRefs?.at(-1);
    return this.#executions.get(own?.uid ?? "");
  }
}

function outcomeOf({ status }: RemediationRequest): string | undefined {
  return status && "outcome" in status ? status.outcome : undefined;
}

function wasCancelled({ status }: WorkflowExecution): boolean {
  return status?.phase === "Failed" && status.failureDetails.cancellation !== undefined;
}
