import { annotationKeys, isClosedIncident, type RemediationRequest } from "../../resources/index.ts";

export interface OpenIncidentLimits {
  /** Of all senders together. */
  readonly total: number;
  /** Of one sender. What the gateway watches itself counts as one sender, too. */
  readonly perSender: number;
}

/** Room for one more open incident until the cache has it, or the limit that is reached. */
export type Reservation =
  | { readonly kind: "reserved"; readonly release: () => void }
  | { readonly kind: "full"; readonly limit: "total" | "sender"; readonly open: number };

/**
 * Counts open incidents by the sender that opened them. Each takes memory in every stage, so a sender that reports ever
 * new problems would exhaust the process. A count may be a moment old: several gateways can exceed the limit by the incidents
 * that they open in that moment.
 */
export class OpenIncidents {
  readonly #limits: OpenIncidentLimits;
  /** By fingerprint, the sender of the incident that is open. */
  readonly #senders = new Map<string, string>();
  readonly #bySender = new Map<string, number>();
  #reserved = 0;

  constructor(limits: OpenIncidentLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#senders.size;
  }

  /** `incident` is now the newest of its fingerprint; undefined if there is none. */
  note(fingerprint: string, incident: RemediationRequest | undefined): void {
    const before = this.#senders.get(fingerprint);
    const after = incident && !isClosedIncident(incident) ? senderName(incident) : undefined;
    if (before === after) return;
    if (before !== undefined) this.#count(before, -1);
    if (after === undefined) this.#senders.delete(fingerprint);
    else {
      this.#senders.set(fingerprint, after);
      this.#count(after, +1);
    }
  }

  hasRoom(sender = ""): boolean {
    return this.#findLimit(sender) === undefined;
  }

  /** Takes room for one more incident of `sender`, which counts until `release`. */
  reserve(sender = ""): Reservation {
    const limit = this.#findLimit(sender);
    if (limit) return limit;
    this.#reserved++;
    this.#count(sender, +1);
    const release = () => {
      this.#reserved--;
      this.#count(sender, -1);
    };
    return { kind: "reserved", release };
  }

  #findLimit(sender: string): Extract<Reservation, { kind: "full" }> | undefined {
    const { total, perSender } = this.#limits;
    const own = this.#bySender.get(sender) ?? 0;
    if (own >= perSender) return { kind: "full", limit: "sender", open: own };
    const all = this.total + this.#reserved;
    return all >= total ? { kind: "full", limit: "total", open: all } : undefined;
  }

  #count(sender: string, change: 1 | -1) {
    const count = (this.#bySender.get(sender) ?? 0) + change;
    if (count > 0) this.#bySender.set(sender, count);
    else this.#bySender.delete(sender);
  }
}

function senderName({ metadata }: RemediationRequest): string {
  return metadata.annotations?.[annotationKeys.sender] ?? "";
}
