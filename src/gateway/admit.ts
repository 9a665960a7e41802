import {
  type FingerprintField,
  fingerprinter,
  incidentNumber,
  isClosedIncident,
  type ObjectReference,
  type RemediationRequest,
  type Signal,
  type Target,
  toObjectTarget,
} from "../resources/index.ts";
import type { Admission, Preview } from "./admission.ts";
import type { Addition, Tally } from "./counts/tally.ts";
import { decideFiring, hadEnded } from "./decide.ts";
import { GatewayError } from "./gateway-error.ts";
import { Identities, type Nameless } from "./identity/identities.ts";
import type { Nodes } from "./identity/nodes.ts";
import { ForbiddenObject } from "./identity/objects.ts";
import type { Owners } from "./identity/owners.ts";
import { type NamelessReport, type Report, withinReceipt, withSourceInSeries } from "./identity/report.ts";
import type { Endings } from "./incidents/endings.ts";
import { IncidentOpener, type OpenerOptions } from "./incidents/incident-opener.ts";
import { isPartial, latestEndAt } from "./incidents/known-incident.ts";
import { previewSignal } from "./preview.ts";

export interface IntakeOptions extends OpenerOptions {
  readonly owners: Owners;
  readonly nodes: Nodes;
  /** The target that a rule gives a signal without a subject, as `namespace/kind/name` or `kind/name`. */
  readonly ruleTarget: (signal: Signal) => Target | undefined;
  /** The labels by which a rule distinguishes signals about `owner`. */
  readonly ruleLabels: (signal: Signal, owner: ObjectReference) => readonly string[];
  readonly endings: Endings;
  readonly fingerprintFields: readonly FingerprintField[];
  /**
   * Records each admission before the sender gets a response. `moved`: the number of signals that were counted before on
   * an incident that is closed now.
   */
  readonly record: (admission: Admission, report: Report | NamelessReport | undefined, moved?: number) => Promise<void>;
}

/** How often the incidents of a fingerprint may change before the sender must retry. */
const maxTries = 8;

