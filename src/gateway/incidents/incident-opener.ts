import { keyOf, type Locks } from "../../coordination/index.ts";
import { type KubeClient, KubeError } from "../../kube/index.ts";
import {
  type KindsCache,
  type RemediationRequest,
  remediationRequests,
  type Signal,
  toObjectTarget,
} from "../../resources/index.ts";
import type { WarnLimited } from "../../telemetry/index.ts";
import type { Admission } from "../admission.ts";
import type { Occurrences } from "../counts/occurrences.ts";
import type { Addition } from "../counts/tally.ts";
import { decideFiring } from "../decide.ts";
import { GatewayError } from "../gateway-error.ts";
import type { Report } from "../identity/report.ts";
import type { ScopeOf } from "../identity/scope.ts";
import { draftIncident, payloadProblem } from "./draft.ts";
import type { History, Incidents } from "./incidents.ts";
import type { OpenIncidents } from "./open-incidents.ts";

export interface OpenerOptions {
  readonly client: KubeClient;
  readonly kinds: Pick<KindsCache, "current">;
  /** The namespace of all incidents: their names are unique within it. */
  readonly namespace: string;
  readonly incidents: Incidents;
  readonly occurrences: Occurrences;
  readonly open: OpenIncidents;
  readonly scopeOf: ScopeOf;
  readonly locks: Locks;
  /** The maximum wait for the fingerprint's lock before the gateway continues without it. */
  readonly lockWaitMs: number;
  readonly warn: WarnLimited;
  /** Records the opening of an incident in the ledger. */
  readonly recordOpening: (incident: RemediationRequest) => Promise<void>;
}

/** `exists`: another signal has opened an incident. */
type Opened = Admission | { readonly kind: "exists" };

/** Opens incidents, one at a time for each fingerprint. */
export class IncidentOpener {
  readonly #options: OpenerOptions;
  readonly #running = new Map<string, Promise<Opened>>();

  constructor(options: OpenerOptions) {
    this.#options = options;
  }

  /** Concurrent calls with one fingerprint share one run: the result is that of the first signal, and only its caller gets `isMine`. */
  async open(report: Report, addition: Addition, { isRetry }: { readonly isRetry: boolean }) {
    const { fingerprint } = report;
    const running = this.#running.get(fingerprint);
    if (running) return { result: await running, isMine: false };

    const run = this.#openLocked(report, addition, isRetry).finally(() => this.#running.delete(fingerprint));
    this.#running.set(fingerprint, run);
    return { result: await run, isMine: true };
  }

  /** Takes the fingerprint's lock first, so that gateways do not race. Without the lock they race, and one creates the incident. */
  async #openLocked(report: Report, addition: Addition, isRetry: boolean): Promise<Opened> {
    const { locks, lockWaitMs, warn, open } = this.#options;
    const { fingerprint, signal } = report;
    // Nothing will be created, and a lock would leave an object for every fingerprint that a sender invents.
    if (!addition.from && !open.hasRoom(signal.sender)) return this.#openNow(report, addition, isRetry);
    const options = { waitMs: lockWaitMs, purpose: "open an incident" };
    await using _lease = await locks.acquire(keyOf("incident", fingerprint), options).catch((error: unknown) => {
      warn("fingerprint lock not taken", { fingerprint, error }, error);
      return undefined;
    });
    // Awaited here, so that the lock is held until the incident is there.
    return await this.#openNow(report, addition, isRetry);
  }

  /**
   * A retry reads the whole history: the next name exists already, so the first read was incomplete. So does an occurrence,
   * which any earlier incident may have.
   */
  async #openNow(report: Report, addition: Addition, isRetry: boolean): Promise<Opened> {
    const { incidents, scopeOf, kinds } = this.#options;
    const { fingerprint, owner, signal } = report;
    const { newest, earlier } = await (isRetry || signal.isOccurrence
      ? incidents.readWholeHistory(fingerprint)
      : incidents.readHistory(fingerprint, signal.firingAt));
    const decision = decideFiring(newest, report, [...earlier, ...(await this.#formerSeries(report))]);
    if (decision.do === "count") return { kind: "exists" };
    if (decision.do === "ignore") return { kind: "ignored", fingerprint, because: decision.because };

    const problem = payloadProblem(signal.payload);
    if (problem) return { kind: "invalid", problems: [problem] };
    const reading = toObjectTarget(owner.reference, kinds.current);
    if (reading.kind === "problem") return { kind: "invalid", problems: [`the owner ${reading.problem}`] };
    const scope = await scopeOf({ target: reading.target, reference: owner.reference });
    if (!scope.in) return { kind: "refused", fingerprint, because: scope.because, fix: scope.fix };

    // Counts from a closed incident were accepted before, so no limit may reject them.
    const room = addition.from ? undefined : this.#reserve(signal);
    try {
      return await this.#create(report, addition, decision.n);
    } finally {
      room?.release();
    }
  }

  async #formerSeries({ formerFingerprint }: Report): Promise<History["earlier"]> {
    if (formerFingerprint === undefined) return [];
    const { newest, earlier } = await this.#options.incidents.readWholeHistory(formerFingerprint);
    return [newest?.status?.deduplication?.series, ...earlier];
  }

  #reserve({ sender }: Signal) {
    const room = this.#options.open.reserve(sender);
    if (room.kind === "reserved") return room;
    if (room.limit === "sender") {
      const message = `${sender ?? "the gateway itself"} has ${room.open} open incidents, as many as one sender may have`;
      throw new GatewayError("sender-limit", message);
    }
    throw new GatewayError("total-limit", `${room.open} incidents are open, as many as there may be`);
  }

  async #create(report: Report, addition: Addition, n: number): Promise<Opened> {
    const { client, incidents, namespace } = this.#options;
    const { fingerprint } = report;
    const outcome = await client
      .create(remediationRequests, draftIncident(report, n, namespace))
      .catch((error: unknown) => {
        if (error instanceof KubeError && error.code === "invalid") return error;
        throw error;
      });
    if (outcome instanceof KubeError) return { kind: "invalid", problems: [outcome.message] };
    // Another gateway was faster, or the cache was stale.
    if (outcome.kind === "already-exists") return { kind: "exists" };
    // Before its counts are stored: an incident with counts is one whose opening is recorded.
    await this.#options.recordOpening(outcome.object);
    incidents.cache(outcome.object);
    await this.#options.occurrences.open(outcome.object, report, addition);
    return { kind: "created", fingerprint, incident: outcome.object };
  }
}
