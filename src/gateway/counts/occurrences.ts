import type { StallWatch } from "../../kube/index.ts";
import {
  firstSignal,
  hasSignalTexts,
  isClosedIncident,
  type RemediationRequest,
  type Signal,
} from "../../resources/index.ts";
import type { WarnLimited } from "../../telemetry/index.ts";
import type { Timer } from "../../time/index.ts";
import { type Count, withCount, withEnd } from "../decide.ts";
import type { Report } from "../identity/report.ts";
import { changeStatus, type KnownIncident, type StatusWriter } from "../incidents/change-status.ts";
import { isPartial } from "../incidents/known-incident.ts";
import { type Addition, type OccurrenceLog, Tally } from "./tally.ts";

export interface OccurrencesOptions extends StatusWriter {
  /** The name of this gateway's counts in an incident's status. Only one process at a time may use it. */
  readonly writer: string;
  /** Makes a count durable before it is in the status. Without it, a count is durable only in the status. */
  readonly occurrenceLog: OccurrenceLog | undefined;
  /** How long counts are collected before they are written to the status. */
  readonly flushMs: number;
  readonly warn: WarnLimited;
  /** Status writes that keep failing, by the key of the incident. */
  readonly stalls: StallWatch;
  /** Admits signals again that were counted on an incident that is closed. */
  readonly readmit: (report: Report, addition: Addition) => Promise<RemediationRequest | undefined>;
  /** Called when the status of `incident` has `occurrences` more. */
  readonly onWritten: (incident: RemediationRequest, occurrences: number) => void;
}

const maxWritesAtOnce = 8;

/** Counts signals, durably before the response, with far fewer writes than signals. */
export class Occurrences {
  readonly #options: OccurrencesOptions;
  readonly #tallies = new Map<string, Tally>();
  #timer: Timer | undefined;
  #flushing: Promise<void> | undefined;
  #closed = false;

  constructor(options: OccurrencesOptions) {
    this.#options = options;
    for (const tally of options.occurrenceLog?.left ?? []) this.#tallies.set(tally.uid, tally);
  }

  /** Counts the signals that opened `incident`. They are never readmitted, even if the incident is closed at once. */
  open(incident: RemediationRequest, report: Report, addition: Addition): Promise<RemediationRequest | undefined> {
    this.#ensureTally(incident, report).noteOpened(addition.occurrences);
    return this.count(incident, report, addition);
  }

  /**
   * Resolves when the addition is durable, to the incident that has it: another one if this one is closed; undefined if none
   * had to be opened.
   */
  async count(
    incident: RemediationRequest,
    report: Report,
    addition: Addition,
  ): Promise<RemediationRequest | undefined> {
    const tally = this.add(incident, report, addition);
    const handOver = () => addition.from && this.#settle(addition.from.tally, addition.from.counted);
    if (!this.hasLog) {
      handOver();
      this.#flushLater();
      return this.#write(tally, incident);
    }
    await this.keep([tally]);
    // Not earlier: the occurrence log drops tallies whose counts are all written.
    handOver();
    return incident;
  }

  /** Whether counts are durable before they are in the status, so that many can be stored together. */
  get hasLog(): boolean {
    return this.#options.occurrenceLog !== undefined;
  }

  /** Adds to the count of `incident`. Respond to the sender only after `keep`. */
  add(incident: RemediationRequest, report: Report, addition: Addition): Tally {
    const tally = this.#ensureTally(incident, report);
    tally.add(report, addition);
    return tally;
  }

  /** Resolves when the current state of `tallies` is durable. */
  async keep(tallies: Iterable<Tally>): Promise<void> {
    await this.#options.occurrenceLog?.keep(tallies);
    this.#flushLater();
  }

  /** Marks the end of a series in the status. Undefined if the incident no longer exists. */
  async end(incident: RemediationRequest, signal: Signal, nowAt: string): Promise<RemediationRequest | undefined> {
    const tally = this.#tallies.get(incident.metadata.uid ?? "");
    return changeStatus(this.#options, knownFor(tally, incident), (live) => {
      // The earlier count is written with it; otherwise the next write would mark the series as firing again.
      const counted = tally && !isClosedIncident(live) ? tally.countOf(this.#options.writer) : undefined;
      const before = counted ? withCount(live.status, counted, firstSignal(live)) : live.status;
      return {
        next: withEnd(before, signal, nowAt, live.spec),
        done: (written) => {
          if (!tally) return;
          tally.latest = written;
          if (counted) this.#noteWritten(tally, counted, written);
        },
      };
    });
  }

