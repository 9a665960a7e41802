import { keyOf, type Locks } from "../coordination/index.ts";
import { type KubeClient, KubeError } from "../kube/index.ts";
import {
  type FingerprintField,
  fingerprinter,
  type KindsCache,
  type ObjectReference,
  type RemediationRequest,
  remediationRequests,
  type Signal,
  type Target,
  toObjectTarget,
} from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Admission, Preview } from "./admission.ts";
import type { Occurrences } from "./counts/occurrences.ts";
import type { Share, Tally } from "./counts/tally.ts";
import { decideFiring } from "./decide.ts";
import { GatewayError } from "./gateway-error.ts";
import { Identities, type Nameless } from "./identity/identities.ts";
import type { Nodes } from "./identity/nodes.ts";
import { ForbiddenObject } from "./identity/objects.ts";
import type { Owners } from "./identity/owners.ts";
import {
  identityVersion,
  isOpen,
  type NamelessReport,
  type Report,
  withinReceipt,
  withSourceInSeries,
} from "./identity/report.ts";
import type { ScopeOf } from "./identity/scope.ts";
import { draftIncident, payloadProblem } from "./incidents/draft.ts";
import type { Endings } from "./incidents/endings.ts";
import type { History, Incidents } from "./incidents/incidents.ts";
import { isPartial, latestEndAt } from "./incidents/known-incident.ts";
import type { OpenIncidents } from "./incidents/open-incidents.ts";
import { previewSignal } from "./preview.ts";

export interface IntakeOptions {
  readonly client: KubeClient;
  readonly kinds: Pick<KindsCache, "current">;
  /** Where incidents live. One for all: their names are how only one of them can be created. */
  readonly namespace: string;
  readonly incidents: Incidents;
  readonly occurrences: Occurrences;
  readonly open: OpenIncidents;
  readonly owners: Owners;
  readonly nodes: Nodes;
  /** The target that a rule gives a signal without a subject, as `namespace/kind/name` or `kind/name`. */
  readonly ruleTarget: (signal: Signal) => Target | undefined;
  /** The labels by which a rule distinguishes signals about `owner`. */
  readonly ruleLabels: (signal: Signal, owner: ObjectReference) => readonly string[];
  readonly scopeOf: ScopeOf;
  readonly endings: Endings;
  readonly fingerprintFields: readonly FingerprintField[];
  readonly locks: Locks;
  /** The longest wait for the fingerprint's lock before going on without it. */
  readonly lockWaitMs: number;
  readonly log: Logger;
  /**
   * Records each admission before the sender gets a response. `moved`: the number of signals that were counted before on
   * an incident that is closed now.
   */
  readonly record: (admission: Admission, report: Report | NamelessReport | undefined, moved?: number) => Promise<void>;
}

/** How often the world may change under us before the sender has to come again. */
const maxTries = 8;