/** Admits signals. Any number of gateways may do so side by side. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #opener: IncidentOpener;
  readonly #identities: Identities;
  /** Whether signals of two sources never share a fingerprint. */
  readonly #separatesSources: boolean;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#opener = new IncidentOpener(options);
    this.#identities = new Identities({ ...options, computeFingerprint: fingerprinter(options.fingerprintFields) });
    this.#separatesSources = options.fingerprintFields.includes("source");
  }

  /**
   * Counts the signals that repeat open incidents, as most do: they need no request to the server and share one write. The
   * admissions of the others are undefined; they must be admitted one by one. A signal that follows one of these with the
   * same fingerprint is left out, too, to keep the order. Respond to senders only after `kept`.
   */
  countRepeats(signals: readonly Signal[]): Repeats {
    const { occurrences } = this.#options;
    const receivedAt = this.now();
    const tallies = new Set<Tally>();
    const others = new Set<string>();
    let isFingerprintUnknown = !occurrences.hasLog;
    const admissions = signals.map((signal) => {
      const found = isFingerprintUnknown
        ? undefined
        : this.#identities.findCached(this.#normalize(signal, receivedAt), receivedAt);
      // Any later signal may have the same, still unknown, fingerprint.
      if (!found) isFingerprintUnknown = true;
      if (found?.kind !== "report") return undefined;
      const { report } = found;
      const incident = others.has(report.fingerprint) ? undefined : this.#findRepeated(report);
      if (!incident) {
        others.add(report.fingerprint);
        return undefined;
      }
      tallies.add(occurrences.add(incident, report, { occurrences: 1 }));
      return { kind: "counted", fingerprint: report.fingerprint, incident } as const;
    });
    return { admissions, kept: tallies.size === 0 ? Promise.resolve() : occurrences.keep(tallies) };
  }

  /** Resolves when the admission is durable. Throws GatewayError, KubeError and LedgerError for transient failures. */
  async admit(sent: Signal): Promise<Admission> {
    const receivedAt = this.now();
    const signal = this.#normalize(sent, receivedAt);
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
      // An outcome, not an error: a missing permission for one kind must not make a sender repeat all other signals.
      const about = report ?? this.#identities.reportWithoutObject(signal, receivedAt);
      const { fingerprint } = about;
      return this.#recorded({ kind: "forbidden", fingerprint, because: error.message, fix: error.fix }, about);
    }
  }

  /** Admits counts of a closed incident again. Resolves to the incident that has them now, if there is one. */
  async readmit(report: Report, addition: Addition): Promise<RemediationRequest | undefined> {
    const admission = await this.#recorded(await this.#fire(report, addition), report, addition.occurrences);
    return "incident" in admission ? admission.incident : undefined;
  }

  /** The effect of a signal. Performs the reads of an admission, and writes nothing. */
  async preview(signal: Signal): Promise<Preview> {
    try {
      return await this.#preview(signal);
    } catch (error) {
      if (!(error instanceof ForbiddenObject)) throw error;
      const { fingerprint } = this.#identities.reportWithoutObject(signal, this.now());
      return { kind: "forbidden", fingerprint, message: error.message, fix: error.fix };
    }
  }

  async #preview(signal: Signal): Promise<Preview> {
    const { incidents, scopeOf, kinds, namespace } = this.#options;
    const receivedAt = this.now();
    const found = await this.#identities.find(this.#normalize(signal, receivedAt), receivedAt);
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
    if (newest && !isClosedIncident(newest)) return previewSignal({ report, newest, scope: { in: true }, namespace });
    return { kind: "invalid", problems: [`the owner ${reading.problem}`] };
  }

  /** Removes times in the future, and adds the source to the series where sources share fingerprints. */
  #normalize(signal: Signal, receivedAt: string): Signal {
    return withinReceipt(this.#separatesSources ? signal : withSourceInSeries(signal), receivedAt);
  }

  /** By the API server's clock. */
  now(): string {
    return new Date(this.#options.client.serverNowMs()).toISOString();
  }

  /** The open incident that a signal repeats. */
  #findRepeated(report: Report): RemediationRequest | undefined {
    const { incidents, endings } = this.#options;
    if (report.signal.status !== "firing" || endings.endOf(report) !== undefined) return undefined;
    const known = incidents.newest(report.fingerprint);
    if (!known || isClosedIncident(known) || needsSeries(known, report.signal)) return undefined;
    if (mayHaveOccurredBefore(known, report)) return undefined;
    return decideFiring(known, report).do === "count" ? known : undefined;
  }

  async #fire(report: Report, addition: Addition): Promise<Admission> {
    const { incidents, endings } = this.#options;
    const { fingerprint, signal, successor } = report;
    if (successor) {
      const former = incidents.newest(fingerprint);
      if (!former || isClosedIncident(former)) return this.#fireUnderNewIdentity(report, successor, addition);
    }
    const endedAt = endings.endOf(report);
    if (endedAt !== undefined && signal.firingAt <= endedAt)
      return { kind: "ignored", fingerprint, because: hadEnded(endedAt) };

    for (let tries = 0; tries < maxTries; tries++) {
      const cached = incidents.newest(fingerprint);
      const known = cached && needsSeries(cached, signal) ? await incidents.get(cached.metadata.name ?? "") : cached;
      if (known && !isClosedIncident(known)) {
        const isOlder = mayHaveOccurredBefore(known, report);
        const earlier = isOlder ? (await incidents.readWholeHistory(fingerprint)).earlier : [];
        const decision = decideFiring(known, report, earlier);
        if (decision.do === "ignore") return { kind: "ignored", fingerprint, because: decision.because };
        return this.#count(known, report, addition);
      }
      // It was closed between two tries.
      if (successor) return this.#fireUnderNewIdentity(report, successor, addition);
      const { result, isMine } = await this.#opener.open(report, addition, { isRetry: tries > 0 });
      if (isMine && result.kind !== "exists") return result;
      // The result for another signal of this fingerprint may not apply to this one, but the scope does.
      if (result.kind === "refused") return result;
    }
    throw new GatewayError("unavailable", `the incidents of ${fingerprint} change too often`);
  }

  /** The incident of the former identity is closed: the signal gets its current identity from now on. */
  #fireUnderNewIdentity(
    report: Report,
    successor: NonNullable<Report["successor"]>,
    addition: Addition,
  ): Promise<Admission> {
    const { fingerprint: formerFingerprint, signal, receivedAt } = report;
    if ("because" in successor) {
      const { fingerprint, because } = successor;
      return Promise.resolve({ kind: "ignored", fingerprint, because });
    }
    return this.#fire({ ...successor, signal, receivedAt, formerFingerprint }, addition);
  }

  async #count(known: RemediationRequest, report: Report, addition: Addition): Promise<Admission> {
    const { fingerprint } = report;
    const incident = await this.#options.occurrences.count(known, report, addition);
    if (incident) return { kind: "counted", fingerprint, incident };
    return { kind: "ignored", fingerprint, because: "its incident was closed, and it needs no other" };
  }

  async #resolve(report: Report): Promise<Admission> {
    const { endings } = this.#options;
    const { fingerprint, signal } = report;
    endings.note(report, signal.endedAt ?? signal.firingAt);
    const ended = await this.#end(report);
    if (!ended) return { kind: "ignored", fingerprint, because: "there is no incident that it could end" };
    if (isClosedIncident(ended)) return { kind: "ignored", fingerprint, because: "its incident is closed already" };
    if (ended.status?.resolvedAt !== undefined) return { kind: "resolved", fingerprint, incident: ended };
    const series = Object.values(ended.status?.deduplication?.series ?? {});
    const others = series.filter(({ resolvedAt }) => resolvedAt === undefined).length;
    return { kind: "still-firing", fingerprint, incident: ended, others };
  }

  /** Writes the end of a series to the open incident, else to the latest, and returns it. */
  async #end({ fingerprint, signal, receivedAt }: Report): Promise<RemediationRequest | undefined> {
    const { incidents, occurrences } = this.#options;
    const known = incidents.newest(fingerprint);
    if (known && !isClosedIncident(known)) {
      const ended = await occurrences.end(known, signal, receivedAt);
      if (ended && !isClosedIncident(ended)) return ended;
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
  /** Resolves when all counts are durable. */
  readonly kept: Promise<void>;
}

/** Whether the signal's series may be among those that the cache leaves out, with its end or with this occurrence. */
function needsSeries(known: RemediationRequest, { firingAt, isOccurrence }: Signal): boolean {
  return isPartial(known) && (isOccurrence === true || firingAt <= latestEndAt(known));
}

/** Whether an earlier incident may have this occurrence, which then does not count for the open one. */
function mayHaveOccurredBefore({ metadata, spec }: RemediationRequest, { fingerprint, signal }: Report): boolean {
  if (!signal.isOccurrence || signal.firingAt > spec.receivedTime) return false;
  return incidentNumber(fingerprint, metadata.name ?? "") !== 1;
}

function namelessAdmission({ report, because }: Nameless): Extract<Admission, { kind: "ignored" }> {
  return { kind: "ignored", fingerprint: report.fingerprint, because: `it names no object to act on: ${because}` };
}
