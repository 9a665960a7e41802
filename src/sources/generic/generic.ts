import { isJsonObject, type JsonObject } from "../../kube/index.ts";
import {
  explainReadings,
  type ObjectReference,
  type PayloadReading,
  type Signal,
  type SignalReader,
  type SignalReading,
} from "../../resources/index.ts";
import { Problems, parseReference, shorten, unreadable } from "../json.ts";

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
  const list = isJsonObject(body) && "signals" in body ? body["signals"] : body;
  if (Array.isArray(list)) {
    const readings = list.map((item, i) => readSignal(item, { prefix: `signals[${i}].`, receivedAt }));
    return { kind: "signals", readings, truncated: 0 };
  }
  if (!isJsonObject(list))
    return unreadable('the body is not a signal such as {"name":"DiskFull","target":"node/worker-1"}');
  return { kind: "signals", readings: [readSignal(list, { prefix: "", receivedAt })], truncated: 0 };
}

interface SignalContext {
  readonly prefix: string;
  readonly receivedAt: string;
}

function readSignal(item: unknown, { prefix, receivedAt }: SignalContext): SignalReading {
  if (!isJsonObject(item)) return unreadable(`${prefix.slice(0, -1)} is not an object`);
  // A misspelled field would otherwise be ignored without notice.
  const unknown = Object.keys(item)
    .filter((field) => !fields.includes(field))
    .map((field) => `${prefix}${shorten(field)} is not a field of a signal: there are ${fields.join(", ")}`);
  const reading = readFields(item, { prefix, receivedAt, source: "generic", payload: item });
  if (unknown.length === 0) return reading;
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
  item: JsonObject,
  { prefix, receivedAt, source: defaultSource, payload, withoutTarget }: FieldsContext,
): SignalReading {
  const found = new Problems();
  const name = found.text(item["name"], `${prefix}name`, 253);
  const severity = item["severity"] === undefined ? "unknown" : found.text(item["severity"], `${prefix}severity`, 50);
  const source = item["source"] === undefined ? defaultSource : found.text(item["source"], `${prefix}source`, 63);
  const status = item["status"] ?? "firing";
  if (status !== "firing" && status !== "resolved") found.add(`${prefix}status is neither firing nor resolved`);
  const labels = found.texts(item["labels"], `${prefix}labels`);
  const annotations = found.texts(item["annotations"], `${prefix}annotations`);
  const { firingTime, endTime } = item;
  const startedAt = firingTime === undefined ? undefined : found.time(firingTime, `${prefix}firingTime`);
  const endedAt = endTime === undefined ? undefined : found.time(endTime, `${prefix}endTime`);
  const isNameless = withoutTarget !== undefined && item["target"] === undefined;
  const subject = isNameless ? undefined : readTarget(item["target"], `${prefix}target`, found);
  const series = item["series"] === undefined ? undefined : found.text(item["series"], `${prefix}series`, 128);
  if (found.list.length > 0) return { kind: "problems", problems: found.list };

  const common = {
    source,
    name,
    severity,
    ...(subject ? { subject } : withoutTarget),
    series: series ?? [subject?.namespace ?? "", subject?.kind ?? "", subject?.name ?? name].join("/"),
    labels,
    annotations,
    firingAt: startedAt ?? receivedAt,
    payload,
  };
  if (status === "firing") return { kind: "signal", signal: { status, ...common } };
  return { kind: "signal", signal: { status: "resolved", ...common, ...(endedAt && { endedAt }) } };
}

function readTarget(value: unknown, field: string, found: Problems): ObjectReference | undefined {
  if (typeof value === "string") {
    return parseReference(value) ?? found.add(`${field} is not written as namespace/kind/name or kind/name`);
  }
  if (!isJsonObject(value)) return found.add(`${field} is missing: write namespace/kind/name or kind/name`);
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
