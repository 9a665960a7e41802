import type { Change } from "../../src/apiserver/object-store.ts";
import { seriesKey } from "../../src/gateway/decide.ts";
import type { Admission } from "../../src/gateway/index.ts";
import type { LedgerEvent } from "../../src/ledger/index.ts";
import { isClosedIncident, type RemediationRequest, type Signal } from "../../src/resources/index.ts";
import { Violation } from "./lock-history.ts";
import type { World } from "./world.ts";

/** The reports of one kind of problem, which is one fingerprint. */
interface Problem {
  readonly incidents: Map<string, RemediationRequest>;
  readonly gone: Set<string>;
  /** By incident and series, the latest occurrence in a status that was written before it was closed. */
  readonly recorded: Map<string, Map<string, string>>;
  /** When one was last closed. */
  closedAt: number;
  /** Firing signals that were handed to a gateway. */
  attempts: number;
  /** The same by process. */
  readonly attemptsBy: Map<string, number>;
  /** The number that may be counted twice: moves between incidents that a fault interrupted. */
  doubtful: number;
  /** Of these, those that were answered with `created` or `counted`. */
  acknowledged: number;
  readonly series: Map<string, Series>;
}

interface Series {
  readonly isOccurrence: boolean;
  /** When a beginning was first handed to a gateway. */
  readonly firstSent: Map<string, number>;
  /** Beginnings that were answered with `created` or `counted`, and when the last one was sent. */
  readonly acknowledged: Map<string, number>;
  /** Ends that were handed to a gateway. */
  readonly ends: string[];
  /** Ends that a gateway reported as written to an incident, and when. */
  readonly written: { readonly endedAt: string; readonly at: number }[];
}