  /** Tries to write all counts that are in no status yet. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flushAll().finally(() => {
      this.#flushing = undefined;
      // Counts that arrived during this flush need another one, and idle tallies must be removed.
      if (this.#tallies.size > 0) this.#flushLater();
    });
    return this.#flushing;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#flushing;
    await this.flush();
    await this.#options.occurrenceLog?.close();
  }

  #ensureTally(incident: RemediationRequest, report: Report): Tally {
    const { uid = "" } = incident.metadata;
    const known = this.#tallies.get(uid);
    if (known) return known;
    const tally = Tally.of(incident, report, this.#options.writer);
    this.#tallies.set(uid, tally);
    return tally;
  }

  #flushLater() {
    if (this.#timer || this.#closed) return;
    this.#timer = this.#options.clock.after(
      this.#options.flushMs,
      () => {
        this.#timer = undefined;
        void this.flush();
      },
      { background: true },
    );
  }

  async #flushAll() {
    const waiting = [...this.#tallies.values()];
    const next = async (): Promise<void> => {
      for (let tally = waiting.pop(); tally; tally = waiting.pop()) {
        const isWritten = await this.#flushOne(tally);
        // While the server does not respond, each write would delay the end, and all counts are in the occurrence log.
        if (!isWritten && this.#closed) waiting.length = 0;
      }
    };
    await Promise.all(Array.from({ length: maxWritesAtOnce }, next));
  }

  /** False if it failed, and has to be tried again. */
  async #flushOne(tally: Tally): Promise<boolean> {
    const { warn, namespace, stalls, flushMs } = this.#options;
    const key = `${namespace}/${tally.name}`;
    if (!tally.hasNews) this.#removeIdle(tally);
    // Without an occurrence log, the caller that counted writes the status and observes the failure.
    if (!tally.hasNews || (!this.hasLog && !this.#closed)) return true;
    try {
      await this.#write(tally, undefined);
      stalls.succeeded(key);
      return true;
    } catch (error) {
      stalls.failed(key, error, flushMs);
      warn("occurrences not written", { incident: tally.name, unwritten: tally.unwritten, error }, error);
      this.#flushLater();
      return false;
    }
  }

  /**
   * Removes a tally without additions since the last flush: it holds signals with their payloads, and most open incidents are
   * reported again only after minutes. The next signal creates it again from the status.
   */
  #removeIdle(tally: Tally) {
    const newest = this.#options.incidents.newest(tally.report.fingerprint);
    const isLost = newest?.metadata.uid === tally.uid && countIn(newest, this.#options.writer) < tally.count;
    if (!tally.writing && !isLost) this.#tallies.delete(tally.uid);
  }

  /** Concurrent callers during a write share the next one. */
  #write(tally: Tally, incident: RemediationRequest | undefined): Promise<RemediationRequest | undefined> {
    const current = tally.writing;
    if (!current) return this.#startWrite(tally, incident);
    const before = tally.count;
    return current
      .catch((error: unknown) => {
        // The count was moved to another incident, whose status does not have it yet.
        if (tally.written >= before) throw error;
      })
      .then(() => {
        const running = tally.writing as Promise<RemediationRequest | undefined> | undefined;
        if (running && running !== current) return running;
        return tally.written >= before ? incident : this.#startWrite(tally, incident);
      });
  }

