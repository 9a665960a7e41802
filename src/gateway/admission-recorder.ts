import type { KubeClient } from "../kube/index.ts";
import type { Ledger, LedgerEvent } from "../ledger/index.ts";
import type { KindsCache, RemediationRequest } from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Random } from "../time/index.ts";
import type { Admission } from "./admission.ts";
import type { NamelessReport, Report } from "./identity/report.ts";
import { type IgnoredSignal, IgnoredSignals } from "./ignored-signals.ts";
import { admissionEvent, countedEvent, notASignalEvent, openingEvent, overflowEvent } from "./ledger-events.ts";

interface RecorderOptions {
  readonly client: KubeClient;
  readonly ledger: Ledger;
  readonly kinds: Pick<KindsCache, "current">;
  readonly log: Logger;
  readonly random: Random;
  /** The name of this gateway in the ledger. */
  readonly writer: string;
}

/** Records admissions in the ledger, and ignored signals with a bounded number of rows. */
export class AdmissionRecorder {
  readonly #options: RecorderOptions;
  readonly #ignored = new IgnoredSignals({ windowMs: 600_000, maxRowsPerSender: 1_000, maxEntries: 10_000 });

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  opened(incident: RemediationRequest): Promise<void> {
    const { ledger, kinds } = this.#options;
    return ledger.append(openingEvent(incident, kinds.current));
  }

  async admitted(admission: Admission, report: Report | NamelessReport | undefined, moved?: number): Promise<void> {
    if (!report) return;
    logAdmission(this.#options.log, admission, report);
    const event = admissionEvent(admission, report, moved);
    if (!event) return;
    // The row of signals that were counted before is never left out: they are part of a count.
    const isCollapsible = "because" in admission && moved === undefined;
    if (!isCollapsible) return this.#options.ledger.append(event);
    const { signal, fingerprint } = report;
    await this.#appendIgnored(event, { ...signal, sender: signal.sender, fingerprint, because: admission.because });
  }

  invalid(part: IgnoredSignal): Promise<void> {
    return this.#appendIgnored(notASignalEvent(part, this.#stamp()), part);
  }

  counted(incident: RemediationRequest, occurrences: number): void {
    this.#append(countedEvent(incident, { writer: this.#options.writer, occurrences, at: this.#now() }));
  }

  truncated(source: string, alerts: number): void {
    const { writer, random } = this.#options;
    const id = `${writer}/signals.truncated/${random.id()}`;
    this.#append({ id, type: "signals.truncated", at: this.#now(), facts: { source, alerts } });
  }

  async #appendIgnored(event: LedgerEvent, signal: IgnoredSignal): Promise<void> {
    const { client, ledger } = this.#options;
    const decision = this.#ignored.decide(signal, client.serverNowMs());
    if (decision.do === "count") return;
    const row = decision.do === "record" ? event : overflowEvent(signal, this.#stamp());
    const collapsed = decision.do === "record" && decision.collapsed > 0 ? { collapsed: decision.collapsed } : {};
    try {
      await ledger.append({ ...row, facts: { ...row.facts, ...collapsed } });
    } catch (error) {
      this.#ignored.forget(signal);
      throw error;
    }
  }

  #append(event: LedgerEvent): void {
    const { ledger, log } = this.#options;
    void ledger.append(event).catch((error: unknown) => log.error("event not recorded", { type: event.type, error }));
  }

  #stamp() {
    return { id: this.#options.random.id(), at: this.#now() };
  }

  #now(): string {
    return new Date(this.#options.client.serverNowMs()).toISOString();
  }
}

function logAdmission(log: Logger, admission: Admission, report: Report | NamelessReport) {
  const { signal, fingerprint } = report;
  const target = "owner" in report ? report.owner.target : undefined;
  const fields = { fingerprint, signalName: signal.name, source: signal.source, target };
  switch (admission.kind) {
    case "created":
      return log.info("incident created", { ...fields, incident: admission.incident.metadata.name });
    case "resolved":
      return log.info("incident resolved", { ...fields, incident: admission.incident.metadata.name });
    case "refused":
      return log.info("signal refused", { ...fields, because: admission.because });
    case "forbidden":
      return log.warn("signal refused, object not readable", { ...fields, because: admission.because });
    case "counted":
    case "still-firing":
    case "ignored":
      return log.debug(`signal ${admission.kind}`, fields);
    case "invalid":
      return log.warn("signal cannot be admitted", { ...fields, problems: admission.problems });
  }
}
