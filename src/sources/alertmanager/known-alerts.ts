import type { SignalReading } from "../../resources/index.ts";
import { isObject, type Json } from "../json.ts";

/** Alerts that are remembered, and the characters of the largest: a megabyte at most, however many incidents are open. */
const [maxAlerts, maxLength] = [256, 4_096];

/** Remembers how alerts were read: senders repeat an alert as long as it fires, word for word. */
export class KnownAlerts {
  readonly #known = new Map<string, { readonly alert: Json; readonly reading: SignalReading }>();

  /** The reading of the same alert before. */
  find(alert: Json): SignalReading | undefined {
    const { fingerprint } = alert;
    const known = typeof fingerprint === "string" ? this.#known.get(fingerprint) : undefined;
    return known && isSameJson(known.alert, alert) ? known.reading : undefined;
  }

  /** Keeps a reading that depends on nothing but the alert. */
  keep(alert: Json, reading: SignalReading): void {
    const { fingerprint } = alert;
    if (typeof fingerprint !== "string" || textLength(alert) > maxLength) return;
    if (this.#known.size >= maxAlerts) this.#known.clear();
    this.#known.set(fingerprint, { alert, reading });
  }
}

function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isObject(one) || !isObject(other)) return false;
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
  if (!isObject(value)) return 1;
  let length = 0;
  for (const name in value) length += name.length + textLength(value[name]);
  return length;
}
