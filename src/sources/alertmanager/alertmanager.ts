import { hash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../kube/index.ts";
import {
  explainReadings,
  type FieldTrace,
  type PayloadReading,
  type Signal,
  type SignalReader,
  type SignalReading,
  signalTime,
} from "../../resources/index.ts";
import { Problems, unreadable } from "../json.ts";
import { KnownAlerts } from "./known-alerts.ts";
import { builtInReporters, type Labels, type Reporter } from "./reporters.ts";
import { distinguishing, findSubject, type SubjectFinding, subjectOrigin } from "./subject.ts";

/**
 * Reads the webhook of Alertmanager, version 4: each alert of a batch is a signal of its own. The rows of `provenance`
 * come before the built-in ones.
 */
export function alertmanagerReader(provenance: readonly Reporter[] = []): SignalReader {
  return alertReader({ source: "alertmanager", sender: "Alertmanager", version: "4" }, provenance);
}

/** The same with the built-in table alone. */
export const alertmanager: SignalReader = alertmanagerReader();

/** Reads the webhook of Grafana's unified alerting, which has the alerts of Alertmanager's webhook and a version of its own. */
export function grafanaReader(provenance: readonly Reporter[] = []): SignalReader {
  return alertReader({ source: "grafana", sender: "Grafana", version: "1" }, provenance);
}

/** A webhook with alerts in the format of Alertmanager. */
interface Webhook {
  readonly source: string;
  /** For messages. */
  readonly sender: string;
  readonly version: string;
}

function alertReader(webhook: Webhook, provenance: readonly Reporter[]): SignalReader {
  const rows = [...provenance, ...builtInReporters];
  const known = new KnownAlerts();
  const read = (body: unknown, receivedAt: string) => readWebhook(body, { webhook, receivedAt, rows, known });
  return {
    source: webhook.source,
    read,
    explain: (body, receivedAt) => explainAlerts(read(body, receivedAt), rows),
  };
}

interface WebhookContext {
  readonly webhook: Webhook;
  readonly receivedAt: string;
  /** The table of label provenance. */
  readonly rows: readonly Reporter[];
  readonly known: KnownAlerts;
}

function readWebhook(body: unknown, { webhook, receivedAt, rows, known }: WebhookContext): PayloadReading {
  const { source } = webhook;
  if (!isJsonObject(body)) return unreadable(`the body is not a JSON object as ${webhook.sender}'s webhook sends it`);
  const { version = webhook.version, alerts, truncatedAlerts } = body;
  if (String(version) !== webhook.version) {
    return unreadable(`version is not ${webhook.version}, the only version of the webhook that is read here`);
  }
  if (!Array.isArray(alerts)) return unreadable("alerts is missing or is not a list");

  const groupStatus = body["status"];
  const times = new Map<string, string>();
  const readings = alerts.map((alert, i) => {
    const before = isJsonObject(alert) ? known.find(alert) : undefined;
    if (before) return before;
    const context = { field: `alerts[${i}]`, groupStatus, receivedAt, times, rows, source };
    const reading = readAlert(alert, context);
    if (isJsonObject(alert) && isIndependentOfBatch(alert, reading)) known.keep(alert, reading);
    return reading;
  });
  return { kind: "signals", readings, truncated: readCount(truncatedAlerts) };
}

/** Whether `alert` has the same reading in any batch, at any time. */
function isIndependentOfBatch({ status, startsAt }: JsonObject, reading: SignalReading): boolean {
  return reading.kind === "signal" && status === "firing" && reading.signal.firingAt === signalTime(startsAt);
}

/** The payload of an alert, and the state of reading it. */
export interface AlertContext {
  readonly source: string;
  readonly field: string;
  readonly groupStatus: unknown;
  readonly receivedAt: string;
  /** The parsed times of this batch: the alerts of a group often have the same. */
  readonly times: Map<string, string>;
  /** The table of label provenance. */
  readonly rows: readonly Reporter[];
}

/** Reads one alert, which has labels, annotations, startsAt, endsAt and fingerprint as Alertmanager writes them. */
export function readAlert(alert: unknown, context: AlertContext): SignalReading {
  const { field, groupStatus, receivedAt, times, rows, source } = context;
  if (!isJsonObject(alert)) return unreadable(`${field} is not an object`);
  const found = new Problems();
  const status = alert["status"] ?? groupStatus;
  if (status !== "firing" && status !== "resolved") found.add(`${field}.status is neither firing nor resolved`);
  const labels = found.texts(alert["labels"], `${field}.labels`);
  const annotations = found.texts(alert["annotations"], `${field}.annotations`);
  const name = found.text(labels["alertname"], `${field}.labels.alertname`, 253);
  const firingAt = parseTime(alert["startsAt"], `${field}.startsAt`, { found, times }) ?? receivedAt;
  const endsAt = parseTime(alert["endsAt"], `${field}.endsAt`, { found, times });
  if (found.list.length > 0) return { kind: "problems", problems: found.list };

  const finding = findSubject(labels, annotations, rows);
  return {
    kind: "signal",
    signal: {
      status: status as "firing" | "resolved",
      source,
      name,
      severity: labels["severity"]?.slice(0, 50) || "unknown",
      ...subjectFields(finding, labels),
      series: seriesKey(alert, labels),
      labels,
      annotations,
      firingAt,
      ...(status === "resolved" ? { endedAt: endsAt ?? receivedAt } : {}),
      payload: alert,
    },
  };
}

type SubjectFields = Pick<Signal, "subject" | "coarserSubject" | "node" | "noSubject" | "distinctBy">;

function subjectFields(finding: SubjectFinding, labels: Labels): SubjectFields {
  switch (finding.kind) {
    case "object": {
      const { subject, coarser, distinctBy } = finding;
      return {
        subject,
        ...(coarser ? { coarserSubject: coarser } : {}),
        ...(subject.apiVersion
          ? { noSubject: `the kind ${subject.kind} of ${subject.apiVersion} is not known here` }
          : {}),
        ...(distinctBy?.some((label) => labels[label]) ? { distinctBy } : {}),
      };
    }
    case "node":
      return { node: finding.hint };
    case "none":
      return { noSubject: finding.because, distinctBy: distinguishing };
  }
}

const fieldTable = [
  ["name", "labels.alertname"],
  ["severity", "labels.severity, else unknown"],
  ["status", "status of the alert, else of the group"],
  ["firingAt", "startsAt, else the time of receipt"],
  ["endedAt", "endsAt, else the time of receipt"],
  ["series", "fingerprint, else a hash of the labels"],
] as const;

/** The derivation of alerts: their fields, and the row of the provenance table that decided their subject. */
export function explainAlerts(reading: PayloadReading, rows: readonly Reporter[]): readonly (readonly FieldTrace[])[] {
  const readings = reading.kind === "signals" ? reading.readings : [];
  return explainReadings(reading, fieldTable).map((fields, i) => {
    const one = readings[i];
    if (one?.kind !== "signal") return fields;
    const { labels, annotations, subject, node, noSubject } = one.signal;
    const from = subjectOrigin(labels, annotations, rows);
    const found = subject ?? node;
    return [
      ...fields,
      found || noSubject === undefined
        ? { field: "subject", from, value: JSON.stringify(found) }
        : { field: "subject", from, problem: noSubject },
    ];
  });
}

/** Go writes a time that is not set as the first moment of the year 1. */
function parseTime(
  value: unknown,
  field: string,
  { found, times }: { found: Problems; times: Map<string, string> },
): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const time = times.get(value as string) ?? found.time(value, field);
  if (time === undefined) return undefined;
  times.set(value as string, time);
  return time.startsWith("0001-01-01T") ? undefined : time;
}

/** Alertmanager's own fingerprint stands for the set of labels; older versions and other senders leave it out. */
function seriesKey({ fingerprint }: JsonObject, labels: Readonly<Record<string, string>>): string {
  if (typeof fingerprint === "string" && /^[\w.:-]{1,64}$/.test(fingerprint)) return fingerprint;
  const pairs = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));
  return hash("sha256", JSON.stringify(pairs)).slice(0, 16);
}

function readCount(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}
