import { type Informer, type KeySource, objectKey } from "../../kube/index.ts";
import { incidentNumber, type RemediationRequest } from "../../resources/index.ts";

/**
 * The newest incident of each fingerprint, updated with each change: comparing all incidents of a flapping alert on each change
 * would cost more with every incident that is kept.
 */
export class NewestIncidents {
  readonly #incidents: Informer<RemediationRequest, "target" | "fingerprint">;
  readonly #newest = new Map<string, IncidentRank>();
  readonly #listeners = new Set<(key: string) => void>();

  constructor(incidents: Informer<RemediationRequest, "target" | "fingerprint">) {
    this.#incidents = incidents;
    incidents.subscribe((event, incident) => {
      if (event === "ADDED") this.#add(incident);
      else if (event === "DELETED") this.#remove(incident);
    });
  }

  /** Whether no later incident has the same fingerprint. */
  isNewest(incident: RemediationRequest): boolean {
    const newest = this.#newest.get(incident.spec.signalFingerprint);
    return !newest || newest.uid === incident.metadata.uid || !isLater(newest, incidentRank(incident));
  }

  /** The keys of incidents that are no longer the newest: from then on their retention can end. */
  get superseded(): KeySource {
    return {
      synced: this.#incidents.synced,
      feed: (add) => {
        this.#listeners.add(add);
        return () => this.#listeners.delete(add);
      },
    };
  }

  #add(incident: RemediationRequest) {
    const { signalFingerprint } = incident.spec;
    const known = this.#newest.get(signalFingerprint);
    const rank = incidentRank(incident);
    if (known && !isLater(rank, known)) return;
    this.#newest.set(signalFingerprint, rank);
    if (known) for (const add of this.#listeners) add(known.key);
  }

  /** Rare: the newest incident is kept, unless a user deletes it. */
  #remove({ metadata, spec }: RemediationRequest) {
    const { signalFingerprint } = spec;
    if (this.#newest.get(signalFingerprint)?.uid !== metadata.uid) return;
    this.#newest.delete(signalFingerprint);
    for (const other of this.#incidents.byIndex("fingerprint", signalFingerprint)) this.#add(other);
  }
}

interface IncidentRank {
  readonly key: string;
  readonly uid: string | undefined;
  readonly number: number;
  readonly createdAt: string;
}

function incidentRank(incident: RemediationRequest): IncidentRank {
  const { metadata, spec } = incident;
  const number = incidentNumber(spec.signalFingerprint, metadata.name ?? "") ?? 0;
  return { key: objectKey(incident), uid: metadata.uid, number, createdAt: metadata.creationTimestamp ?? "" };
}

function isLater(one: IncidentRank, other: IncidentRank): boolean {
  return one.number > other.number || (one.number === other.number && one.createdAt > other.createdAt);
}
