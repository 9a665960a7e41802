import { createHash } from "node:crypto";
import { type PayloadReading, type SignalReader, type SignalReading, signalTime } from "../../resources/index.ts";
import { isObject, type Json, Problems } from "../json.ts";
import { subjectOf } from "./subject.ts";

const source = "alertmanager";

/** Reads the webhook of Alertmanager, version 4: each alert of a batch is a signal of its own. */
export const alertmanager: SignalReader = { source, read: readWebhook };

function readWebhook(body: unknown, receivedAt: string): PayloadReading {
  if (!isObject(body)) return problems("the body is not a JSON object as Alertmanager's webhook sends it");
  const { version = "4", alerts, truncatedAlerts } = body;
  if (String(version) !== "4") return problems("version is not 4, the only version of the webhook that is read here");
  if (!Array.isArray(alerts)) return problems("alerts is missing or is not a list");

  const groupStatus = body["status"];
  const times = new Map<string, string>();
  const readings = alerts.map((alert, i) =>
    readAlert(alert, { field: `alerts[${i}]`, groupStatus, receivedAt, times }),
  );
  return { kind: "signals", readings, truncated: countOf(truncatedAlerts) };
}

interface Surroundings {
  readonly field: string;
  readonly groupStatus: unknown;
  readonly receivedAt: string;
  /** What the times of this batch mean: the alerts of a group tend to have the same. */
  readonly times: Map<string, string>;
}

function readAlert(alert: unknown, { field, groupStatus, receivedAt, times }: Surroundings): SignalReading {
  if (!isObject(alert)) return problems(`${field} is not an object`);
  const found = new Problems();
  const status = alert["status"] ?? groupStatus;
  if (status !== "firing" && status !== "resolved") found.add(`${field}.status is neither firing nor resolved`);
  const labels = found.texts(alert["labels"], `${field}.labels`);
  const annotations = found.texts(alert["annotations"], `${field}.annotations`);
  const name = found.text(labels["alertname"], `${field}.labels.alertname`, 253);
  const firingAt = timeOf(alert["startsAt"], `${field}.startsAt`, { found, times }) ?? receivedAt;
  const endsAt = timeOf(alert["endsAt"], `${field}.endsAt`, { found, times });
  const subject = found.list.length === 0 ? subjectOf(labels, annotations) : undefined;
  if (found.list.length === 0 && !subject) found.add(`${field}.labels ${noSubject}`);
  if (!subject) return { kind: "problems", problems: found.list };

  return {
    kind: "signal",
    signal: {
      status: status as "firing" | "resolved",
      source,
      name,
      severity: labels["severity"]?.slice(0, 50) || "unknown",
      subject,
      series: seriesOf(alert, labels),
      labels,
      annotations,
      firingAt,
      ...(status === "resolved" ? { endedAt: endsAt ?? receivedAt } : {}),
      payload: alert,
    },
  };
}

const noSubject =
  "name no object that could be acted on: add a label such as namespace with pod or deployment, or node, " +
  "or write the annotation interlock_target: namespace/kind/name into the alerting rule";

/** Go writes a time that is not set as the first moment of the year 1. */
function timeOf(
  value: unknown,
  field: string,
  { found, times }: { found: Problems; times: Map<string, string> },
): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const time = typeof value === "string" ? (times.get(value) ?? signalTime(value)) : undefined;
  if (time !== undefined) times.set(value as string, time);
  if (time === undefined) return found.add(`${field} is not a time such as 2026-11-15T06:00:00Z`);
  return time.startsWith("0001-01-01T") ? undefined : time;
}

/** Alertmanager's own fingerprint stands for the set of labels; older versions and other senders leave it out. */
function seriesOf({ fingerprint }: Json, labels: Readonly<Record<string, string>>): string {
  if (typeof fingerprint === "string" && /^[\w.:-]{1,64}$/.test(fingerprint)) return fingerprint;
  const pairs = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(pairs)).digest("hex").slice(0, 16);
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
}

function problems(sentence: string): { readonly kind: "problems"; readonly problems: readonly string[] } {
  return { kind: "problems", problems: [sentence] };
}
