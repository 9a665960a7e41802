import { type Informer, type KubeClient, nameHash } from "../kube/index.ts";
import {
  incidentNumber,
  labelKeys,
  type RemediationRequest,
  remediationRequests,
  type Target,
  targetHash,
} from "../resources/index.ts";

export interface IncidentsOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly informer: Informer<RemediationRequest>;
  /** Told of an incident that is gone. */
  readonly gone?: (uid: string) => void;
}

/**
 * The newest incident of each fingerprint. What it says at once may be a moment old, which costs nothing: whoever counts
 * on an incident that is closed by then learns so when the count is written. What it reads is as new as the server.
 */
export class Incidents {
  readonly #options: IncidentsOptions;
  readonly #newest = new Map<string, RemediationRequest>();
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

  /** Asks the server. */
  async read(fingerprint: string): Promise<RemediationRequest | undefined> {
    const { client, namespace } = this.#options;
    const labelSelector = `${labelKeys.fingerprintHash}=${nameHash(fingerprint)}`;
    const { items } = await client.list(remediationRequests, { namespace, labelSelector });
    let newest: RemediationRequest | undefined;
    for (const incident of items) if (!newest || numberOf(incident) > numberOf(newest)) newest = incident;
    if (newest) this.learn(newest);
    else this.#newest.delete(fingerprint);
    return newest;
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
    const known = this.#newest.get(signalFingerprint);
    if (known && !isLater(incident, known)) return;
    this.#newest.set(signalFingerprint, incident);
  }

  stop(): void {
    this.#stop();
  }

  #forget(incident: RemediationRequest) {
    const { signalFingerprint } = incident.spec;
    const { uid = "" } = incident.metadata;
    if (this.#newest.get(signalFingerprint)?.metadata.uid === uid) this.#newest.delete(signalFingerprint);
    this.#options.gone?.(uid);
  }
}

function isLater(one: RemediationRequest, other: RemediationRequest): boolean {
  if (one.metadata.uid !== other.metadata.uid) return numberOf(one) >= numberOf(other);
  return BigInt(one.metadata.resourceVersion ?? 0) > BigInt(other.metadata.resourceVersion ?? 0);
}

function numberOf({ metadata, spec }: RemediationRequest): number {
  return incidentNumber(spec.signalFingerprint, metadata.name ?? "") ?? 0;
}
