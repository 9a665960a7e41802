import {
  type fingerprinter,
  isClosedIncident,
  type ObjectReference,
  type RemediationRequest,
  type Signal,
} from "../../resources/index.ts";
import { seriesKey } from "../decide.ts";
import type { Incidents } from "../incidents/incidents.ts";
import { isPartial } from "../incidents/known-incident.ts";
import type { Nodes } from "./nodes.ts";
import type { Owner, Owners } from "./owners.ts";
import type { Identity, NamelessReport, NoIdentity, Report } from "./report.ts";
import { type Subject, type SubjectObject, Subjects, type SubjectsOptions } from "./subjects.ts";

export interface IdentitiesOptions extends SubjectsOptions {
  readonly owners: Owners;
  readonly nodes: Nodes;
  readonly incidents: Pick<Incidents, "newest" | "get" | "distinctLabels">;
  readonly ruleLabels: (signal: Signal, owner: ObjectReference) => readonly string[];
  readonly computeFingerprint: ReturnType<typeof fingerprinter>;
}

/** A signal that names no object and gets none from a rule. */
export interface Nameless {
  readonly kind: "nameless";
  readonly report: NamelessReport;
  readonly because: string;
}

type IdentityResult =
  | { readonly kind: "report"; readonly report: Report }
  | Nameless
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Finds the identity of the incidents that signals belong to. */
export class Identities {
  readonly #options: IdentitiesOptions;
  readonly #subjects: Subjects;
  /** Identities of repeated signals without rule labels; valid while their owner stays the same. */
  readonly #cachedIdentities = new WeakMap<Signal, { readonly owner: Owner; readonly identity: Identity }>();

  constructor(options: IdentitiesOptions) {
    this.#options = options;
    this.#subjects = new Subjects(options);
  }

  /** Throws GatewayError `unavailable` when the API server does not respond: a guess could open a second incident. */
  async find(signal: Signal, receivedAt: string): Promise<IdentityResult> {
    const { nodes, owners, incidents } = this.#options;
    const node = signal.node ? await nodes.find(signal.node) : undefined;
    const subject = this.#subjects.find(signal, node);
    const owner = subject.kind === "object" ? await owners.find(subject) : undefined;
    const read = new Map<string, RemediationRequest | undefined>();
    for (;;) {
      const result = this.#decide({ signal, receivedAt, subject, owner, read });
      if (result.kind !== "unread") return result;
      read.set(result.fingerprint, await incidents.get(result.name));
    }
  }

  /** The result of `find` from caches alone; undefined if the API server has to be read. */
  findCached(signal: Signal, receivedAt: string): IdentityResult | undefined {
    const { nodes, owners } = this.#options;
    const node = signal.node ? nodes.findCached(signal.node) : undefined;
    if (signal.node && !node) return undefined;
    const subject = this.#subjects.find(signal, node?.node);
    const owner = subject.kind === "object" ? owners.findCached(subject) : undefined;
    if (subject.kind === "object" && !owner) return undefined;
    const result = this.#decide({ signal, receivedAt, subject, owner, read: nothingRead });
    return result.kind === "unread" ? undefined : result;
  }

  /** The report of a signal whose object cannot be read. Its fingerprint lacks the object and is for the ledger only. */
  reportWithoutObject(signal: Signal, receivedAt: string): NamelessReport {
    return { signal, fingerprint: this.#options.computeFingerprint(signal, undefined), receivedAt };
  }

  #decide(facts: Facts): IdentityResult | Unread {
    const { signal, receivedAt, subject, owner } = facts;
    const identity = subject.kind === "object" && owner ? this.#identity(signal, subject, owner) : undefined;
    const former = this.#findFormer(facts, identity);
    if (former?.kind === "unread") return former;
    if (former?.kind === "firing") {
      const successor = identity ?? this.#noIdentity(facts);
      return { kind: "report", report: { ...former.identity, signal, receivedAt, successor } };
    }
    if (identity) {
      const { fingerprint, subject: text, owner: itsOwner, distinctBy } = identity;
      // Spreading `identity` would take longer than the rest of this function.
      const report: Report = { fingerprint, subject: text, owner: itsOwner, signal, receivedAt };
      if (!distinctBy && !former) return { kind: "report", report };
      const more = { ...(distinctBy && { distinctBy }), ...(former && { formerFingerprint: former.fingerprint }) };
      return { kind: "report", report: { ...report, ...more } };
    }
    if (subject.kind === "invalid") return { kind: "invalid", problems: [subject.because] };
    const { fingerprint, because } = this.#noIdentity(facts);
    return { kind: "nameless", report: { signal, fingerprint, receivedAt }, because };
  }

