import type { Locks } from "../coordination/index.ts";
import { informer, type KubeClient, namespaces, type Problem, refOfKey } from "../kube/index.ts";
import type { Ledger, LedgerEvent } from "../ledger/index.ts";
import {
  type FingerprintField,
  type KindsCache,
  type ObjectReference,
  remediationRequests,
  type Signal,
  type Target,
} from "../resources/index.ts";
import { stallReporter } from "../stalls/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import type { Admission, Preview } from "./admission.ts";
import { Intake, type Repeats } from "./admit.ts";
import { Endings } from "./endings.ts";
import { GatewayError } from "./gateway-error.ts";
import { type IgnoredSignal, IgnoredSignals } from "./ignored-signals.ts";
import { sliceSignals } from "./in-slices.ts";
import { Incidents } from "./incidents.ts";
import { IntakeStalls } from "./intake-stalls.ts";
import { toKnownIncident } from "./known-incident.ts";
import { admissionEvent, countedEvent, notASignalEvent, overflowEvent } from "./ledger-events.ts";
import { type GatewayMetrics, gatewayMetrics } from "./metrics.ts";
import { Nodes } from "./nodes.ts";
import { objectReader } from "./objects.ts";
import type { OccurrenceLog } from "./occurrence-log.ts";
import { Occurrences } from "./occurrences.ts";
import { OpenIncidents } from "./open-incidents.ts";
import { Owners } from "./owners.ts";
import type { NamelessReport, Report } from "./report.ts";
import { everything, scopeByLabel } from "./scope.ts";

