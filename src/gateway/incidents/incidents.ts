import { type Informer, type KubeClient, nameHash } from "../../kube/index.ts";
import {
  annotationKeys,
  type Deduplication,
  incidentNumber,
  labelKeys,
  type RemediationRequest,
  remediationRequests,
  type Target,
  targetHash,
} from "../../resources/index.ts";
import { latestEndAt, toKnownIncident } from "./known-incident.ts";
import type { OpenIncidents } from "./open-incidents.ts";

export interface IncidentsOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly informer: Informer<RemediationRequest>;
  /** Counts the open incidents. */
  readonly open: OpenIncidents;
}

/** The maximum number of label sets with which each signal is looked up. Rules have few. */
const maxDistinct = 16;

/** The incidents of a fingerprint that decide whether a signal opens another. */
export interface History {
  /** The incident with the largest number. */
  readonly newest: RemediationRequest | undefined;
  /** The series of the earlier incidents. */
  readonly earlier: readonly Deduplication["series"][];
}

/**
 * The newest incident of each fingerprint, without the texts of its signal. Cached results may be a moment old, which is
 * harmless: a count on an incident that is closed by then is moved when it is written. Reads are as new as the server.
 */
export class Incidents {
  readonly #options: IncidentsOptions;
  readonly #newest = new Map<string, RemediationRequest>();
  /** The number of the newest incident of a fingerprint if it is known to be closed; earlier ones are closed, too. */
  readonly #closedNumbers = new Map<string, number>();
  /** The latest end of any series in incidents of a fingerprint. */
  readonly #latestEnds = new Map<string, string>();
  /** The largest number that the watch has delivered: the cached history before that incident is complete. */
  readonly #watched = new Map<string, number>();
  readonly #distinctLabels = new Map<string, readonly string[]>([["", []]]);
  readonly #stop: () => void;