  #startWrite(tally: Tally, incident: RemediationRequest | undefined) {
    const writing = this.#writeNow(tally, incident).finally(() => {
      tally.writing = undefined;
    });
    tally.writing = writing;
    return writing;
  }

  async #writeNow(tally: Tally, incident: RemediationRequest | undefined): Promise<RemediationRequest | undefined> {
    const { writer } = this.#options;
    const { report } = tally;
    const known = incident ?? this.#options.incidents.newest(report.fingerprint);
    let closed: RemediationRequest | undefined;
    const start =
      known?.metadata.uid === tally.uid
        ? knownFor(tally, known)
        : { uid: tally.uid, name: tally.name, known: undefined, isOwn: tally.opened > 0 };
    const updated = await changeStatus(this.#options, start, (live) => {
      closed = isClosedIncident(live) ? live : undefined;
      if (closed && countIn(live, writer) >= tally.opened) return undefined;
      const counted = closed ? { ...tally.countOf(writer), count: tally.opened } : tally.countOf(writer);
      return {
        next: withCount(live.status, counted, firstSignal(live)),
        done: (written) => {
          tally.latest = written;
          this.#noteWritten(tally, counted, written);
        },
      };
    });
    if (updated && (!closed || tally.unwritten === 0)) return updated;
    return this.#move(tally, updated ?? closed);
  }

  /** Moves counts that a closed or deleted incident lacks to the next incident. */
  async #move(tally: Tally, closed: RemediationRequest | undefined): Promise<RemediationRequest | undefined> {
    const { writer } = this.#options;
    const has = closed ? countIn(closed, writer) : 0;
    let moved: RemediationRequest | undefined;
    tally.noteWritten({ count: has, firing: new Map() });
    while (tally.unwritten > 0) {
      const counted = tally.countOf(writer);
      moved = await this.#readmit(tally, counted);
      // No other incident has the signals: they were reported before this one ended, and belong to it.
      if (!moved && closed) await this.#addLate(closed, { ...counted, count: counted.count - tally.written });
      this.#settle(tally, counted);
    }
    this.#tallies.delete(tally.uid);
    return moved;
  }

  /** Readmits all counts with the first series that still fires, if any; the other series add no count. */
  async #readmit(tally: Tally, counted: Count): Promise<RemediationRequest | undefined> {
    const { readmit, incidents } = this.#options;
    let moved: RemediationRequest | undefined;
    for (const report of tally.reports) {
      // Otherwise an outdated cache would return the same closed incident again and again.
      if (!moved) incidents.markClosed(report.fingerprint, tally.name);
      const all = { occurrences: tally.unwritten, from: { tally, counted } };
      const taken = await readmit(report, moved ? { occurrences: 0 } : all);
      moved ??= taken;
    }
    return moved;
  }

  /** Adds `late.count` to a closed incident. Its series have ended, so only the count changes. */
  async #addLate(closed: RemediationRequest, late: Count): Promise<void> {
    const { writer, onWritten } = this.#options;
    await changeStatus(this.#options, whole(closed, undefined), (live) => ({
      next: withCount(
        live.status,
        { ...late, count: countIn(live, writer) + late.count, firing: new Map() },
        firstSignal(live),
      ),
      done: (written) => onWritten(written, late.count),
    }));
  }

  /** The status of `incident` has `counted`. */
  #noteWritten(tally: Tally, counted: Count, incident: RemediationRequest) {
    const more = counted.count - tally.written;
    this.#settle(tally, counted);
    if (more > 0) this.#options.onWritten(incident, more);
  }

  #settle(tally: Tally, counted: Parameters<Tally["noteWritten"]>[0]) {
    tally.noteWritten(counted);
    this.#options.occurrenceLog?.settle(tally);
  }
}

function countIn({ status }: RemediationRequest, writer: string): number {
  return status?.deduplication?.occurrencesByWriter?.[writer] ?? 0;
}

function whole(incident: RemediationRequest, tally: Tally | undefined): KnownIncident {
  const { name = "", uid = "" } = incident.metadata;
  return { name, uid, known: incident, isOwn: (tally?.opened ?? 0) > 0 };
}

/** Caches omit labels, annotations and long lists of series; before series are written, the incident must be read. */
function knownFor(tally: Tally | undefined, incident: RemediationRequest): KnownIncident {
  const written = tally?.latest;
  const isCurrent = written?.metadata.resourceVersion === incident.metadata.resourceVersion;
  if (isCurrent) return { ...whole(incident, tally), known: written };
  const isEnough = !isPartial(incident) && (!tally?.hasSeriesNews || hasSignalTexts(incident));
  return { ...whole(incident, tally), known: isEnough ? incident : undefined };
}
