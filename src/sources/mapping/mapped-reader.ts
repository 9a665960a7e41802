import { hash } from "node:crypto";
import type { PayloadReading, Signal, SignalReader, SignalReading } from "../../resources/index.ts";
import { distinguishing } from "../alertmanager/subject.ts";
import { readFields } from "../generic/generic.ts";
import { type UnreadablePart, unreadable } from "../json.ts";
import { limitTexts } from "../limit-texts.ts";
import { type MappedItem, mapItem, toText } from "./map-item.ts";
import type { MappedField, Mapping } from "./mapping.ts";

/** Reads the payloads of `source` by a mapping. A payload supplies only values: no field of it is evaluated. */
export function mappedReader(source: string, mapping: Mapping): SignalReader {
  return {
    source,
    read(body, receivedAt): PayloadReading {
      const items = readItems(mapping, body);
      if (items.kind === "problems") return items;
      const readings = items.list.map((item, i) => {
        const prefix = items.list.length === 1 ? "" : `items[${i}].`;
        return readItem(mapItem(mapping, item, body), { source, mapping, item, prefix, receivedAt });
      });
      return { kind: "signals", readings, truncated: 0 };
    },
    explain(body) {
      const items = readItems(mapping, body);
      return items.kind === "problems" ? [] : items.list.map((item) => mapItem(mapping, item, body).trace);
    },
  };
}

type Items = { readonly kind: "items"; readonly list: readonly unknown[] } | UnreadablePart;

function readItems({ items }: Mapping, body: unknown): Items {
  if (!items) return { kind: "items", list: Array.isArray(body) ? body : [body] };
  const result = items.evaluate({ body, item: body, labels: {} });
  const problem = (text: string) => unreadable(`items: ${items.text}: ${text}`);
  if (result.kind === "failed") return problem(result.problem);
  return Array.isArray(result.value) ? { kind: "items", list: result.value } : problem("is not a list");
}

interface ItemContext {
  readonly source: string;
  readonly mapping: Mapping;
  readonly item: unknown;
  readonly prefix: string;
  readonly receivedAt: string;
}

function readItem(mapped: MappedItem, { source, mapping, item, prefix, receivedAt }: ItemContext): SignalReading {
  if (mapped.problems.length > 0) {
    return { kind: "problems", problems: mapped.problems.map((problem) => `${prefix}${problem}`) };
  }
  if (!mapped.isSelected) {
    return { kind: "ignored", because: `the mapping of ${source} selects only items with ${mapping.when?.text}` };
  }
  const { values, labels, annotations } = mapped;
  const fields = {
    ...text("name", values, (name) => name.slice(0, maxNameLength)),
    ...text("severity", values, (severity) => severity.slice(0, maxSeverityLength)),
    ...text("status", values, (status) => status),
    ...text("series", values, (series) => (series.length <= maxSeriesLength ? series : hash("sha256", series))),
    ...time("firingTime", values),
    ...time("endTime", values),
    ...(values.has("target") ? { target: values.get("target") } : {}),
    labels: limitTexts(labels),
    annotations: limitTexts(annotations),
  };
  return readFields(fields, { prefix, receivedAt, source, payload: item, withoutTarget });
}

const maxNameLength = 253;
const maxSeverityLength = 50;
const maxSeriesLength = 128;

/** A signal whose mapping yields no target: a rule may still supply one. */
const withoutTarget: Pick<Signal, "noSubject" | "distinctBy"> = {
  noSubject: "the mapping of its sender gives no target",
  distinctBy: distinguishing,
};

type Values = ReadonlyMap<MappedField, unknown>;

/** The value as text; any other value is passed on, so that the reader of fields reports it. */
function text(field: MappedField, values: Values, limit: (text: string) => string) {
  if (!values.has(field)) return {};
  const value = toText(values.get(field));
  return { [field]: value === undefined ? values.get(field) : limit(value) };
}

/** A number counts as Unix time: in seconds, or in milliseconds if it would otherwise be after the year 5000. */
function time(field: "firingTime" | "endTime", values: Values) {
  if (!values.has(field)) return {};
  const value = values.get(field);
  const isUnixTime = typeof value === "string" ? /^\d{9,13}(\.\d+)?$/.test(value) : isNumber(value);
  if (!isUnixTime) return { [field]: toText(value) ?? value };
  const number = Number(value);
  const date = new Date(number < firstMilliseconds ? number * 1_000 : number);
  return { [field]: Number.isNaN(date.getTime()) ? value : date.toISOString() };
}

const firstMilliseconds = 100_000_000_000;

function isNumber(value: unknown): boolean {
  return typeof value === "number" || typeof value === "bigint";
}