  constructor(options: IncidentsOptions) {
    this.#options = options;
    this.#stop = options.informer.subscribe((event, incident) => {
      if (event === "DELETED") return this.#forget(incident);
      this.cache(incident);
      if (event === "ADDED") this.#noteWatched(incident);
    });
  }

  /** From the cache. */
  newest(fingerprint: string): RemediationRequest | undefined {
    return this.#newest.get(fingerprint);
  }

  /** The sets of labels by which rules distinguished signals when incidents were opened; the empty set if they did not. */
  get distinctLabels(): Iterable<readonly string[]> {
    return this.#distinctLabels.values();
  }

  /** The newest incident, from the server. */
  async read(fingerprint: string): Promise<RemediationRequest | undefined> {
    return (await this.#readLatest(fingerprint))[0];
  }

  /**
   * Reads the newest incident, and the earlier ones if a series that fires since `firingAt` may have ended in one of them.
   * A flapping alert can have many closed incidents: they are read only for a late signal, and while the watch has not
   * delivered the newest.
   */
  async readHistory(fingerprint: string, firingAt: string): Promise<History> {
    const latest = await this.#readLatest(fingerprint);
    const [newest] = latest;
    const isWatched = !newest || numberOf(newest) <= (this.#watched.get(fingerprint) ?? 0);
    const mayHaveEnded = firingAt <= (this.#latestEnds.get(fingerprint) ?? "");
    if (!isWatched || mayHaveEnded) return this.readWholeHistory(fingerprint);
    return { newest, earlier: latest.slice(1).map(seriesIn) };
  }

  /** Reads all existing incidents of the fingerprint. */
  async readWholeHistory(fingerprint: string): Promise<History> {
    const [newest, ...older] = await this.#readAll(fingerprint);
    return { newest, earlier: older.map(seriesIn) };
  }

  /** The incidents that may be the newest, the newest first: one, or two just after another was opened. */
  async #readLatest(fingerprint: string): Promise<readonly RemediationRequest[]> {
    const latest = await this.#list(fingerprint, labelKeys.latestOf);
    // No incident has the label after an operator has deleted the newest.
    if (latest.length === 0) return this.#readAll(fingerprint);
    return this.#cacheFirst(latest);
  }

  /** All existing incidents of the fingerprint, the newest first. */
  async #readAll(fingerprint: string): Promise<readonly RemediationRequest[]> {
    const all = await this.#list(fingerprint, labelKeys.fingerprintHash);
    if (all.length === 0) this.#drop(fingerprint);
    return this.#cacheFirst(all);
  }

  async #list(fingerprint: string, label: string): Promise<readonly RemediationRequest[]> {
    const { client, namespace } = this.#options;
    const labelSelector = `${label}=${nameHash(fingerprint)}`;
    const { items } = await client.list(remediationRequests, { namespace, labelSelector });
    return items
      .map((incident) => ({ incident, number: numberOf(incident) }))
      .sort((one, other) => other.number - one.number)
      .map(({ incident }) => incident);
  }

  #cacheFirst(sorted: readonly RemediationRequest[]): readonly RemediationRequest[] {
    if (sorted[0]) this.cache(sorted[0]);
    return sorted;
  }

  /** Reads the latest incident that was opened by a signal about `subject`. */
  async findBySubject(subject: Target): Promise<RemediationRequest | undefined> {
    const { client, namespace } = this.#options;
    const labelSelector = `${labelKeys.subjectHash}=${targetHash(subject)}`;
    const { items } = await client.list(remediationRequests, { namespace, labelSelector });
    const ageOf = ({ metadata }: RemediationRequest) => metadata.creationTimestamp ?? "";
    return items.reduce<RemediationRequest | undefined>(
      (latest, one) => (latest && ageOf(latest) > ageOf(one) ? latest : one),
      undefined,
    );
  }

  get(name: string): Promise<RemediationRequest | undefined> {
    const { client, namespace } = this.#options;
    return client.get(remediationRequests, { namespace, name });
  }

  /** Caches an incident from a response or a watch, unless a newer state is cached. */
  cache(read: RemediationRequest): void {
    const incident = toKnownIncident(read);
    const { signalFingerprint } = incident.spec;
    this.#noteDistinct(incident);
    this.#noteEnd(signalFingerprint, latestEndAt(incident));
    const known = this.#newest.get(signalFingerprint);
    if (known && isEarlier(incident, known)) return;
    if (numberOf(incident) <= (this.#closedNumbers.get(signalFingerprint) ?? -1)) return;
    this.#closedNumbers.delete(signalFingerprint);
    this.#newest.set(signalFingerprint, incident);
    this.#options.open.note(signalFingerprint, incident);
  }

  /** Marks an incident as closed or deleted before the watch delivers that. Its fingerprint has none until a later one is cached. */
  markClosed(fingerprint: string, name: string): void {
    const number = incidentNumber(fingerprint, name) ?? 0;
    const known = this.#newest.get(fingerprint);
    if (known && numberOf(known) > number) return;
    this.#drop(fingerprint);
    this.#closedNumbers.set(fingerprint, number);
  }

  #drop(fingerprint: string) {
    this.#newest.delete(fingerprint);
    this.#options.open.note(fingerprint, undefined);
  }

  stop(): void {
    this.#stop();
  }

  #noteDistinct({ metadata }: RemediationRequest) {
    const text = metadata.annotations?.[annotationKeys.distinctBy] ?? "";
    if (text === "" || this.#distinctLabels.has(text) || this.#distinctLabels.size >= maxDistinct) return;
    this.#distinctLabels.set(text, text.split(","));
  }

  #noteEnd(fingerprint: string, endedAt: string) {
    if (endedAt > (this.#latestEnds.get(fingerprint) ?? "")) this.#latestEnds.set(fingerprint, endedAt);
  }

  #noteWatched(incident: RemediationRequest) {
    const { signalFingerprint } = incident.spec;
    const number = numberOf(incident);
    if (number > (this.#watched.get(signalFingerprint) ?? 0)) this.#watched.set(signalFingerprint, number);
  }

  #forget({ spec, metadata }: RemediationRequest) {
    const { signalFingerprint } = spec;
    if (this.#newest.get(signalFingerprint)?.metadata.uid === metadata.uid) {
      this.#drop(signalFingerprint);
      this.#latestEnds.delete(signalFingerprint);
      this.#watched.delete(signalFingerprint);
    }
    if (this.#closedNumbers.get(signalFingerprint) === incidentNumber(signalFingerprint, metadata.name ?? ""))
      this.#closedNumbers.delete(signalFingerprint);
  }
}

/** Equal incidents are not earlier: the informer's object replaces an equal one, so that it is in memory only once. */
function isEarlier(one: RemediationRequest, other: RemediationRequest): boolean {
  if (one.metadata.uid !== other.metadata.uid) return numberOf(one) < numberOf(other);
  return BigInt(one.metadata.resourceVersion ?? 0) < BigInt(other.metadata.resourceVersion ?? 0);
}

function numberOf({ metadata, spec }: RemediationRequest): number {
  return incidentNumber(spec.signalFingerprint, metadata.name ?? "") ?? 0;
}

function seriesIn({ status }: RemediationRequest): Deduplication["series"] {
  return status?.deduplication?.series;
}
