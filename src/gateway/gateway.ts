import type { Locks } from "../coordination/index.ts";
import { informer, type KubeClient, namespaces, problemLogger, refOfKey } from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import {
  type FingerprintField,
  type KindsCache,
  type ObjectReference,
  type RemediationRequest,
  remediationRequests,
  type Signal,
  type Target,
} from "../resources/index.ts";
import { type StallReporter, stallReporter } from "../stalls/index.ts";
import { type Logger, limitedWarnings, type Metrics } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import type { Admission, NotAdmitted, Preview } from "./admission.ts";
import { AdmissionRecorder } from "./admission-recorder.ts";
import { Intake, type IntakeOptions } from "./admit.ts";
import { Admitter } from "./admitter.ts";
import { Occurrences, type OccurrencesOptions } from "./counts/occurrences.ts";
import type { OccurrenceLog } from "./counts/tally.ts";
import { Nodes } from "./identity/nodes.ts";
import { objectReader } from "./identity/objects.ts";
import { Owners } from "./identity/owners.ts";
import { everythingInScope, scopeByLabel } from "./identity/scope.ts";
import type { IgnoredSignal } from "./ignored-signals.ts";
import { Endings } from "./incidents/endings.ts";
import { Incidents } from "./incidents/incidents.ts";
import { toKnownIncident } from "./incidents/known-incident.ts";
import { OpenIncidents } from "./incidents/open-incidents.ts";
import { recordLateOpenings } from "./incidents/record-late-openings.ts";
import { IntakeStalls } from "./intake-stalls.ts";
import { type GatewayMetrics, gatewayMetrics } from "./metrics.ts";

export interface GatewayOptions {
  readonly client: KubeClient;
  readonly locks: Locks;
  readonly ledger: Ledger;
  readonly kinds: KindsCache;
  /** Makes counts durable before they are in the incident; without it they are durable only in the incident. */
  readonly occurrenceLog?: OccurrenceLog | undefined;
  /** The name of this gateway in the statuses that it writes. It stays the same after a restart with the same log. */
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
  /** A write that keeps failing, reported with readiness. Signals are still accepted and kept in the occurrence log. */
  readonly problem: string | undefined;
  readonly metrics: GatewayMetrics;
  /** The time of receipt by the API server's clock, which all gateways share. */
  now(): string;
  /** Resolves when the admission is durable; throws for transient failures, after which the signal may be sent again. */
  admit(signal: Signal): Promise<Admission>;
  /** Admits all signals of a request, in order. Never throws: a failed signal does not affect the others. */
  admitAll(signals: readonly Signal[]): Promise<readonly (Admission | NotAdmitted)[]>;
  /** The effect of a signal, without applying it. Throws as `admit` does. */
  preview(signal: Signal): Promise<Preview>;
  /** Records that a part of a payload is no signal. Throws LedgerError if the record may not be stored. */
  ignore(part: Omit<IgnoredSignal, "fingerprint">): Promise<void>;
  /** Counts the alerts that a sender left out of its batch. */
  truncated(source: string, alerts: number): void;
  /** Writes all counts first. */
  stop(): Promise<void>;
}