/** Decides what becomes of signals. Any number of gateways may do so side by side. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #opening = new SingleFlight<Opened>();
  readonly #identities: Identities;
  /** Whether signals of two sources never share a fingerprint. */
  readonly #separatesSources: boolean;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#identities = new Identities({ ...options, computeFingerprint: fingerprinter(options.fingerprintFields) });
    this.#separatesSources = options.fingerprintFields.includes("source");
  }

  /**
   * Counts those of `signals` that only repeat open incidents, which is most of them: they need no request to the server
   * and share one write. The others are undefined and must be admitted one by one. A signal that follows one of these under
   * the same fingerprint is left undefined, too, to keep the order. Respond to senders only after `kept`.
   */
  repeats(signals: readonly Signal[]): Repeats {
    const { occurrences, client } = this.#options;
    const receivedAt = new Date(client.serverNowMs()).toISOString();
    const tallies = new Set<Tally>();
    const others = new Set<string>();
    let isFingerprintUnknown = !occurrences.hasLog;
    const admissions = signals.map((signal) => {
      const found = isFingerprintUnknown
        ? undefined
        : this.#identities.cached(this.#received(signal, receivedAt), receivedAt);
      // Its fingerprint is not known, so any that comes after it may be of the same.
      if (!found) isFingerprintUnknown = true;
      const report = found?.kind === "report" ? found.report : undefined;
      const incident = report && !others.has(report.fingerprint) ? this.#repeated(report) : undefined;
      if (!report || !incident) return void (report && others.add(report.fingerprint));
      tallies.add(occurrences.add(incident, report, { occurrences: 1 }));
      return { kind: "counted", fingerprint: report.fingerprint, incident } as const;
    });
    return { admissions, kept: tallies.size === 0 ? Promise.resolve() : occurrences.keep(tallies) };
  }

  /** Resolves when the admission is durable. Throws GatewayError, KubeError and LedgerError for transient failures. */
  async admit(sent: Signal): Promise<Admission> {
    const receivedAt = this.#now();
    const signal = this.#received(sent, receivedAt);
    let report: Report | undefined;
    try {
      const found = await this.#identities.find(signal, receivedAt);
      if (found.kind === "invalid") return this.#recorded(found, undefined);
      if (found.kind === "nameless") return this.#recorded(namelessAdmission(found), found.report);
      report = found.report;
      const admission =
        signal.status === "resolved" ? await this.#resolve(report) : await this.#fire(report, { occurrences: 1 });
      return this.#recorded(admission, report);
    } catch (error) {
      if (!(error instanceof ForbiddenObject)) throw error;
      // For this signal alone: rights that are missing for one kind must not make a sender repeat all others.
      const about = report ?? this.#identities.withoutObject(signal, receivedAt);
      const { fingerprint } = about;
      return this.#recorded({ kind: "forbidden", fingerprint, because: error.message, fix: error.fix }, about);
    }
  }

  /** Admits counts of an incident that is closed. Resolves to the incident that has them now, if there is one. */
  async readmit(report: Report, share: Share): Promise<RemediationRequest | undefined> {
    const admission = await this.#recorded(await this.#fire(report, share), report, share.occurrences);
    return "incident" in admission ? admission.incident : undefined;
  }

  /** The effect of a signal. Performs the reads of an admission, and writes nothing. */
  async preview(signal: Signal): Promise<Preview> {
    try {
      return await this.#preview(signal);
    } catch (error) {
      if (!(error instanceof ForbiddenObject)) throw error;
      const { fingerprint } = this.#identities.withoutObject(signal, this.#now());
      return { kind: "forbidden", fingerprint, message: error.message, fix: error.fix };
    }
  }

  async #preview(signal: Signal): Promise<Preview> {
    const { incidents, scopeOf, kinds, namespace } = this.#options;
    const receivedAt = this.#now();
    const found = await this.#identities.find(this.#received(signal, receivedAt), receivedAt);
    if (found.kind === "invalid") return found;
    if (found.kind === "nameless") {
      const { fingerprint, because } = namelessAdmission(found);
      return { kind: "ignored", fingerprint, message: `Would be ignored: ${because}.` };
    }
    const { report } = found;
    const { reference } = report.owner;
    const reading = toObjectTarget(reference, kinds.current);
    const newest = await incidents.read(report.fingerprint);
    if (reading.kind === "target") {
      const scope = await scopeOf({ target: reading.target, reference });
      return previewSignal({ report, newest, scope, namespace });
    }
    // Its incident was opened while the kind was known.
    if (newest && isOpen(newest)) return previewSignal({ report, newest, scope: { in: true }, namespace });
    return { kind: "invalid", problems: [`the owner ${reading.problem}`] };
  }

  /** The signal as it counts: with no time in the future, and with a series of its own source. */
  #received(signal: Signal, receivedAt: string): Signal {
    return withinReceipt(this.#separatesSources ? signal : withSourceInSeries(signal), receivedAt);
  }

  #now(): string {
    return new Date(this.#options.client.serverNowMs()).toISOString();
  }

  /** The open incident that a signal is reported of once more. */
  #repeated(report: Report): RemediationRequest | undefined {
    const { incidents, endings } = this.#options;
    if (report.signal.status !== "firing" || endings.endOf(report) !== undefined) return undefined;
    const known = incidents.newest(report.fingerprint);
    if (!known || !isOpen(known) || needsSeries(known, report.signal)) return undefined;
    return decideFiring(known, report).do === "count" ? known : undefined;
  }

  async #fire(report: Report, share: Share): Promise<Admission> {
    const { incidents, endings } = this.#options;
    const { fingerprint, signal, successor } = report;
    if (successor) {
      const former = incidents.newest(fingerprint);
      if (!former || !isOpen(former)) return this.#fireUnderNewIdentity(report, successor, share);
    }
    const endedAt = endings.endOf(report);
    if (endedAt !== undefined && signal.firingAt <= endedAt) return ignoredAdmission(report, endedAt);

    for (let tries = 0; tries < maxTries; tries++) {
      const cached = incidents.newest(fingerprint);
      const known = cached && needsSeries(cached, signal) ? await incidents.get(cached.metadata.name ?? "") : cached;
      if (known && isOpen(known)) {
        const decision = decideFiring(known, report);
        if (decision.do === "ignore") return { kind: "ignored", fingerprint, because: decision.because };
        return this.#count(known, report, share);
      }
      // It was closed between two tries.
      if (successor) return this.#fireUnderNewIdentity(report, successor, share);
      const { result, isMine } = await this.#opening.run(fingerprint, () => this.#open(report, share, tries > 0));
      if (isMine && result.kind !== "exists") return result;
      // The outcome of another signal of this fingerprint need not hold for this one, but the scope does.
      if (result.kind === "refused") return result;
    }
    throw new GatewayError("unavailable", `the incidents of ${fingerprint} change too often`);
  }

  /** The incident of the former identity is closed: the signal gets its current identity from now on. */
  #fireUnderNewIdentity(report: Report, successor: NonNullable<Report["successor"]>, share: Share): Promise<Admission> {
    const { fingerprint: formerFingerprint, signal, receivedAt } = report;
    if ("because" in successor) {
      const { fingerprint, because } = successor;
      return Promise.resolve({ kind: "ignored", fingerprint, because });
    }
    return this.#fire({ ...successor, signal, receivedAt, identityVersion, formerFingerprint }, share);
  }

  async #count(known: RemediationRequest, report: Report, share: Share): Promise<Admission> {
    const { fingerprint } = report;
    const incident = await this.#options.occurrences.count(known, report, share);
    if (incident) return { kind: "counted", fingerprint, incident };
    return { kind: "ignored", fingerprint, because: "its incident was closed, and it calls for no other" };
  }

  /** Takes the fingerprint's lock first, so that gateways do not race; without it they race, and one of them wins. */
  async #open(report: Report, share: Share, isRetry: boolean): Promise<Opened> {
    const { locks, lockWaitMs, log } = this.#options;
    const { fingerprint } = report;
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

  async #resolve(report: Report): Promise<Admission> {
    const { endings } = this.#options;
    const { fingerprint, signal } = report;
    endings.note(report, signal.endedAt ?? signal.firingAt);
    const ended = await this.#end(report);
    if (!ended) return { kind: "ignored", fingerprint, because: "there is no incident that it could end" };
    if (!isOpen(ended)) return { kind: "ignored", fingerprint, because: "its incident is closed already" };
    if (ended.status?.resolvedAt !== undefined) return { kind: "resolved", fingerprint, incident: ended };
    const series = Object.values(ended.status?.deduplication?.series ?? {});
    const others = series.filter(({ resolvedAt }) => resolvedAt === undefined).length;
    return { kind: "still-firing", fingerprint, incident: ended, others };
  }

  /** The incident in which the end of a series was written: the open one, else the latest, which then remembers it. */
  async #end({ fingerprint, signal, receivedAt }: Report): Promise<RemediationRequest | undefined> {
    const { incidents, occurrences } = this.#options;
    const known = incidents.newest(fingerprint);
    if (known && isOpen(known)) {
      const ended = await occurrences.end(known, signal, receivedAt);
      if (ended && isOpen(ended)) return ended;
    }
    const newest = await incidents.read(fingerprint);
    return newest && occurrences.end(newest, signal, receivedAt);
  }

  async #recorded(
    admission: Admission,
    report: Report | NamelessReport | undefined,
    moved?: number,
  ): Promise<Admission> {
    await this.#options.record(admission, report, moved);
    return admission;
  }
}

