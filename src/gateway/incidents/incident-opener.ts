import { keyOf, type Locks } from "../../coordination/index.ts";
import { type KubeClient, KubeError } from "../../kube/index.ts";
import { type KindsCache, remediationRequests, type Signal, toObjectTarget } from "../../resources/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Admission } from "../admission.ts";
import type { Occurrences } from "../counts/occurrences.ts";
import type { Share } from "../counts/tally.ts";
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
  /** Where incidents live. One for all: their names are how only one of them can be created. */
  readonly namespace: string;
  readonly incidents: Incidents;
  readonly occurrences: Occurrences;
  readonly open: OpenIncidents;
  readonly scopeOf: ScopeOf;
  readonly locks: Locks;
  /** The longest wait for the fingerprint's lock before going on without it. */
  readonly lockWaitMs: number;
  readonly log: Logger;
}

/** `exists`: there is an open incident by now. */
type Opened = Admission | { readonly kind: "exists" };

/** Opens incidents, one at a time for each fingerprint. */
export class IncidentOpener {
  readonly #options: OpenerOptions;
  readonly #running = new Map<string, Promise<Opened>>();

  constructor(options: OpenerOptions) {
    this.#options = options;
  }

  /** Callers with one fingerprint share one run: the result is that of the first signal, for which alone `isMine` is true. */
  async open(report: Report, share: Share, { isRetry }: { readonly isRetry: boolean }) {
    const { fingerprint } = report;
    const running = this.#running.get(fingerprint);
    if (running) return { result: await running, isMine: false };

    const run = this.#openLocked(report, share, isRetry).finally(() => this.#running.delete(fingerprint));
    this.#running.set(fingerprint, run);
    return { result: await run, isMine: true };
  }

  /** Takes the fingerprint's lock first, so that gateways do not race; without it they race, and one of them wins. */
  async #openLocked(report: Report, share: Share, isRetry: boolean): Promise<Opened> {
    const { locks, lockWaitMs, log, open } = this.#options;
    const { fingerprint, signal } = report;
    // Nothing is created, so nothing races; and a lock leaves an object for every fingerprint that a sender invents.
    if (!share.from && !open.hasRoom(signal.sender)) return this.#openNow(report, share, isRetry);
    const options = { waitMs: lockWaitMs, purpose: "open an incident" };
    const lease = await locks.acquire(keyOf("incident", fingerprint), options).catch((error: unknown) => {
      log.warn("fingerprint lock not taken", { fingerprint, error });
      return undefined;
    });
    try {
      return await this.#openNow(report, share, isRetry);
    } finally {
      await lease?.release();
    }
  }

  /** A retry reads everything: the next name exists already, so the first read was incomplete. */
  async #openNow(report: Report, share: Share, isRetry: boolean): Promise<Opened> {
    const { incidents, scopeOf, kinds } = this.#options;
    const { fingerprint, owner, signal } = report;
    const { newest, earlier } = await (isRetry
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

    // Counts that were accepted on an incident that is closed now have a reservation already and must not be lost.
    const room = share.from ? undefined : this.#reserve(signal);
    try {
      return await this.#create(report, share, decision.n);
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

  async #create(report: Report, share: Share, n: number): Promise<Opened> {
    const { client, incidents, namespace } = this.#options;
    const { fingerprint } = report;
    const outcome = await client
      .create(remediationRequests, draftIncident(report, n, namespace))
      .catch((error: unknown) => {
        if (error instanceof KubeError && error.code === "invalid") return error;
        throw error;
      });
    if (outcome instanceof KubeError) return { kind: "invalid", problems: [outcome.message] };
    // Another gateway was faster, or the cache was stale: read again.
    if (outcome.kind === "already-exists") return { kind: "exists" };
    incidents.learn(outcome.object);
    await this.#options.occurrences.open(outcome.object, report, share);
    return { kind: "created", fingerprint, incident: outcome.object };
  }
}