  #identity(signal: Signal, subject: SubjectObject, owner: Owner): Identity {
    const { ruleLabels, computeFingerprint } = this.#options;
    const distinctBy = ruleLabels(signal, owner.reference);
    if (distinctBy.length > 0) return this.#identityWithLabels({ signal, subject, owner, distinctBy });
    const cached = this.#cachedIdentities.get(signal);
    // An identity contains its subject, so the same owner is not enough.
    if (cached?.owner === owner && cached.identity.subject === subject.target.text) return cached.identity;
    const identity = toIdentity(computeFingerprint(signal, owner.target), subject, owner);
    this.#cachedIdentities.set(signal, { owner, identity });
    return identity;
  }

  #identityWithLabels({ signal, subject, owner, distinctBy }: LabelledSignal): Identity {
    const labelled = { ...signal, distinctBy: [...(signal.distinctBy ?? []), ...distinctBy] };
    const fingerprint = this.#options.computeFingerprint(labelled, owner.target);
    return { ...toIdentity(fingerprint, subject, owner), distinctBy };
  }

  /**
   * Finds the incident that the signal belonged to before a rule was changed, or a definition was applied or deleted: neither
   * may open or close incidents.
   */
  #findFormer(facts: Facts, current: Identity | undefined): Former | Unread | undefined {
    let known: Former | undefined;
    for (const identity of this.#listFormer(facts, current)) {
      const { fingerprint } = identity;
      if (fingerprint === current?.fingerprint) continue;
      const firesThere = this.#isFiringIn(fingerprint, facts);
      if (firesThere === false) {
        if (this.#options.incidents.newest(fingerprint)) known ??= { kind: "known", fingerprint };
        continue;
      }
      if (firesThere !== true) return firesThere;
      const firesHere = current !== undefined && this.#isFiringIn(current.fingerprint, facts);
      if (firesHere === false) return { kind: "firing", identity };
      return firesHere === true ? undefined : firesHere;
    }
    return known;
  }

  /** The identities that the signal may have had by other rules, and while other kinds were known. */
  *#listFormer({ signal, subject, owner }: Facts, current: Identity | undefined): Generator<Identity> {
    const { incidents, ruleLabels } = this.#options;
    if (subject.kind === "object" && owner) {
      for (const distinctBy of incidents.distinctLabels) {
        if (distinctBy.length === 0 && !current?.distinctBy) continue;
        yield this.#identityWithLabels({ signal, subject, owner, distinctBy });
      }
    }
    for (const other of this.#subjects.listUnderOtherKinds(signal)) {
      if (other.target.text === current?.subject) continue;
      const distinctBy = ruleLabels(signal, other.reference);
      yield this.#identityWithLabels({ signal, subject: other, owner: other, distinctBy });
    }
  }

  /** Whether the incident of `fingerprint` is open, and the series of `signal` fires in it. */
  #isFiringIn(fingerprint: string, { signal, read }: Facts): boolean | Unread {
    const incident = read.has(fingerprint) ? read.get(fingerprint) : this.#options.incidents.newest(fingerprint);
    if (!incident || isClosedIncident(incident)) return false;
    if (isPartial(incident)) return { kind: "unread", fingerprint, name: incident.metadata.name ?? "" };
    const series = incident.status?.deduplication?.series?.[seriesKey(signal)];
    return series !== undefined && series.resolvedAt === undefined;
  }

  #noIdentity({ signal, subject }: Facts): NoIdentity {
    const fingerprint = this.#options.computeFingerprint(signal, undefined);
    return { fingerprint, because: subject.kind === "object" ? "" : subject.because };
  }
}

const nothingRead: Facts["read"] = new Map();

interface Facts {
  readonly signal: Signal;
  readonly receivedAt: string;
  readonly subject: Subject;
  readonly owner: Owner | undefined;
  /** Incidents read from the server, by fingerprint. */
  readonly read: ReadonlyMap<string, RemediationRequest | undefined>;
}

interface LabelledSignal {
  readonly signal: Signal;
  readonly subject: SubjectObject;
  readonly owner: Owner;
  readonly distinctBy: readonly string[];
}

/** An incident by other rules or kinds. */
type Former =
  /** It is open, and the signal's series fires in it. */
  | { readonly kind: "firing"; readonly identity: Identity }
  /** It may record that the signal's series has ended. */
  | { readonly kind: "known"; readonly fingerprint: string };

/** The decision needs the series of this incident, which the cache omits. */
interface Unread {
  readonly kind: "unread";
  readonly fingerprint: string;
  readonly name: string;
}

function toIdentity(fingerprint: string, { target }: SubjectObject, owner: Owner): Identity {
  return {
    fingerprint,
    subject: target.text,
    owner: { target: owner.target.text, reference: owner.reference },
  };
}
