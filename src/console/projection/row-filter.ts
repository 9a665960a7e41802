import { parseDuration } from "../../time/index.ts";
import { reasonGetters } from "../rows/index.ts";
import type { RowFilter, RowKind } from "../wire.ts";
import { lanes } from "../wire.ts";
import type { RowEntry } from "./entry.ts";
import type { FacetName } from "./facets.ts";
import { packText } from "./packed-row.ts";
import { RequestError } from "./projection.ts";

/** A filter, read once and asked about every row. */
export interface EntryFilter {
  matches(entry: RowEntry): boolean;
  /** Every row that matches has this value; undefined if there is no such value. */
  readonly facet?: { readonly name: FacetName; readonly value: string };
  /** False if no row that is closed can match, so that these need not be looked at. */
  readonly includesClosed: boolean;
  /** Whether it matches every row, or every row with the value of `facet`. */
  readonly matchesAll: boolean;
  readonly matchesAllOfFacet: boolean;
}

const maxSearchWords = 8;
const maxSearchLength = 200;

/** Reads a filter. A value that no row can have matches none; one that cannot be read is a RequestError. */
export function readFilter(kind: RowKind, filter: RowFilter, nowMs: number): EntryFilter {
  const wantedLanes = readList(filter.lane);
  const unknown = wantedLanes?.find((lane) => !(lanes as readonly string[]).includes(lane));
  if (unknown !== undefined) throw new RequestError(`unknown lane "${unknown}"; write one of ${lanes.join(", ")}`);
  if (wantedLanes && kind !== "incidents") throw new RequestError(`${kind} have no lane`);
  const tests = [
    isAnyOf(wantedLanes, ({ lane }) => lane),
    isAnyOf(readList(filter.phase), (entry) => (hasRunOut(entry, nowMs) ? "Ended" : entry.phase)),
    isAnyOf(readList(filter.reason), ...reasonGetters),
    isExactly(readList(filter.target), ({ target }) => target),
    isAnyOf(readList(filter.workflow), ({ workflow }) => workflow),
    isAnyOf(
      readList(filter.namespace),
      ({ namespace }) => namespace,
      ({ targetNamespace }) => targetNamespace,
    ),
    changedSince(filter.since, nowMs),
    ...searchTests(filter.search),
  ].filter((test) => test !== undefined);
  const facet = findFacet(kind, filter);
  return {
    matches: (entry) => {
      for (const test of tests) if (!test(entry)) return false;
      return true;
    },
    ...(facet ? { facet } : {}),
    includesClosed: wantedLanes === undefined || wantedLanes.includes("done"),
    matchesAll: tests.length === 0,
    // The list of a target has others as well.
    matchesAllOfFacet: tests.length === 1 && facet !== undefined && facet.name !== "target",
  };
}

/** A pause ends at its time without a write. */
function hasRunOut({ endsSec }: RowEntry, nowMs: number): boolean {
  return endsSec > 0 && endsSec * 1_000 <= nowMs;
}

/** The facet with the fewest rows. */
function findFacet(kind: RowKind, { target, lane, phase }: RowFilter): EntryFilter["facet"] {
  const single = (text: string | undefined) => {
    const values = readList(text);
    return values?.length === 1 ? values[0] : undefined;
  };
  // The phase of a pause changes with the time.
  const found = { target: single(target), lane: single(lane), phase: kind === "pauses" ? undefined : single(phase) };
  for (const name of ["target", "lane", "phase"] as const) {
    const value = found[name];
    if (value !== undefined) return { name, value };
  }
  return undefined;
}

type Test = (entry: RowEntry) => boolean;

function readList(text: string | undefined): readonly string[] | undefined {
  const values = text
    ?.split(",")
    .map((value) => value.trim())
    .filter((value) => value !== "");
  return values?.length ? values : undefined;
}

/** Names of objects differ by case. */
function isExactly(wanted: readonly string[] | undefined, read: (entry: RowEntry) => string): Test | undefined {
  return wanted && ((entry) => wanted.includes(read(entry)));
}

/** In any case, as on the command line. Each value is looked at once, as few values are those of many rows. */
function isAnyOf(
  wanted: readonly string[] | undefined,
  ...getters: readonly ((entry: RowEntry) => string)[]
): Test | undefined {
  if (wanted === undefined) return undefined;
  const all = new Set(wanted.map((value) => value.toLowerCase()));
  const known = new Map<string, boolean>();
  const isWanted = (value: string) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const is = all.has(value.toLowerCase());
    known.set(value, is);
    return is;
  };
  return (entry) => {
    for (const read of getters) if (isWanted(read(entry))) return true;
    return false;
  };
}

function changedSince(since: string | undefined, nowMs: number): Test | undefined {
  if (!since) return undefined;
  const durationMs = parseDuration(since);
  if (durationMs === undefined) throw new RequestError(`since "${since}" must be a duration such as 30m or 24h`);
  const sinceSec = Math.floor((nowMs - durationMs) / 1_000);
  return ({ changedSec }) => changedSec >= sinceSec;
}

/** One test per word, in any case, on the texts of a row. */
function searchTests(search: string | undefined): readonly Test[] {
  if (!search) return [];
  if (search.length > maxSearchLength) throw new RequestError(`a search has at most ${maxSearchLength} characters`);
  const words = search.split(/\s+/).filter((word) => word !== "");
  if (words.length > maxSearchWords) throw new RequestError(`a search has at most ${maxSearchWords} words`);
  return words.map((word) => {
    // Escaped characters are the same only in the same case.
    const spellings = [word, word.toLowerCase(), word.toUpperCase()].map(packText);
    const pattern = new RegExp([...new Set(spellings)].map(literal).join("|"), "gi");
    return ({ packed, textAt }) => {
      pattern.lastIndex = textAt;
      return pattern.test(packed);
    };
  });
}

/** A regular expression that matches `text` itself. */
function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
