import { type KubeObject, setNewest } from "../../kube/index.ts";
import {
  type Kinds,
  type KindsCache,
  type ObjectReference,
  type ObjectTarget,
  toObjectTarget,
} from "../../resources/index.ts";
import type { Clock } from "../../time/index.ts";
import type { Incidents } from "../incidents/incidents.ts";
import type { Objects } from "./objects.ts";

/** The object that a signal counts for: the end of the chain of owners. */
export interface Owner {
  readonly target: ObjectTarget;
  readonly reference: ObjectReference;
}

export interface OwnersOptions {
  readonly objects: Objects;
  readonly incidents: Pick<Incidents, "findBySubject">;
  readonly kinds: Pick<KindsCache, "current">;
  readonly clock: Clock;
}

/** How long an owner is cached. An object keeps its owner, but another object of the same name may replace it. */
const freshForMs = 30_000;
const maxEntries = 10_000;

/** Kinds that controllers create, so that their owner must be read. */
const ownedKinds: ReadonlySet<string> = new Set(["pod", "replicaset", "job"]);
/** Pod, ReplicaSet, Deployment. A longer chain is a cycle or does not belong to a workload. */
const maxChain = 4;

/** Finds owners, and caches them because alerts repeat. */
export class Owners {
  readonly #options: OwnersOptions;
  readonly #known = new Map<string, { readonly owner: Owner; readonly until: number; readonly kinds: Kinds }>();

  constructor(options: OwnersOptions) {
    this.#options = options;
  }

  /** The result of `find`, if it is cached. An object without an owner is its own owner: the same `subject` is returned. */
  findCached(subject: Owner): Owner | undefined {
    if (!ownedKinds.has(subject.target.kind)) return subject;
    const known = this.#known.get(subject.target.text);
    const { clock, kinds } = this.#options;
    // The owner may be of a kind that was unknown when the entry was cached.
    return known && known.until > clock.now() && known.kinds === kinds.current ? known.owner : undefined;
  }

  /** Throws GatewayError `unavailable` when the server does not respond: a guess could open a second incident. */
  async find(subject: Owner): Promise<Owner> {
    const { clock, kinds } = this.#options;
    const { current } = kinds;
    const cached = this.findCached(subject);
    if (cached) return cached;

    const owner = await this.#climb(subject);
    const { target } = subject;
    if (!owner) return (await this.#findRecordedOwner(target)) ?? subject;
    const entry = { owner, until: clock.now() + freshForMs, kinds: current };
    setNewest(this.#known, [target.text, entry], maxEntries);
    return owner;
  }

  /** Undefined if the subject itself is gone. */
  async #climb(subject: Owner): Promise<Owner | undefined> {
    let found = subject;
    for (let i = 0; i < maxChain && ownedKinds.has(found.target.kind); i++) {
      const object = await this.#options.objects.get(found.target, found.reference);
      if (!object) return i === 0 ? undefined : found;
      const next = this.#controllerOf(object, found);
      if (!next) return found;
      found = next;
    }
    return found;
  }

  #controllerOf({ metadata }: KubeObject, { target }: Owner): Owner | undefined {
    const controller = metadata.ownerReferences?.find((owner) => owner.controller);
    if (!controller) return undefined;
    const { apiVersion, kind, name } = controller;
    const namespace = target.namespace;
    const reference = { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
    const reading = toObjectTarget(reference, this.#options.kinds.current);
    // An owner of an unknown kind cannot be acted on.
    return reading.kind === "target" ? { target: reading.target, reference } : undefined;
  }

  /** A Pod is often deleted before its alert ends; its incident records the owner. */
  async #findRecordedOwner(subject: ObjectTarget): Promise<Owner | undefined> {
    const incident = await this.#options.incidents.findBySubject(subject);
    if (!incident) return undefined;
    const reference = incident.spec.targetResource;
    const reading = toObjectTarget(reference, this.#options.kinds.current);
    return reading.kind === "target" ? { target: reading.target, reference } : undefined;
  }
}
