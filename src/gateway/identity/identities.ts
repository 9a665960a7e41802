import type { fingerprinter, ObjectReference, RemediationRequest, Signal } from "../../resources/index.ts";
import { seriesKey } from "../decide.ts";
import type { Incidents } from "../incidents/incidents.ts";
import { isPartial } from "../incidents/known-incident.ts";
import type { Nodes } from "./nodes.ts";
import type { Owner, Owners } from "./owners.ts";
import {
  type Identity,
  identityVersion,
  identityVersionOf,
  isOpen,
  type NamelessReport,
  type NoIdentity,
  type Report,
} from "./report.ts";
import {
  type FormerSubject,
  hasCustomKind,
  type InvalidSubject,
  type SubjectObject,
  Subjects,
  type SubjectsOptions,
  type ValidSubject,
} from "./subjects.ts";

export interface IdentitiesOptions extends SubjectsOptions {
  readonly owners: Owners;
  readonly nodes: Nodes;
  readonly incidents: Pick<Incidents, "newest" | "get" | "hasFormer" | "isFormer" | "distinctLabels">;
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
  readonly #knownIdentities = new WeakMap<Signal, { readonly owner: Owner; readonly identity: Identity }>();

  constructor(options: IdentitiesOptions) {
    this.#options = options;
    this.#subjects = new Subjects(options);
  }

  /** Throws GatewayError `unavailable` when the API server does not respond: a guess could open a second incident. */
  async find(signal: Signal, receivedAt: string): Promise<IdentityResult> {
    const { nodes, owners } = this.#options;
    const node = signal.node ? await nodes.find(signal.node) : undefined;
    const subject = this.#subjects.find(signal, node);
    if (subject.kind === "invalid") {
      return this.#decideReading((read) => this.#reportOfUnknownKind(signal, receivedAt, subject, read));
    }
    const owner = subject.kind === "object" ? await owners.find(subject) : undefined;
    const former: Former[] = [];
    for (const one of this.#formerSubjects(signal)) {
      former.push({ ...one, owner: await owners.find(one.subject) });
    }
    return this.#decideReading((read) => this.#decide({ signal, receivedAt, subject, owner, former, read }));
  }

  /** Calls `decide` again with each incident that it turns out to need, until it has a result. */
  async #decideReading(decide: (read: Facts["read"]) => IdentityResult | Unread): Promise<IdentityResult> {
    const read = new Map<string, RemediationRequest | undefined>();
    for (;;) {
      const result = decide(read);
      if (result.kind !== "unread") return result;
      read.set(result.fingerprint, await this.#options.incidents.get(result.name));
    }
  }

  /** The result of `find` from caches alone; undefined if the API server has to be read. */
  findCached(signal: Signal, receivedAt: string): IdentityResult | undefined {
    const { nodes, owners } = this.#options;
    const node = signal.node ? nodes.findCached(signal.node) : undefined;
    if (signal.node && !node) return undefined;
    const subject = this.#subjects.find(signal, node?.node);
    if (subject.kind === "invalid") return undefined;
    const owner = subject.kind === "object" ? owners.findCached(subject) : undefined;
    if (subject.kind === "object" && !owner) return undefined;
    const former: Former[] = [];
    for (const one of this.#formerSubjects(signal)) {
      const formerOwner = owners.findCached(one.subject);
      if (!formerOwner) return undefined;
      former.push({ ...one, owner: formerOwner });
    }
    const result = this.#decide({ signal, receivedAt, subject, owner, former, read: nothingRead });
    return result.kind === "unread" ? undefined : result;
  }

