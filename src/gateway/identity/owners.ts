import type { KubeObject } from "../../kube/index.ts";
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
  readonly incidents: Pick<Incidents, "withSubject">;
  readonly kinds: Pick<KindsCache, "current">;
  readonly clock: Clock;
  /** How long an answer is good. An object's owner does not change; one of the same name may come. */
  readonly freshForMs?: number;
  readonly maxEntries?: number;
}

/** Kinds that controllers create, and whose owner must be looked up. */
const climbs: ReadonlySet<string> = new Set(["pod", "replicaset", "job"]);
/** Pod, ReplicaSet, Deployment. A chain that is longer goes in a circle or is none of ours. */
const longestChain = 4;

/** Finds owners, and remembers them for a while: an alert is sent again and again. */
export class Owners {
  readonly #options: OwnersOptions;
  readonly #known = new Map<string, { readonly owner: Owner; readonly until: number; readonly kinds: Kinds }>();

  constructor(options: OwnersOptions) {
    this.#options = options;
  }

  /** The result of `find`, if it is cached. An object without an owner is its own: the very `subject`. */
  cached(subject: Owner): Owner | undefined {
    if (!climbs.has(subject.target.kind)) return subject;
    const known = this.#known.get(subject.target.text);
    const { clock, kinds } = this.#options;
    // The owner may be of a kind that was not known then.
    return known && known.until > clock.now() && known.kinds === kinds.current ? known.owner : undefined;
  }

  /** Throws GatewayError `unavailable` when the server does not respond: a guess could open a second incident. */
  async find(subject: Owner): Promise<Owner> {
    const { clock, kinds, freshForMs = 30_000, maxEntries = 10_000 } = this.#options;
    const { current } = kinds;
    const cached = this.cached(subject);
    if (cached) return cached;

    const owner = await this.#climb(subject);
    const { target } = subject;
    if (!owner) return (await this.#ownerOfGone(target)) ?? subject;
    this.#known.delete(target.text);
    this.#known.set(target.text, { owner, until: clock.now() + freshForMs, kinds: current });
    if (this.#known.size > maxEntries) this.#forgetOldest();
    return owner;
  }

  /** Undefined if the subject itself is gone. */
  async #climb(subject: Owner): Promise<Owner | undefined> {
    let found = subject;
    for (let i = 0; i < longestChain && climbs.has(found.target.kind); i++) {
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

  /** A Pod is often gone when its alert ends. Its incident remembers whose Pod it was. */
  async #ownerOfGone(subject: ObjectTarget): Promise<Owner | undefined> {
    const incident = await this.#options.incidents.withSubject(subject);
    if (!incident) return undefined;
    const reference = incident.spec.targetResource;
    const reading = toObjectTarget(reference, this.#options.kinds.current);
    return reading.kind === "target" ? { target: reading.target, reference } : undefined;
  }

  #forgetOldest() {
    for (const key of this.#known.keys()) {
      this.#known.delete(key);
      return;
    }
  }
}
