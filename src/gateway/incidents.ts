import { type Informer, type KubeClient, nameHash } from "../kube/index.ts";
import {
  incidentNumber,
  labelKeys,
  type RemediationRequest,
  remediationRequests,
  type Target,
  targetHash,
  withoutSignalTexts,
} from "../resources/index.ts";
import type { OpenIncidents } from "./open-incidents.ts";
import { hasFormerIdentity } from "./report.ts";

export interface IncidentsOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly informer: Informer<RemediationRequest>;
  /** Kept up to date with what is open. */
  readonly open: OpenIncidents;
}

/**
 * The newest incident of each fingerprint, without the texts of its signal. What it says at once may be a moment old, which costs nothing: whoever counts
 * on an incident that is closed by then learns so when the count is written. What it reads is as new as the server.
 */
export class Incidents {
  readonly #options: IncidentsOptions;
  readonly #newest = new Map<string, RemediationRequest>();
  /** The number of the newest of a fingerprint, if that is known to be over: none before it is open, either. */
  readonly #over = new Map<string, number>();
  /** Names of the incidents, by fingerprint, whose identity is of the first version. */
  readonly #former = new Map<string, Set<string>>();
  readonly #stop: () => void;

  constructor(options: IncidentsOptions) {
    this.#options = options;
    this.#stop = options.informer.subscribe((event, incident) => {
      if (event === "DELETED") this.#forget(incident);
      else this.learn(incident);
    });
  }

  /** As far as is known. */
  newest(fingerprint: string): RemediationRequest | undefined {
    return this.#newest.get(fingerprint);
  }

  /** Whether there may be incidents whose identity is of the first version. */
  get hasFormer(): boolean {
    return this.#former.size > 0;
  }

  /** Whether there are such incidents with this fingerprint, open or closed. */
  isFormer(fingerprint: string): boolean {
    return this.#former.has(fingerprint);
  }

  /** Asks the server. */
  async read(fingerprint: string): Promise<RemediationRequest | undefined> {
    return (await this.readAll(fingerprint))[0];
  }

  /** Asks the server for all that are still there, the newest first. */
  async readAll(fingerprint: string): Promise<readonly RemediationRequest[]> {
    const { client, namespace } = this.#options;
    const labelSelector = `${labelKeys.fingerprintHash}=${nameHash(fingerprint)}`;
    const { items } = await client.list(remediationRequests, { namespace, labelSelector });
    const all = [...items].sort((one, other) => numberOf(other) - numberOf(one));
    const [newest] = all;
    if (newest) this.learn(newest);
    else this.#drop(fingerprint);
    return all;
  }

  /** Asks the server for the latest incident that began with a signal about `subject`. */
  async withSubject(subject: Target): Promise<RemediationRequest | undefined> {
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

  /** Takes in what an answer or a watch brought, unless something newer is known. */
  learn(incident: RemediationRequest): void {
    const { signalFingerprint } = incident.spec;
    if (hasFormerIdentity(incident)) this.#noteFormer(incident);
    const known = this.#newest.get(signalFingerprint);
    if (known && isEarlier(incident, known)) return;
    if (numberOf(incident) <= (this.#over.get(signalFingerprint) ?? -1)) return;
    this.#over.delete(signalFingerprint);
    this.#newest.set(signalFingerprint, withoutSignalTexts(incident));
    this.#options.open.note(signalFingerprint, incident);
  }

  /** It is closed or gone, whatever the watch says: until a later one is known, none is. */
  isOver(fingerprint: string, name: string): void {
    const number = incidentNumber(fingerprint, name) ?? 0;
    const known = this.#newest.get(fingerprint);
    if (known && numberOf(known) > number) return;
    this.#drop(fingerprint);
    this.#over.set(fingerprint, number);
  }

  #drop(fingerprint: string) {
    this.#newest.delete(fingerprint);
    this.#options.open.note(fingerprint, undefined);
  }

  stop(): void {
    this.#stop();
  }

  #noteFormer({ spec, metadata }: RemediationRequest) {
    const names = this.#former.get(spec.signalFingerprint) ?? new Set();
    names.add(metadata.name ?? "");
    this.#former.set(spec.signalFingerprint, names);
  }

  #forget({ spec, metadata }: RemediationRequest) {
    const { signalFingerprint } = spec;
    const former = this.#former.get(signalFingerprint);
    if (former?.delete(metadata.name ?? "") && former.size === 0) this.#former.delete(signalFingerprint);
    if (this.#newest.get(signalFingerprint)?.metadata.uid === metadata.uid) this.#drop(signalFingerprint);
    if (this.#over.get(signalFingerprint) === incidentNumber(signalFingerprint, metadata.name ?? ""))
      this.#over.delete(signalFingerprint);
  }
}

/** What is the same is not earlier: the object of the informer takes the place of an equal one, and memory has it once. */
function isEarlier(one: RemediationRequest, other: RemediationRequest): boolean {
  if (one.metadata.uid !== other.metadata.uid) return numberOf(one) < numberOf(other);
  return BigInt(one.metadata.resourceVersion ?? 0) < BigInt(other.metadata.resourceVersion ?? 0);
}

function numberOf({ metadata, spec }: RemediationRequest): number {
  return incidentNumber(spec.signalFingerprint, metadata.name ?? "") ?? 0;
}
