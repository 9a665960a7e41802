import type { Row, RowFilter } from "../../../src/console/wire.ts";

/** The filters that a page may have in its URL, in the order in which it shows them. */
const filterNames = [
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
export function withFilter(query: URLSearchParams, name: string, value: string): URLSearchParams {
  const changed = new URLSearchParams(query);
  if (value.trim() === "") changed.delete(name);
  else changed.set(name, value);
  return changed;
}

/** Whether a row that changed belongs to a filtered list, as the server decides it. `now` is in milliseconds. */
export function matchesFilter(row: Row, filter: RowFilter, now: number): boolean {
  if (!isOneOf([rowPhase(row)], filter.phase)) return false;
  for (const name of ["lane", "target", "workflow"] as const) {
    if (!isOneOf([fieldText(row, name)], filter[name])) return false;
  }
  if (!isOneOf(rowReasons(row), filter.reason)) return false;
  if (!isOneOf(rowNamespaces(row), filter.namespace)) return false;
  if (filter.since !== undefined && lastChange(row) < now - parseDuration(filter.since)) return false;
  return filter.search === undefined || hasAllWords(row, filter.search);
}

function isOneOf(values: readonly string[], list: string | undefined): boolean {
  const wanted = (list ?? "")
    .toLowerCase()
    .split(",")
    .flatMap((value) => value.trim() || []);
  return wanted.length === 0 || values.some((value) => wanted.includes(value.toLowerCase()));
}

/** The phase by which the server filters, also for rows that have no field of that name. */
function rowPhase(row: Row): string {
  switch (row.kind) {
    case "approvals":
      return row.decision ?? "Pending";
    case "pauses":
      return row.endedAt === undefined ? "Active" : "Ended";
    case "targets":
      return row.holder === undefined ? "Free" : "Held";
    default:
      return row.phase;
  }
}

/** A wait after failures is both a `Backoff`, as rows show it, and `RecentlyRemediated`. */
function rowReasons(row: Row): readonly string[] {
  const reason = row.kind === "pauses" ? "" : fieldText(row, "reason");
  return [reason, fieldText(row, "outcome"), ...(reason === "Backoff" ? ["RecentlyRemediated"] : [])];
}

/** That of the object, and that of a target such as payment/deployment/api. */
function rowNamespaces(row: Row): readonly string[] {
  const [first = "", ...others] = fieldText(row, "target").split("/");
  const own = row.key.slice(0, row.key.indexOf("/"));
  return others.length === 2 ? [own, first.slice(first.indexOf(":") + 1)] : [own];
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

/** The duration of the command line, as a pattern of HTML: 90s, 15m, 2h30m. */
export const durationPattern = "\\s*(?=\\d)(\\d+h)?(\\d+m)?(\\d+s)?\\s*";

/** Milliseconds of a duration such as 90s, 15m or 2h30m; infinite for any other text, which excludes no row. */
export function parseDuration(text: string): number {
  const [matched, hours, minutes, seconds] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text.trim()) ?? [];
  if (!matched) return Number.POSITIVE_INFINITY;
  return ((Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0)) * 1_000;
}