/** The outcomes of repeated signals, in their order. */
export interface Repeats {
  readonly admissions: readonly (Admission | undefined)[];
  /** Resolves when it is durable. */
  readonly kept: Promise<void>;
}

/** `exists`: there is an open incident by now. */
type Opened = Admission | { readonly kind: "exists" };

/** Whether the end of the signal's series may be among those that the cache leaves out. */
function needsSeries(known: RemediationRequest, { firingAt }: Signal): boolean {
  return isPartial(known) && firingAt <= latestEndAt(known);
}

function namelessAdmission({ report, because }: Nameless): Extract<Admission, { kind: "ignored" }> {
  return { kind: "ignored", fingerprint: report.fingerprint, because: `it names no object to act on: ${because}` };
}

function ignoredAdmission({ fingerprint }: Report, endedAt: string): Admission {
  return { kind: "ignored", fingerprint, because: `it had ended at ${endedAt}, which is not before it began to fire` };
}

/** Callers of one key share one run: the first does the work, the others get its result. */
class SingleFlight<T> {
  readonly #flights = new Map<string, Promise<T>>();

  async run(key: string, work: () => Promise<T>): Promise<{ readonly result: T; readonly isMine: boolean }> {
    const joined = this.#flights.get(key);
    if (joined !== undefined) return { result: await joined, isMine: false };

    const flight = work().finally(() => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return { result: await flight, isMine: true };
  }
}
