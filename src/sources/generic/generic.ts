import {
  explainReadings,
  type ObjectReference,
  type PayloadReading,
  type Signal,
  type SignalReader,
  type SignalReading,
  signalTime,
} from "../../resources/index.ts";
import { isObject, type Json, Problems, referenceIn, shown } from "../json.ts";

/**
 * Reads signals in the generic format: `{"name":"DiskFull","target":"node/worker-1"}`, alone, in a list, or in a list
 * called `signals`.
 */
export const generic: SignalReader = {
  source: "generic",
  read: readSignals,
  explain: (body, receivedAt) => explainReadings(readSignals(body, receivedAt), fieldTable),
};

const fieldTable = [
  ["name", "name"],
  ["severity", "severity, else unknown"],
  ["status", "status, else firing"],
  ["subject", "target"],
  ["series", "series, else the target"],
  ["firingAt", "firingTime, else the time of receipt"],
  ["endedAt", "endTime"],
] as const;

const fields = [
  "name",
  "target",
  "severity",
  "status",
  "source",
  "series",
  "labels",
  "annotations",
  "firingTime",
  "endTime",
];

function readSignals(body: unknown, receivedAt: string): PayloadReading {
  const list = isObject(body) && "signals" in body ? body["signals"] : body;
  if (Array.isArray(list)) {
    const readings = list.map((item, i) => readSignal(item, { prefix: `signals[${i}].`, receivedAt }));
    return { kind: "signals", readings, truncated: 0 };
  }
  if (!isObject(list)) {
    return {
      kind: "problems",
      problems: ['the body is not a signal such as {"name":"DiskFull","target":"node/worker-1"}'],
    };
  }
  return { kind: "signals", readings: [readSignal(list, { prefix: "", receivedAt })], truncated: 0 };
}

interface SignalContext {
  readonly prefix: string;
  readonly receivedAt: string;
}

function readSignal(item: unknown, { prefix, receivedAt }: SignalContext): SignalReading {
  if (!isObject(item)) return { kind: "problems", problems: [`${prefix.slice(0, -1)} is not an object`] };
  const strangers = Object.keys(item).filter((field) => !fields.includes(field));
  const reading = readFields(item, { prefix, receivedAt, source: "generic", payload: item });
  if (strangers.length === 0) return reading;
  // A misspelled field would otherwise be ignored without notice.
  const unknown = strangers.map(
    (field) => `${prefix}${shown(field)} is not a field of a signal: there are ${fields.join(", ")}`,
  );
  return { kind: "problems", problems: [...unknown, ...(reading.kind === "problems" ? reading.problems : [])] };
}

interface FieldsContext extends SignalContext {
  /** The source of a signal that names none. */
  readonly source: string;
  readonly payload: unknown;
  /** The subject of a signal without a target; undefined: a target is required. */
  readonly withoutTarget?: Pick<Signal, "noSubject" | "distinctBy">;
}

/** Reads the fields of a signal, whether its sender wrote them or a mapping derived them. */
export function readFields(
  item: Json,
  { prefix, receivedAt, source: usualSource, payload, withoutTarget }: FieldsContext,
): SignalReading {
  const found = new Problems();
  const name = found.text(item["name"], `${prefix}name`, 253);
  const severity = optional(item, "severity", { prefix, found, maxLength: 50, otherwise: "unknown" });
  const source = optional(item, "source", { prefix, found, maxLength: 63, otherwise: usualSource });
  const status = item["status"] ?? "firing";
  if (status !== "firing" && status !== "resolved") found.add(`${prefix}status is neither firing nor resolved`);
  const labels = found.texts(item["labels"], `${prefix}labels`);
  const annotations = found.texts(item["annotations"], `${prefix}annotations`);
  const firingAt = parseTime(item["firingTime"], `${prefix}firingTime`, found) ?? receivedAt;
  const endedAt = parseTime(item["endTime"], `${prefix}endTime`, found);
  const isNameless = withoutTarget !== undefined && item["target"] === undefined;
  const subject = isNameless ? undefined : targetIn(item["target"], `${prefix}target`, found);
  const ownSeries = optional(item, "series", { prefix, found, maxLength: 128, otherwise: "" });
  if (found.list.length > 0) return { kind: "problems", problems: found.list };

  const common = {
    source,
    name,
    severity,
    ...(subject ? { subject } : withoutTarget),
    series: ownSeries || [subject?.namespace ?? "", subject?.kind ?? "", subject?.name ?? name].join("/"),
    labels,
    annotations,
    firingAt,
    payload,
  };
  return {
    kind: "signal",
    signal:
      status === "resolved"
        ? { status, ...common, ...(endedAt === undefined ? {} : { endedAt }) }
        : { status: "firing", ...common },
  };
}

function targetIn(value: unknown, field: string, found: Problems): ObjectReference | undefined {
  if (typeof value === "string") {
    return referenceIn(value) ?? found.add(`${field} is not written as namespace/kind/name or kind/name`);
  }
  if (!isObject(value)) return found.add(`${field} is missing: write namespace/kind/name or kind/name`);
  const kind = found.text(value["kind"], `${field}.kind`, 253);
  const name = found.text(value["name"], `${field}.name`, 253);
  const { namespace, apiVersion } = value;
  if (!isTextOrAbsent(namespace)) found.add(`${field}.namespace is not text`);
  if (!isTextOrAbsent(apiVersion)) found.add(`${field}.apiVersion is not text`);
  return {
    kind,
    name,
    ...(namespace ? { namespace: String(namespace) } : {}),
    ...(apiVersion ? { apiVersion: String(apiVersion) } : {}),
  };
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.length <= 253);
}

interface Optional {
  readonly prefix: string;
  readonly found: Problems;
  readonly maxLength: number;
  readonly otherwise: string;
}

function optional(item: Json, field: string, { prefix, found, maxLength, otherwise }: Optional): string {
  return item[field] === undefined ? otherwise : found.text(item[field], `${prefix}${field}`, maxLength);
}

function parseTime(value: unknown, field: string, found: Problems): string | undefined {
  if (value === undefined) return undefined;
  return signalTime(value) ?? found.add(`${field} is not a time such as 2026-11-15T06:00:00Z`);
}
