import type { Row, RowFilter } from "../../../src/console/wire.ts";

/** The filters that a page may have in its URL, in the order in which it shows them. */
export const filterNames = [
  "search",
  "lane",
  "phase",
  "reason",
  "target",
  "workflow",
  "namespace",
  "since",
] as const satisfies readonly (keyof RowFilter)[];

export type FilterName = (typeof filterNames)[number];

/** The filters in a query string. Other parameters belong to the page. */
export function filterFromQuery(query: URLSearchParams): RowFilter {
  const filter: Partial<Record<FilterName, string>> = {};
  for (const name of filterNames) {
    const value = query.get(name)?.trim();
    if (value) filter[name] = value;
  }
  return filter;
}

/** `query` with one filter set, or removed if `value` is empty. */
export function withFilter(query: URLSearchParams, name: FilterName, value: string): URLSearchParams {
  const changed = new URLSearchParams(query);
  if (value.trim() === "") changed.delete(name);
  else changed.set(name, value);
  return changed;
}

/** Whether a row that changed belongs to a filtered list, as the server decides it. `now` is in milliseconds. */
export function matchesFilter(row: Row, filter: RowFilter, now: number): boolean {
  for (const name of ["lane", "phase", "reason", "target", "workflow"] as const) {
    const wanted = filter[name];
    if (wanted !== undefined && !isOneOf(fieldText(row, name), wanted)) return false;
  }
  if (filter.namespace !== undefined && !isOneOf(row.key.slice(0, row.key.indexOf("/")), filter.namespace))
    return false;
  if (filter.since !== undefined && lastChange(row) < now - parseDuration(filter.since)) return false;
  return filter.search === undefined || hasAllWords(row, filter.search);
}

function isOneOf(value: string, list: string): boolean {
  return list.split(",").some((wanted) => wanted.trim().toLowerCase() === value.toLowerCase());
}

function fieldText(row: Row, name: string): string {
  const value = (row as unknown as Readonly<Record<string, unknown>>)[name];
  return typeof value === "string" ? value : "";
}

const changeFields = ["createdAt", "lastSeenAt", "startedAt", "endedAt", "closedAt", "decidedAt"];

function lastChange(row: Row): number {
  return Math.max(...changeFields.map((name) => Date.parse(fieldText(row, name)) || 0));
}

function hasAllWords(row: Row, search: string): boolean {
  const text = Object.values(row)
    .filter((value) => typeof value === "string")
    .join("\n")
    .toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as 90s, 15m, 24h or 7d; infinite for any other text, which excludes no row. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text.trim()) ?? [];
  return count && unit ? Number(count) * (unitMs[unit] ?? 0) : Number.POSITIVE_INFINITY;
}
