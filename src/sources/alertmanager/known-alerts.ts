import { isJsonObject, type JsonObject } from "../../kube/index.ts";
import type { SignalReading } from "../../resources/index.ts";

/** The maximum number of cached alerts, and of characters of one: a megabyte in all. */
const [maxAlerts, maxLength] = [256, 4_096];

/** Caches the readings of alerts: while an alert fires, its sender repeats it unchanged. */
export class KnownAlerts {
  readonly #known = new Map<string, { readonly alert: JsonObject; readonly reading: SignalReading }>();

  /** The cached reading of an equal alert. */
  find(alert: JsonObject): SignalReading | undefined {
    const { fingerprint } = alert;
    const known = typeof fingerprint === "string" ? this.#known.get(fingerprint) : undefined;
    return known && isSameJson(known.alert, alert) ? known.reading : undefined;
  }

  /** Caches a reading that depends only on the alert. */
  keep(alert: JsonObject, reading: SignalReading): void {
    const { fingerprint } = alert;
    if (typeof fingerprint !== "string" || textLength(alert) > maxLength) return;
    if (this.#known.size >= maxAlerts) this.#known.clear();
    this.#known.set(fingerprint, { alert, reading });
  }
}

function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  let fields = 0;
  for (const name in one) {
    if (!isSameJson(one[name], other[name])) return false;
    fields++;
  }
  for (const _ in other) fields--;
  return fields === 0;
}

/** The characters of all names and texts. Lists count as too many: alerts of Alertmanager have none. */
function textLength(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (Array.isArray(value)) return Number.POSITIVE_INFINITY;
  if (!isJsonObject(value)) return 1;
  let length = 0;
  for (const name in value) length += name.length + textLength(value[name]);
  return length;
}