export interface GatewayOptions {
  readonly client: KubeClient;
  readonly locks: Locks;
  readonly ledger: Ledger;
  readonly kinds: KindsCache;
  /** Where counts are durable before they are in the incident; without one they are durable there alone. */
  readonly occurrenceLog?: OccurrenceLog | undefined;
  /** The name of this gateway in the statuses that it writes; the same again after a restart with the same log. */
  readonly writer: string;
  readonly settings: GatewaySettings;
  /** The target that a rule gives a signal without a subject, as `namespace/kind/name` or `kind/name`. */
  readonly ruleTarget?: (signal: Signal) => Target | undefined;
  /** The labels by which a rule distinguishes signals about `owner`: each combination of values is an incident. */
  readonly ruleLabels?: (signal: Signal, owner: ObjectReference) => readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface GatewaySettings {
  /** Where incidents live. */
  readonly namespace: string;
  readonly fingerprintFields: readonly FingerprintField[];
  readonly scope: "labels" | "all";
  readonly flushMs: number;
  readonly lockWaitMs: number;
  /** For one read of the object that a signal is about. */
  readonly lookupTimeoutMs: number;
  /** How many incidents may be open, of one sender and of all. */
  readonly maxOpenIncidentsPerSender: number;
  readonly maxOpenIncidents: number;
}

export interface Gateway {
  /** Resolves when all incidents are cached and the counts of an earlier process are written. */
  readonly ready: Promise<void>;
  readonly isReady: boolean;
  /** What keeps failing, for people who look at readiness. It takes signals all the same: they are kept in the occurrence log. */
  readonly problem: string | undefined;
  readonly metrics: GatewayMetrics;
  /** Resolves when the admission is durable; throws for transient failures, after which the signal may be sent again. */
  admit(signal: Signal): Promise<Admission>;
  /** The same for all signals of a request, in their order. It never throws: one that fails does not spoil the others. */
  admitAll(signals: readonly Signal[]): Promise<readonly (Admission | NotAdmitted)[]>;
  /** The effect of a signal, without applying it. Throws as `admit` does. */
  preview(signal: Signal): Promise<Preview>;
  /** Records that a part of a payload is no signal. Throws LedgerError if it may not have been kept. */
  ignore(part: Omit<IgnoredSignal, "fingerprint">): Promise<void>;
  /** Counts the alerts that a sender left out of its batch. */
  truncated(source: string, alerts: number): void;
  /** Writes all counts, and stops. */
  stop(): Promise<void>;
}

/** The error of an admission whose outcome is unknown. */
export interface NotAdmitted {
  readonly kind: "failed";
  readonly error: unknown;
}

/** Admits signals from now on until `stop`, for HTTP and for watches alike. */
export function startGateway(options: GatewayOptions): Gateway {
  const { client, clock, random, log, ledger, locks, kinds, writer, settings } = options;
  const stop = new AbortController();
  const metrics = gatewayMetrics(options.metrics);
  const problem = (problem: Problem) => log.warn("gateway problem", problem);
  const { namespace } = settings;
  const following = informer({
    client,
    clock,
    random,
    problem,
    signal: stop.signal,
    type: remediationRequests,
    query: { namespace },
    transform: toKnownIncident,
  });
  const open = new OpenIncidents({ total: settings.maxOpenIncidents, perSender: settings.maxOpenIncidentsPerSender });
  metrics.openIncidents(() => open.total);
  const incidents = new Incidents({ client, namespace, informer: following, open });
  const objects = objectReader({ client, kinds, clock, timeoutMs: settings.lookupTimeoutMs });
  const now = () => new Date(client.serverNowMs()).toISOString();
  const recordEvent = (event: Parameters<Ledger["append"]>[0]) =>
    void ledger.append(event).catch((error: unknown) => log.error("event not recorded", { type: event.type, error }));

  const stalls = stallReporter({ ...options, stage: "gateway" });
  const intakeStalls = new IntakeStalls(
    stalls.watch({
      type: namespaces,
      noun: "new incidents in namespace",
      find: () => ({ metadata: { name: namespace, namespace } }),
      hasConditions: false,
    }),
    clock,
  );
  const occurrences = new Occurrences({
    client,
    namespace,
    writer,
    occurrenceLog: options.occurrenceLog,
    incidents,
    clock,
    random,
    flushMs: settings.flushMs,
    log,
    stalls: stalls.watch({
      type: remediationRequests,
      noun: "incident",
      find: (key) => following.get(refOfKey(key)),
      // What fails is the write of the status: it could not take a condition either.
      hasConditions: false,
    }),
    readmit: (report, share) => intake.readmit(report, share),
    wrote(incident, count, total) {
      metrics.written(count);
      if (count > 0) recordEvent(countedEvent(incident, { writer, occurrences: count, total, at: now() }));
    },
  });
  const record = async (admission: Admission, report: Report | NamelessReport | undefined, moved?: number) => {
    if (!report) return;
    logAdmission(log, admission, report);
    const event = admissionEvent(admission, report, moved);
    if (!event) return;
    // Signals that were counted before are part of the count, so their row is never left out.
    const isCollapsible = "because" in admission && moved === undefined;
    if (!isCollapsible) return ledger.append(event);
    const { signal, fingerprint } = report;
    await recordIgnored(event, { ...signal, sender: signal.sender, fingerprint, because: admission.because });
  };
  const ignoredSignals = new IgnoredSignals({ windowMs: 600_000, maxRowsPerSender: 1_000, maxEntries: 10_000 });
  async function recordIgnored(event: LedgerEvent, signal: IgnoredSignal) {
    const decision = ignoredSignals.decide(signal, client.serverNowMs());
    if (decision.do === "count") return;
    const row = decision.do === "record" ? event : overflowEvent(signal, { id: random.id(), at: now() });
    const collapsed = decision.do === "record" && decision.collapsed > 0 ? { collapsed: decision.collapsed } : {};
    try {
      await ledger.append({ ...row, facts: { ...row.facts, ...collapsed } });
    } catch (error) {
      ignoredSignals.forget(signal);
      throw error;
    }
  }
  const intake: Intake = new Intake({
    client,
    kinds,
    namespace,
    incidents,
    occurrences,
    open,
    owners: new Owners({ objects, incidents, kinds, clock }),
    nodes: new Nodes({ objects, clock }),
    ruleTarget: options.ruleTarget ?? (() => undefined),
    ruleLabels: options.ruleLabels ?? (() => []),
    scopeOf: settings.scope === "all" ? everything : scopeByLabel(objects),
    endings: new Endings(),
    fingerprintFields: settings.fingerprintFields,
    locks,
    lockWaitMs: settings.lockWaitMs,
    log,
    record,
  });

  const limits = new Throttle(60_000);
  async function admit(signal: Signal): Promise<Admission> {
    try {
      const admission = await intake.admit(signal);
      metrics.admitted(signal.source, admission.kind);
      intakeStalls.succeeded(signal.source, admission.kind);
      return admission;
    } catch (error) {
      const isLimited = isLimit(error);
      if (!isLimited) intakeStalls.failed(signal.source, error);
      metrics.admitted(signal.source, isLimited ? "limited" : "unavailable");
      // A flood must not flood the log, too.
      if (!isLimited) log.warn("signal not admitted", { source: signal.source, name: signal.name, error });
      else if (limits.isDue(clock.now())) log.warn("open incidents limit reached", { sender: signal.sender, error });
      throw error;
    }
  }

  /** Opens incidents, mostly: a few at a time, because each takes milliseconds in which no other request is answered. */
  async function admitOthers(signals: readonly Signal[]): Promise<readonly (Admission | NotAdmitted)[]> {
    const all: (Admission | NotAdmitted)[] = [];
    const admitFew = async (few: readonly Signal[]) => {
      all.push(...(await Promise.all(few.map((signal) => admit(signal).catch(failed)))));
    };
    await sliceSignals(signals, clock, admitFew, maxOpeningAtOnce);
    return all;
  }

  async function admitted(signals: readonly Signal[], { admissions, kept, others }: Slice) {
    const repeated = signals.filter((_, i) => admissions[i]);
    const failure = await kept.then(() => undefined, failed);
    if (failure) log.warn("repeated signals not counted", { signals: repeated.length, error: failure.error });
    // All signals of one request come from one source.
    metrics.admitted(repeated[0]?.source ?? "", failure ? "unavailable" : "counted", repeated.length);
    const rest = (await others).values();
    return admissions.map((admission) => (admission ? (failure ?? admission) : (rest.next().value as Admission)));
  }

  let isReady = false;
  const ready = Promise.all([following.synced, kinds.synced]).then(async () => {
    await occurrences.flush();
    isReady = true;
  });
  ready.catch(() => {});
  return {
    ready,
    get isReady() {
      return isReady && !stop.signal.aborted;
    },
    get problem() {
      return stalls.problem;
    },
    metrics,
    admit,
    async admitAll(signals) {
      const slices: Promise<readonly (Admission | NotAdmitted)[]>[] = [];
      await sliceSignals(signals, clock, (slice) => {
        const { admissions, kept } = intake.repeats(slice);
        const others = admitOthers(slice.filter((_, i) => !admissions[i]));
        slices.push(admitted(slice, { admissions, kept, others }));
        // Counts are kept together with those of the next slices; what needs more work is done before the next slice.
        return others;
      });
      return (await Promise.all(slices)).flat();
    },
    preview: (signal) => intake.preview(signal),
    ignore: (part) => recordIgnored(notASignalEvent(part, { id: random.id(), at: now() }), part),
    truncated(source, alerts) {
      metrics.truncated(alerts);
      log.warn("alerts left out by their sender", { source, alerts });
      recordEvent({
        id: `${writer}/signals.truncated/${random.id()}`,
        type: "signals.truncated",
        at: now(),
        facts: { source, alerts },
      });
    },
    async stop() {
      await occurrences.close();
      await stalls.stop();
      incidents.stop();
      stop.abort();
    },
  };
}

/** Of the signals of one request. */
const maxOpeningAtOnce = 8;

interface Slice extends Repeats {
  /** What becomes of those that are not repeated, in their order. */
  readonly others: Promise<readonly (Admission | NotAdmitted)[]>;
}

function isLimit(error: unknown): boolean {
  return error instanceof GatewayError && (error.code === "sender-limit" || error.code === "total-limit");
}

function failed(error: unknown): NotAdmitted {
  return { kind: "failed", error };
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

/** Limits an action to one per interval, such as logging a flood. */
class Throttle {
  readonly #everyMs: number;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  isDue(nowMs: number): boolean {
    if (nowMs - this.#lastAt < this.#everyMs) return false;
    this.#lastAt = nowMs;
    return true;
  }
}