/** The responses to senders and the writes of the server, checked against the invariants as they happen. */
export class GatewayHistory {
  readonly #world: World;
  readonly #problems = new Map<string, Problem>();
  readonly #ignored: Signal[] = [];
  #violation: Violation | undefined;
  acknowledged = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Throws the first violation. */
  check(): void {
    if (this.#violation) throw this.#violation;
  }

  attempted(signal: Signal, by: string): void {
    const series = this.#seriesOf(signal);
    if (signal.status === "resolved") return void series.ends.push(endOf(signal));
    const problem = this.#problemOf(signal.name);
    problem.attempts++;
    problem.attemptsBy.set(by, (problem.attemptsBy.get(by) ?? 0) + 1);
    if (!series.firstSent.has(signal.firingAt)) series.firstSent.set(signal.firingAt, this.#world.now);
  }

  /** This process was interrupted, and its last writes are uncertain. */
  interrupted(by: string): void {
    for (const problem of this.#problems.values()) problem.doubtful += problem.attemptsBy.get(by) ?? 0;
  }

  /** `toldAt`: when it was handed over. */
  answered(signal: Signal, admission: Admission, toldAt: number): void {
    this.acknowledged++;
    const problem = this.#problemOf(signal.name);
    const series = this.#seriesOf(signal);
    switch (admission.kind) {
      case "created":
      case "counted":
        if (signal.status !== "firing") this.#fail("G3 resolved never opens", `an end was answered ${admission.kind}`);
        problem.acknowledged++;
        series.acknowledged.set(signal.firingAt, Math.max(toldAt, series.acknowledged.get(signal.firingAt) ?? 0));
        return this.#known(admission.incident);
      case "resolved":
      case "still-firing":
        series.written.push({ endedAt: endOf(signal), at: this.#world.now });
        return this.#known(admission.incident);
      case "ignored":
        return void this.#ignored.push(signal);
      case "refused":
      case "invalid":
        return this.#fail("G6 answers", `${signal.name} was ${admission.kind}`);
    }
  }

  incident({ do: what, entry, previous }: Change): void {
    const incident = entry.object as RemediationRequest;
    const before = previous?.object as RemediationRequest | undefined;
    const problem = this.#problemOf(incident.spec.signalName);
    if (what === "delete") return void problem.gone.add(incident.metadata.uid ?? "");
    problem.incidents.set(incident.metadata.uid ?? "", incident);
    if (!before) this.#opened(incident, problem);
    if (before && !isClosedIncident(before)) this.#record(incident, problem);
    if (before && !isClosedIncident(before) && isClosedIncident(incident)) problem.closedAt = this.#world.now;
    const open = [...problem.incidents.values()].filter((other) => !isClosedIncident(other));
    if (open.length > 1) this.#fail("G1 one incident", `${open.map(nameOf).join(" and ")} are open`);
    this.#countedRight(incident, before, problem);
  }

  /** After everything has healed: nothing that was accepted is lost, and everything refused is recorded. */
  atRest(events: readonly LedgerEvent[]): void {
    const ids = new Set(events.map(({ id }) => id));
    for (const [name, problem] of this.#problems) {
      for (const [uid, incident] of problem.incidents)
        if (!problem.gone.has(uid) && !ids.has(`${uid}/incident.created`))
          this.#fail("G5 recorded", `${nameOf(incident)} exists, and the ledger has no record of its opening`);
      const counted = sumOf(problem);
      const ignored = ignoredAmong(events, name);
      if (counted + ignored < problem.acknowledged) {
        const figures = `${problem.acknowledged} were acknowledged, ${counted} are counted, ${ignored} ignored`;
        this.#fail("G4 nothing lost", `${name}: ${figures}`);
      }
      for (const [key, series] of problem.series) this.#seriesKept(name, key, series, problem);
    }
    for (const signal of this.#ignored) {
      if (!events.some((event) => isIgnoring(event, signal)))
        this.#fail("G5 recorded", `${signal.name} since ${signal.firingAt} was ignored, and the ledger has no record`);
    }
    this.check();
  }

  #record({ metadata, status }: RemediationRequest, { recorded }: Problem) {
    const series = Object.entries(status?.deduplication?.series ?? {});
    recorded.set(metadata.uid ?? "", new Map(series.map(([key, { firingAt }]) => [key, firingAt])));
  }

  #opened({ metadata, spec }: RemediationRequest, { series: all, incidents, gone, recorded }: Problem) {
    const series = spec.signalLabels?.["series"] ?? "";
    const own = all.get(series);
    const toldAt = own?.firstSent.get(spec.firingTime);
    if (!own || toldAt === undefined)
      return this.#fail("G3 resolved never opens", `${metadata.name} was opened for a series that never fired`);
    const end = own.written.find(({ endedAt, at }) => endedAt >= spec.firingTime && at < toldAt);
    // The knowledge of an incident is deleted with it.
    const isKnown = [...incidents].some(([uid, { status }]) => {
      const ended = status?.deduplication?.series?.[seriesKey({ series })]?.resolvedAt;
      return !gone.has(uid) && ended !== undefined && ended >= spec.firingTime;
    });
    const key = seriesKey({ series });
    const isRecorded = [...recorded].some(([uid, one]) => !gone.has(uid) && (one.get(key) ?? "") >= spec.firingTime);
    if (own.isOccurrence && isRecorded)
      this.#fail("G7 one effect", `${metadata.name} was opened for ${spec.firingTime}, which another incident has`);
    if (end && isKnown)
      this.#fail(
        "G3 resolved never opens",
        `${metadata.name} was opened for what began at ${spec.firingTime}; that it ended at ${end.endedAt} was written before`,
      );
  }

  #countedRight(incident: RemediationRequest, before: RemediationRequest | undefined, problem: Problem) {
    const { occurrenceCount = 0, occurrencesByWriter = {} } = incident.status?.deduplication ?? {};
    let sum = 0;
    for (const count of Object.values(occurrencesByWriter)) sum += count;
    if (sum !== occurrenceCount)
      this.#fail("G2 figures", `${nameOf(incident)}has the count ${occurrenceCount} instead of ${sum}`);
    const earlier = before?.status?.deduplication?.occurrenceCount ?? 0;
    if (occurrenceCount < earlier)
      this.#fail("G2 figures", `${nameOf(incident)} went from ${earlier} to ${occurrenceCount}`);
    if (before && isClosedIncident(before) && !isClosedIncident(incident))
      this.#fail("G1 one incident", `${nameOf(incident)} was opened again`);
    const all = sumOf(problem);
    if (all > problem.attempts + problem.doubtful)
      this.#fail("G2 figures", `${incident.spec.signalName}: ${all} are counted, ${problem.attempts} were sent`);
  }

  /** An acknowledged beginning without an end is in an incident; so is every end that was reported as written. */
  #seriesKept(name: string, key: string, series: Series, { incidents, closedAt }: Problem) {
    const { acknowledged, ends, written, isOccurrence } = series;
    const kept = [...incidents.values()].flatMap(
      ({ status }) => status?.deduplication?.series?.[seriesKey({ series: key })] ?? [],
    );
    const isAnyOpen = ![...incidents.values()].every(isClosedIncident);
    for (const [firingAt, toldAt] of acknowledged) {
      if (ends.some((end) => end >= firingAt)) continue;
      // An occurrence that was counted twice stays with the incident that has it.
      if (!isAnyOpen && toldAt > closedAt && !isOccurrence)
        this.#fail(
          "G4 nothing lost",
          `${name}: series ${key}was reported after all incidents were closed, none is open`,
        );
      if (kept.some((one) => one.firingAt >= firingAt)) continue;
      this.#fail("G4 nothing lost", `${name}: series ${key} fires since ${firingAt}, and no incident has that`);
    }
    for (const { endedAt } of written) {
      if (kept.some((one) => (one.resolvedAt ?? one.firingAt) >= endedAt)) continue;
      this.#fail("G4 nothing lost", `${name}: series ${key} ended at ${endedAt}, and no incident has that`);
    }
  }

  #known(incident: RemediationRequest) {
    const { uid = "" } = incident.metadata;
    if (!this.#problemOf(incident.spec.signalName).incidents.has(uid))
      this.#fail("G6 answers", `${nameOf(incident)} was named, but never existed`);
  }

  #problemOf(name: string): Problem {
    const known = this.#problems.get(name);
    if (known) return known;
    const problem: Problem = {
      incidents: new Map(),
      gone: new Set(),
      recorded: new Map(),
      closedAt: 0,
      attempts: 0,
      attemptsBy: new Map(),
      doubtful: 0,
      acknowledged: 0,
      series: new Map(),
    };
    this.#problems.set(name, problem);
    return problem;
  }

  #seriesOf({ name, series: key, isOccurrence = false }: Signal): Series {
    const { series } = this.#problemOf(name);
    const known = series.get(key);
    if (known) return known;
    const one: Series = { isOccurrence, firstSent: new Map(), acknowledged: new Map(), ends: [], written: [] };
    series.set(key, one);
    return one;
  }

  #fail(what: string, why: string) {
    this.#violation ??= new Violation(what, `${why} (at ${Math.round(this.#world.now)} ms)`);
  }
}

/** In all incidents, those that are gone included. */
function sumOf({ incidents }: Problem): number {
  let sum = 0;
  for (const { status } of incidents.values()) sum += status?.deduplication?.occurrenceCount ?? 0;
  return sum;
}

/** The number of signals that were counted first, and ignored when their incident turned out to be closed. */
function ignoredAmong(events: readonly LedgerEvent[], name: string): number {
  let sum = 0;
  for (const { type, facts } of events)
    if (type === "signal.ignored" && facts["signal_name"] === name) sum += Number(facts["occurrences"] ?? 0);
  return sum;
}

/** Repeats within ten minutes, which is longer than a simulation lasts, share the row of the first. */
function isIgnoring({ type, facts }: LedgerEvent, { name }: Signal): boolean {
  return type === "signal.ignored" && facts["signal_name"] === name;
}

function endOf({ endedAt = "" }: Signal): string {
  return endedAt;
}

function nameOf({ metadata }: RemediationRequest): string {
  return metadata.name ?? "";
}
