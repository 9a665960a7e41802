import type { KubeObject } from "../../kube/index.ts";
import { fitRow } from "../rows/index.ts";
import { type IncidentRow, type Lane, lanes, type PauseRow, type Row, type RowKind, rowKinds } from "../wire.ts";
import { EntryMaker, type RowEntry } from "./entry.ts";
import { Facets, newestFirst } from "./facets.ts";
import { Links, type Touch } from "./links.ts";
import { unpackRow } from "./packed-row.ts";
import { SortedList } from "./sorted-list.ts";

/** The rows of one kind, newest first. */
export interface KindRows {
  readonly byKey: ReadonlyMap<string, RowEntry>;
  readonly all: SortedList<RowEntry>;
  /** Those about which there is still something to do. */
  readonly open: SortedList<RowEntry>;
  /** The lists in which the entries with a value of a facet are. */
  readonly facets: Facets;
}

/** The rows of all kinds with everything that they show of one another. Holds no object. */
export class LiveRows {
  readonly #kinds: Readonly<Record<RowKind, OwnRows>>;
  readonly #maker = new EntryMaker();
  readonly #links: Links;
  readonly #touch: Touch;
  readonly #laneTotals = new Map<string, number>();
  /** Incidents by the time at which they were closed, the latest first. */
  readonly closed = new SortedList<RowEntry>(({ changedSec }) => changedSec);

  /** `touch` is called for every row that changes. */
  constructor(maxFailures: number, touch: Touch) {
    this.#touch = touch;
    this.#links = new Links(maxFailures, touch);
    this.#kinds = Object.fromEntries(rowKinds.map((kind) => [kind, emptyKind()])) as Record<RowKind, OwnRows>;
  }

  kind(kind: RowKind): KindRows {
    return this.#kinds[kind];
  }

  put(kind: RowKind, object: KubeObject): void {
    this.#change(kind, object, this.#maker.make(kind, object));
  }

  remove(kind: RowKind, key: string): void {
    const before = this.#kinds[kind].byKey.get(key);
    if (before) this.#change(kind, undefined, before);
  }

  /** The row as it is shown now. */
  row(kind: RowKind, entry: RowEntry): Row {
    const row = unpackRow(kind, entry.packed);
    switch (row.kind) {
      case "incidents": {
        const links = this.#links.ofIncident(entry);
        return links ? fitRow({ ...row, ...links }) : row;
      }
      case "targets":
        return fitRow({ ...row, waiting: this.#links.waitingFor(entry.target) });
      case "pauses":
        return fitRow({ ...row, suppressed: this.#links.suppressedBy(entry.key) });
      default:
        return row;
    }
  }

  laneTotal(lane: Lane): number {
    return this.#laneTotals.get(lane) ?? 0;
  }

  #change(kind: RowKind, object: KubeObject | undefined, made: RowEntry) {
    const { byKey, all, open, facets } = this.#kinds[kind];
    const before = byKey.get(made.key);
    const after = object ? made : undefined;
    if (before) {
      all.remove(before);
      facets.remove(before);
      if (before.isOpen) open.remove(before);
    }
    if (after) {
      byKey.set(after.key, after);
      all.add(after);
      facets.add(after);
      if (after.isOpen) open.add(after);
    } else byKey.delete(made.key);
    if (kind === "incidents") this.#changeIncident(before, after);
    this.#links.change(kind, object, { before, after });
    this.#touch(kind, made.key);
  }

  #changeIncident(before: RowEntry | undefined, after: RowEntry | undefined) {
    if (before) this.#count(before.lane, -1);
    if (after) this.#count(after.lane, 1);
    if (before && !before.isOpen) this.closed.remove(before);
    if (after && !after.isOpen) this.closed.add(after);
  }

  #count(lane: string, difference: number) {
    this.#laneTotals.set(lane, (this.#laneTotals.get(lane) ?? 0) + difference);
  }
}

interface OwnRows extends KindRows {
  readonly byKey: Map<string, RowEntry>;
}

function emptyKind(): OwnRows {
  return { byKey: new Map(), all: newestFirst(), open: newestFirst(), facets: new Facets() };
}

/** The first rows of each lane, and how many there are. */
export type LaneRows = { readonly lane: Lane; readonly total: number; readonly rows: readonly IncidentRow[] };

/** The first `max` incidents of each open lane; of those that run, the ones whose workflow acts come first. */
export function openLanes(rows: LiveRows, max: number): readonly LaneRows[] {
  const first = new Map<string, RowEntry[]>([...lanes, "acting"].map((lane) => [lane, []]));
  let left = first.size - 1;
  for (const entry of eachOf(rows.kind("incidents").open)) {
    const found = first.get(entry.phase === "Executing" && entry.lane === "running" ? "acting" : entry.lane);
    if (!found || found.length === max) continue;
    if (found.push(entry) === max && --left === 0) break;
  }
  const acting = first.get("acting") ?? [];
  return lanes
    .filter((lane) => lane !== "done")
    .map((lane) => ({
      lane,
      total: rows.laneTotal(lane),
      rows: [...(lane === "running" ? acting : []), ...(first.get(lane) ?? [])]
        .slice(0, max)
        .map((entry) => rows.row("incidents", entry) as IncidentRow),
    }));
}

/** Pauses that last at `nowMs`. */
export function lastingPauseRows(rows: LiveRows, max: number, nowMs: number): readonly PauseRow[] {
  const found: PauseRow[] = [];
  for (const entry of eachOf(rows.kind("pauses").open)) {
    const row = rows.row("pauses", entry) as PauseRow;
    if (row.until === undefined || Date.parse(row.until) > nowMs) found.push(row);
    if (found.length === max) break;
  }
  return found;
}

/** The entries of a list in its order. The list must not change meanwhile. */
export function* eachOf(list: SortedList<RowEntry>): Generator<RowEntry> {
  let after: RowEntry | undefined;
  while (true) {
    const next = list.after(after && list.position(after), 512);
    yield* next;
    after = next.at(-1);
    if (!after) return;
  }
}