  /** The report of a signal whose object cannot be read. Its fingerprint lacks the object and is for the ledger only. */
  reportWithoutObject(signal: Signal, receivedAt: string): NamelessReport {
    return { signal, fingerprint: this.#options.computeFingerprint(signal, undefined), receivedAt };
  }

  /**
   * The identity that the signal had while other kinds were known, if its incident is still open. Applying or deleting
   * a definition must neither open nor close incidents.
   */
  #openUnderOtherKind(signal: Signal, now: string | undefined, read: Facts["read"]): Identity | Unread | undefined {
    if (!hasCustomKind(signal)) return undefined;
    const isHere = now !== undefined && this.#isFiringIn(now, signal, read);
    if (isHere !== false) return isHere === true ? undefined : isHere;
    for (const subject of this.#subjects.listUnderOtherKinds(signal)) {
      const identity = this.#identity(signal, subject, subject);
      const isOther = identity.fingerprint !== now && this.#isFiringIn(identity.fingerprint, signal, read);
      if (isOther !== false) return isOther === true ? identity : isOther;
    }
    return undefined;
  }

  /** A signal about an unknown kind still belongs to an incident that was opened while the kind was known. */
  #reportOfUnknownKind(
    signal: Signal,
    receivedAt: string,
    invalid: InvalidSubject,
    read: Facts["read"],
  ): IdentityResult | Unread {
    const identity = this.#openUnderOtherKind(signal, undefined, read);
    if (!identity) return invalid;
    if ("kind" in identity) return identity;
    const fingerprint = this.#options.computeFingerprint(signal, undefined);
    const successor: NoIdentity = { fingerprint, because: invalid.problems.join("; ") };
    return { kind: "report", report: { ...identity, signal, receivedAt, identityVersion, successor } };
  }

  /** The subjects by the rules of earlier versions, while incidents that were opened by those rules exist. */
  #formerSubjects(signal: Signal): readonly FormerSubject[] {
    return this.#options.incidents.hasFormer ? this.#subjects.listFormer(signal) : [];
  }

  /** The identities of earlier versions with incidents, open or closed, that the signal may belong to. */
  *#formerIdentities({ signal, former }: Facts): Generator<{ readonly identity: Identity; readonly version: string }> {
    const { computeFingerprint, incidents } = this.#options;
    for (const { subject, owner, distinctBy, version } of former) {
      // Rules with labels existed in earlier versions, too.
      for (const labels of incidents.distinctLabels) {
        const fingerprint = computeFingerprint({ ...signal, distinctBy: [...distinctBy, ...labels] }, owner.target);
        if (incidents.isFormer(fingerprint)) yield { identity: toIdentity(fingerprint, subject, owner), version };
      }
    }
  }

  #identity(signal: Signal, subject: SubjectObject, owner: Owner): Identity {
    const { ruleLabels, computeFingerprint } = this.#options;
    const distinctBy = ruleLabels(signal, owner.reference);
    if (distinctBy.length > 0) {
      const fingerprint = computeFingerprint(withLabels(signal, distinctBy), owner.target);
      return { ...toIdentity(fingerprint, subject, owner), distinctBy };
    }
    const known = this.#knownIdentities.get(signal);
    // An identity names its subject, so the same owner is not enough.
    if (known?.owner === owner && known.identity.subject === subject.target.text) return known.identity;
    const identity = toIdentity(computeFingerprint(signal, owner.target), subject, owner);
    this.#knownIdentities.set(signal, { owner, identity });
    return identity;
  }

  /**
   * The identity that the signal had by the previous rules, if its incident is still open. Changing a rule must neither
   * open nor close incidents.
   */
  #openElsewhere({ signal, subject, owner, read }: Facts, now: Identity): Identity | Unread | undefined {
    const { incidents, computeFingerprint } = this.#options;
    if (subject.kind !== "object" || !owner) return undefined;
    for (const distinctBy of incidents.distinctLabels) {
      if (distinctBy.length === 0 && !now.distinctBy) continue;
      const fingerprint = computeFingerprint(withLabels(signal, distinctBy), owner.target);
      if (fingerprint === now.fingerprint) continue;
      const isElsewhere = this.#isFiringIn(fingerprint, signal, read);
      if (typeof isElsewhere === "object") return isElsewhere;
      if (!isElsewhere) continue;
      const isHere = this.#isFiringIn(now.fingerprint, signal, read);
      if (typeof isHere === "object") return isHere;
      return isHere ? undefined : { ...toIdentity(fingerprint, subject, owner), distinctBy };
    }
    return undefined;
  }

  /** Whether the incident of `fingerprint` is open, and the series of `signal` fires in it. */
  #isFiringIn(fingerprint: string, signal: Signal, read: Facts["read"]): boolean | Unread {
    const incident = read.has(fingerprint) ? read.get(fingerprint) : this.#options.incidents.newest(fingerprint);
    if (!incident || !isOpen(incident)) return false;
    if (isPartial(incident)) return { kind: "unread", fingerprint, name: incident.metadata.name ?? "" };
    const own = incident.status?.deduplication?.series?.[seriesKey(signal)];
    return own !== undefined && own.resolvedAt === undefined;
  }

  #decide(facts: Facts): IdentityResult | Unread {
    const { signal, receivedAt, subject, owner } = facts;
    const { incidents } = this.#options;
    const identity = subject.kind === "object" && owner ? this.#identity(signal, subject, owner) : undefined;
    let formerFingerprint: string | undefined;
    for (const { identity: before, version } of facts.former.length > 0 ? this.#formerIdentities(facts) : []) {
      if (before.fingerprint === identity?.fingerprint) continue;
      const open = incidents.newest(before.fingerprint);
      if (open && isOpen(open) && identityVersionOf(open) === version) {
        return {
          kind: "report",
          report: { ...before, signal, receivedAt, successor: identity ?? this.#noIdentity(facts) },
        };
      }
      formerFingerprint ??= before.fingerprint;
    }
    if (!identity) {
      const { fingerprint, because } = this.#noIdentity(facts);
      return { kind: "nameless", report: { signal, fingerprint, receivedAt }, because };
    }
    const other =
      this.#openElsewhere(facts, identity) ?? this.#openUnderOtherKind(signal, identity.fingerprint, facts.read);
    if (other && "kind" in other) return other;
    if (other) {
      return { kind: "report", report: { ...other, signal, receivedAt, identityVersion, successor: identity } };
    }
    const { fingerprint, subject: text, owner: itsOwner, distinctBy } = identity;
    // Spreading `identity` would take longer than the rest of this function.
    const report: Report = { fingerprint, subject: text, owner: itsOwner, signal, receivedAt, identityVersion };
    if (!distinctBy && formerFingerprint === undefined) return { kind: "report", report };
    const more = { ...(distinctBy && { distinctBy }), ...(formerFingerprint !== undefined && { formerFingerprint }) };
    return { kind: "report", report: { ...report, ...more } };
  }

  #noIdentity({ signal, subject }: Facts): NoIdentity {
    const fingerprint = this.#options.computeFingerprint(signal, undefined);
    return { fingerprint, because: subject.kind === "none" ? subject.because : "" };
  }
}

function withLabels(signal: Signal, labels: readonly string[]): Signal {
  return labels.length === 0 ? signal : { ...signal, distinctBy: [...(signal.distinctBy ?? []), ...labels] };
}

const nothingRead: Facts["read"] = new Map();

interface Facts {
  readonly signal: Signal;
  readonly receivedAt: string;
  readonly subject: ValidSubject;
  readonly owner: Owner | undefined;
  readonly former: readonly Former[];
  /** Incidents read from the server, by fingerprint. */
  readonly read: ReadonlyMap<string, RemediationRequest | undefined>;
}

/** The decision needs the series of this incident, which the cache omits. */
interface Unread {
  readonly kind: "unread";
  readonly fingerprint: string;
  readonly name: string;
}

interface Former extends FormerSubject {
  readonly owner: Owner;
}

function toIdentity(fingerprint: string, { target }: SubjectObject, owner: Owner): Identity {
  return {
    fingerprint,
    subject: target.text,
    owner: { target: owner.target.text, reference: owner.reference },
  };
}
