import { KubeError } from "../../kube/index.ts";
import { sleep, type Timer } from "../../time/index.ts";
import type { ApprovalRow, ExecutionRow, IncidentRow, Now, RowKind, RowPage } from "../wire.ts";
import type { RowEntry } from "./entry.ts";
import { type LiveOptions, LiveProjection } from "./live-projection.ts";
import { eachOf, type LiveRows, lastingPauseRows, openLanes } from "./live-rows.ts";
import { type PageRequest, type Projection, RequestError, type StreamRequest } from "./projection.ts";
import { readFilter } from "./row-filter.ts";
import { isBehind, type Position, type SortedList } from "./sorted-list.ts";

export interface ProjectionOptions extends LiveOptions {
  /** It is stopped so long after its last reader has left. */
  readonly idleMs: number;
}

const maxPageRows = 500;
/** Of one lane of the page Now. */
const maxLaneRows = 50;
/** An incident that was closed longer ago is not in the lane of those that are done. */
const recentMs = 24 * 3_600_000;
/** The time within which a first reader gets an answer, or an error that explains why not. */
const maxSyncMs = 15_000;
const scannedAtOnce = 1_024;

/** Opens the projection. It watches nothing before its first reader, so that an installation without readers pays nothing. */
export function openProjection(options: ProjectionOptions): Projection {
  const { client, clock, idleMs } = options;
  let live: LiveProjection | undefined;
  let readers = 0;
  let idle: Timer | undefined;
  let isClosed = false;

  function enter(): LiveProjection {
    if (isClosed) throw new KubeError("aborted", "the projection was closed");
    idle?.cancel();
    readers++;
    live ??= new LiveProjection(options);
    return live;
  }

  function leave() {
    if (--readers > 0 || isClosed) return;
    idle = clock.after(idleMs, stop, { background: true });
  }

  function stop() {
    live?.stop();
    live = undefined;
  }

  async function read<T>(work: (from: LiveProjection) => Promise<T>): Promise<T> {
    const from = enter();
    try {
      await synced(from);
      return await work(from);
    } finally {
      leave();
    }
  }

  async function synced(from: LiveProjection): Promise<void> {
    const giveUp = new AbortController();
    const isLate = sleep(clock, maxSyncMs, giveUp.signal, { background: true }).then(() => {
      throw new KubeError("unavailable", `the objects cannot be read${from.problem ? `: ${from.problem}` : " yet"}`);
    });
    await Promise.race([from.synced, isLate]).finally(() => {
      isLate.catch(() => {});
      giveUp.abort();
    });
  }

  return {
    page: (kind, request) => read((from) => readPage(from, kind, request, client.serverNowMs())),
    now: () => read(async (from) => readNow(from, client.serverNowMs())),
    row: (kind, key) => read(async (from) => from.find({ kind, key })),

    async *stream({ kinds, after, signal }: StreamRequest) {
      if (signal.aborted) return;
      const { viewer, leave: end } = enter().join([...new Set(kinds)].sort(), after);
      signal.addEventListener("abort", end, { once: true });
      try {
        yield* viewer.events();
      } finally {
        signal.removeEventListener("abort", end);
        end();
        leave();
      }
    },

    close() {
      isClosed = true;
      idle?.cancel();
      stop();
    },
  };
}

async function readPage(
  from: LiveProjection,
  kind: RowKind,
  { filter, limit, after }: PageRequest,
  nowMs: number,
): Promise<RowPage> {
  // Taken first: what changes while the rows are read is sent again, and nothing is missed.
  const { version, rows } = from;
  const { matches, facet, includesClosed, matchesAll, matchesAllOfFacet } = readFilter(kind, filter, nowMs);
  const cursor = after === undefined ? undefined : readCursor(after);
  const { all, open, facets } = rows.kind(kind);
  // Without a list the value may be spelled in another case.
  const ofFacet = facet && facets.find(facet.name, facet.value);
  const list = ofFacet ?? (includesClosed ? all : open);
  const wanted = Math.min(Math.max(1, Math.floor(limit) || 1), maxPageRows);
  const { page, total } = (ofFacet ? matchesAllOfFacet : matchesAll)
    ? { page: list.after(cursor, wanted + 1), total: list.size }
    : await scan(list, { matches, cursor, count: wanted + 1 }, from);
  const shown = page.slice(0, wanted);
  const next = page.length > wanted ? shown.at(-1) : undefined;
  return {
    version,
    total,
    rows: shown.map((entry) => rows.row(kind, entry)),
    ...(next ? { next: `${next.createdSec}:${next.key}` } : {}),
  };
}

interface Scan {
  readonly matches: (entry: RowEntry) => boolean;
  readonly cursor: Position | undefined;
  /** How many entries behind the cursor are wanted. */
  readonly count: number;
}

/** Looks at every entry of a list, in slices, as the total is wanted too. */
async function scan(list: SortedList<RowEntry>, { matches, cursor, count }: Scan, from: LiveProjection) {
  const page: RowEntry[] = [];
  let total = 0;
  let sinceMs = from.nowMs();
  let last: RowEntry | undefined;
  do {
    const entries = list.after(last && list.position(last), scannedAtOnce);
    for (const entry of entries) {
      if (!matches(entry)) continue;
      total++;
      if (page.length < count && (!cursor || isBehind(list.position(entry), cursor))) page.push(entry);
    }
    last = entries.at(-1);
    sinceMs = await from.breathe(sinceMs);
  } while (last);
  return { page, total };
}

function readCursor(text: string): Position {
  const [, sec, key] = /^(\d{1,12}):(.{1,400})$/.exec(text) ?? [];
  if (sec === undefined || key === undefined) throw new RequestError("after is not the next of a page");
  return { sec: Number(sec), key };
}

function readNow({ version, rows }: LiveProjection, nowMs: number): Now {
  const sinceSec = Math.floor((nowMs - recentMs) / 1_000);
  const recent = rows.closed.after(undefined, maxLaneRows).filter(({ changedSec }) => changedSec >= sinceSec);
  const done = {
    lane: "done" as const,
    total: rows.closed.countBefore({ sec: sinceSec - 1, key: "" }),
    rows: recent.map((entry) => rows.row("incidents", entry) as IncidentRow),
  };
  return {
    version,
    lanes: [...openLanes(rows, maxLaneRows), done],
    pauses: lastingPauseRows(rows, maxLaneRows, nowMs),
    approvals: withoutIncident<ApprovalRow>(rows, "approvals"),
    executions: withoutIncident<ExecutionRow>(rows, "executions"),
  };
}

/** Open rows of what no incident asked for. */
function withoutIncident<R extends ExecutionRow | ApprovalRow>(rows: LiveRows, kind: R["kind"]): readonly R[] {
  const found: R[] = [];
  for (const entry of eachOf(rows.kind(kind).open)) {
    const row = rows.row(kind, entry) as R;
    if (row.incident === undefined) found.push(row);
    if (found.length === maxLaneRows) break;
  }
  return found;
}