/** Admits signals from now on until `stop`, for HTTP and for watches alike. */
export function startGateway(options: GatewayOptions): Gateway {
  const { client, clock, log, kinds, settings } = options;
  const stop = new AbortController();
  const metrics = gatewayMetrics(options.metrics);
  const { namespace } = settings;
  const following = incidentInformer(options, stop.signal);
  const open = new OpenIncidents({ total: settings.maxOpenIncidents, perSender: settings.maxOpenIncidentsPerSender });
  metrics.openIncidents(() => open.total);
  const incidents = new Incidents({ client, namespace, informer: following, open });
  const recorder = new AdmissionRecorder(options);
  const warn = limitedWarnings(options);
  const recordOpening = (incident: RemediationRequest) => recorder.opened(incident);

  const stalls = stallReporter({ ...options, stage: "gateway" });
  const intakeStalls = new IntakeStalls(watchIntake(stalls, namespace), clock);
  const occurrences = openOccurrences(options, {
    incidents,
    warn,
    recordOpening,
    stalls: watchStatusWrites(stalls, following),
    readmit: (report, addition) => intake.readmit(report, addition),
    onWritten(incident, occurrences) {
      metrics.written(occurrences);
      recorder.counted(incident, occurrences);
    },
  });
  const record: IntakeOptions["record"] = (...admitted) => recorder.admitted(...admitted);
  const intake: Intake = openIntake(options, { incidents, occurrences, open, warn, recordOpening, record });
  const admitter = new Admitter({ intake, metrics, intakeStalls, warn, clock });

  let isReady = false;
  const ready = Promise.all([following.synced, kinds.synced]).then(async () => {
    await occurrences.flush();
    isReady = true;
  });
  const serverNowMs = () => client.serverNowMs();
  const lateOpenings = { informer: following, recordOpening, serverNowMs, clock, warn };
  // Not before: without all kinds its rows would lack targets that those of other gateways have.
  ready.then(
    () => recordLateOpenings(lateOpenings, stop.signal),
    () => {},
  );
  return {
    ready,
    get isReady() {
      return isReady && !stop.signal.aborted;
    },
    get problem() {
      return stalls.problem;
    },
    metrics,
    now: () => intake.now(),
    admit: (signal) => admitter.admit(signal),
    admitAll: (signals) => admitter.admitAll(signals),
    preview: (signal) => intake.preview(signal),
    ignore: (part) => recorder.invalid(part),
    truncated(source, alerts) {
      metrics.truncated(alerts);
      log.warn("alerts left out by their sender", { source, alerts });
      recorder.truncated(source, alerts);
    },
    async stop() {
      await occurrences.close();
      await stalls.stop();
      incidents.stop();
      stop.abort();
    },
  };
}

function incidentInformer({ client, clock, random, log, settings }: GatewayOptions, signal: AbortSignal) {
  const problem = problemLogger("gateway problem", { log, clock });
  const query = { namespace: settings.namespace };
  const type = remediationRequests;
  return informer({ client, clock, random, problem, signal, type, query, transform: toKnownIncident });
}

function openIntake(
  { client, kinds, locks, clock, settings, ruleTarget = () => undefined, ruleLabels = () => [] }: GatewayOptions,
  parts: Pick<IntakeOptions, "incidents" | "occurrences" | "open" | "warn" | "recordOpening" | "record">,
): Intake {
  const { namespace, scope, fingerprintFields, lockWaitMs, lookupTimeoutMs } = settings;
  const objects = objectReader({ client, kinds, clock, timeoutMs: lookupTimeoutMs });
  return new Intake({
    ...parts,
    ...{ client, kinds, namespace, locks, lockWaitMs, fingerprintFields, ruleTarget, ruleLabels },
    owners: new Owners({ objects, incidents: parts.incidents, kinds, clock }),
    nodes: new Nodes({ objects, clock }),
    scopeOf: scope === "all" ? everythingInScope : scopeByLabel(objects),
    endings: new Endings(),
  });
}

function openOccurrences(
  { client, clock, random, writer, settings, occurrenceLog }: GatewayOptions,
  callbacks: Pick<OccurrencesOptions, "incidents" | "warn" | "recordOpening" | "stalls" | "readmit" | "onWritten">,
): Occurrences {
  const { namespace, flushMs } = settings;
  return new Occurrences({ client, namespace, writer, occurrenceLog, clock, random, flushMs, ...callbacks });
}

function watchIntake(stalls: StallReporter, namespace: string) {
  return stalls.watch({
    type: namespaces,
    noun: "new incidents in namespace",
    find: () => ({ metadata: { name: namespace, namespace } }),
    hasConditions: false,
  });
}

function watchStatusWrites(stalls: StallReporter, incidents: ReturnType<typeof incidentInformer>) {
  return stalls.watch({
    type: remediationRequests,
    noun: "incident",
    find: (key) => incidents.get(refOfKey(key)),
    // The write that fails is that of the status, so a condition cannot be written either.
    hasConditions: false,
  });
}
