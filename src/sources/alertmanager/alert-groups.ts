import { isJsonObject, type JsonObject } from "../../kube/index.ts";
import type { PayloadReading, SignalReader, SignalReading } from "../../resources/index.ts";
import { unreadable } from "../json.ts";
import { type AlertContext, explainAlerts, readAlert } from "./alertmanager.ts";
import { builtInReporters, type Reporter } from "./reporters.ts";

/**
 * Reads what Alertmanager's API v2 returns: alert groups (`GET /api/v2/alerts/groups`) or alerts (`GET /api/v2/alerts`).
 * They are the same alerts as those of its webhook, so their source is the same, too.
 */
export function alertGroupsReader(provenance: readonly Reporter[] = []): SignalReader {
  const rows = [...provenance, ...builtInReporters];
  const read = (body: unknown, receivedAt: string) => readGroups(body, receivedAt, rows);
  return { source: "alertmanager", read, explain: (body, receivedAt) => explainAlerts(read(body, receivedAt), rows) };
}

function readGroups(body: unknown, receivedAt: string, rows: readonly Reporter[]): PayloadReading {
  if (!Array.isArray(body))
    return unreadable("the body is not a list of alert groups as Alertmanager's API v2 returns it");
  const batch = { receivedAt, rows, times: new Map(), seen: new Set<string>() };
  return { kind: "signals", readings: body.flatMap((group, i) => readGroup(group, `[${i}]`, batch)), truncated: 0 };
}

interface GroupContext extends Pick<AlertContext, "receivedAt" | "times" | "rows"> {
  /** Fingerprints of alerts that were read before: each receiver has its own groups of the same alerts. */
  readonly seen: Set<string>;
}

function readGroup(group: unknown, field: string, batch: GroupContext): readonly SignalReading[] {
  if (!isJsonObject(group)) return [unreadable(`${field} is not an object`)];
  const { alerts } = group;
  if (alerts === undefined) return [readListed(group, field, batch)];
  if (!Array.isArray(alerts)) return [unreadable(`${field}.alerts is not a list`)];
  return alerts.map((alert, i) => readListed(alert, `${field}.alerts[${i}]`, batch));
}

function readListed(alert: unknown, field: string, { seen, receivedAt, times, rows }: GroupContext): SignalReading {
  if (!isJsonObject(alert)) return unreadable(`${field} is not an object`);
  const { fingerprint } = alert;
  if (typeof fingerprint === "string" && seen.has(fingerprint)) {
    return { kind: "ignored", because: "the same alert is in another group of this request" };
  }
  if (typeof fingerprint === "string") seen.add(fingerprint);
  const status = isJsonObject(alert["status"]) ? alert["status"] : {};
  if (status["state"] === "suppressed") return { kind: "ignored", because: suppression(status) };

  const groupStatus = hasEnded(alert, receivedAt) ? "resolved" : "firing";
  // A firing alert has a time in the future here, by which Alertmanager expects the next report.
  const { status: _, ...rest } = alert;
  return readAlert(rest, { field, groupStatus, receivedAt, times, rows, source: "alertmanager" });
}

function suppression({ silencedBy, inhibitedBy, mutedBy }: JsonObject): string {
  const isSet = (list: unknown) => Array.isArray(list) && list.length > 0;
  if (isSet(silencedBy)) return "it is silenced in Alertmanager";
  if (isSet(inhibitedBy)) return "another alert inhibits it in Alertmanager";
  return isSet(mutedBy) ? "a time interval mutes it in Alertmanager" : "it is suppressed in Alertmanager";
}

function hasEnded({ endsAt }: JsonObject, receivedAt: string): boolean {
  const endMs = typeof endsAt === "string" && !endsAt.startsWith("0001-") ? Date.parse(endsAt) : Number.NaN;
  return endMs <= Date.parse(receivedAt);
}
