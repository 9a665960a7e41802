import { isDeepStrictEqual } from "node:util";
import type { Clock, Random } from "../../time/index.ts";
import {
  type Call,
  type CreateOutcome,
  type DeleteOptions,
  type DeleteOutcome,
  type KubeClient,
  KubeError,
  type ListQuery,
  type Patch,
  type UpdateOutcome,
  type WatchEvent,
  type WatchQuery,
  type WriteCall,
} from "../client.ts";
import type { KubeObject, ObjectMeta, ObjectRef, ResourceType } from "../object.ts";
import { patched } from "./patch.ts";
import { changed, created, groupOf, isLease, needsVersion, resourceName, title } from "./rules.ts";
import { selecting } from "./selectors.ts";
import { atRevision, type Change, Store } from "./store.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

/** An API server inside the process, and the faults one can ask of it. A restart forgets everything. */
export interface MemoryCluster {
  /** The cluster as `identity` may use it. */
  client(identity?: string): KubeClient;
  /** From now on `verb` on `resource` ("leases", "tasks/status") throws `forbidden`: for `identity`, or for everyone. */
  forbid(verb: Verb, resource: string, identity?: string): void;
  /** Forgets the history: every open watch, and every attempt to continue from before, ends in `gone`. */
  compact(): void;
  /** Ends every open watch, as a server does that restarts. */
  dropWatches(): void;
}

export interface MemoryClusterOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** How far a watch may lag behind before it is `gone`. Default 1,000 changes. */
  readonly keptChanges?: number;
}

/**
 * A cluster that stores any kind, checks Leases, and answers as kube-apiserver 1.32 was recorded to. Every kind has a
 * status subresource. There are no schemas, no bookmarks and no garbage collection: dependents outlive their owner.
 */
export function memoryCluster({ clock, random, keptChanges = 1_000 }: MemoryClusterOptions): MemoryCluster {
  const cluster: Cluster = { clock, random, store: new Store(keptChanges), forbidden: new Set() };
  return {
    client: (identity = "admin") => memoryClient(identity, cluster),
    forbid: (verb, resource, identity = "*") => void cluster.forbidden.add(`${identity} ${verb} ${resource}`),
    compact: () => cluster.store.forgetChanges(),
    dropWatches: () => cluster.store.endStreams(),
  };
}

interface Cluster {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  /** `identity verb resource`; the identity `*` is everyone. */
  readonly forbidden: Set<string>;
}

/** Every call is decided in one go, without waiting for anything: what a simulation can interleave are whole calls. */
function memoryClient(identity: string, cluster: Cluster): KubeClient {
  const { clock, random, store, forbidden } = cluster;

  function enter(verb: Verb, type: ResourceType, where: Partial<ObjectRef>, call: WriteCall = {}) {
    if (call.signal?.aborted) {
      throw new KubeError("aborted", `${verb} ${type.plural} was aborted`, { cause: call.signal.reason });
    }
    const resource = call.subresource ? `${type.plural}/${call.subresource}` : type.plural;
    if (forbidden.has(`${identity} ${verb} ${resource}`) || forbidden.has(`* ${verb} ${resource}`)) {
      const place = where.namespace ? `in the namespace "${where.namespace}"` : "at the cluster scope";
      const attempt = `cannot ${verb} resource "${resource}" in API group "${groupOf(type)}" ${place}`;
      throw new KubeError("forbidden", `${subject(type, where)} is forbidden: User "${identity}" ${attempt}`);
    }
  }

  function insert<T extends KubeObject>(type: ResourceType, object: T): CreateOutcome<T> {
    const { name, generateName, namespace } = object.metadata;
    const fresh = created(type, object, {
      ...(name || generateName ? { name: name ?? `${generateName}${nameSuffix(random)}` } : {}),
      ...(type.namespaced && namespace !== undefined ? { namespace } : {}),
      uid: uuid(random),
      creationTimestamp: timestamp(clock),
    });
    const key = keyOf(type, fresh.metadata);
    if (store.get(resourceName(type), key)) return { kind: "already-exists" };
    return { kind: "created", object: store.put(resourceName(type), key, fresh) as T };
  }

  function replace<T extends KubeObject>(
    type: ResourceType,
    stored: KubeObject,
    desired: KubeObject,
    subresource?: "status",
  ): UpdateOutcome<T> {
    const { uid, resourceVersion } = desired.metadata;
    if (uid && uid !== stored.metadata.uid) return otherUid(type, desired.metadata, stored.metadata.uid);
    if (!resourceVersion && needsVersion(type)) {
      const problem = "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update";
      throw new KubeError("invalid", `${subject(type, stored.metadata)} is invalid: ${problem}`);
    }
    if (resourceVersion && resourceVersion !== stored.metadata.resourceVersion) return modified(type, stored.metadata);
    return { kind: "updated", object: commit(type, stored, changed(type, stored, desired, subresource)) as T };
  }

  function commit(type: ResourceType, stored: KubeObject, next: KubeObject): KubeObject {
    if (isDeepStrictEqual(next, stored)) return stored;

    const key = keyOf(type, stored.metadata);
    const { deletionTimestamp, finalizers: before = [] } = stored.metadata;
    const { finalizers: after = [] } = next.metadata;
    if (!deletionTimestamp) return store.put(resourceName(type), key, next);

    if (after.some((finalizer) => !before.includes(finalizer))) {
      const problem = "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted";
      throw new KubeError("invalid", `${title(type, stored.metadata)} is invalid: ${problem}`);
    }
    if (after.length > 0) return store.put(resourceName(type), key, next);
    // Whoever removes the last finalizer is answered with the object at its old version; the new one is its end.
    store.remove(resourceName(type), key);
    return next;
  }

  return {
    serverNowMs: () => clock.wallMs(),

    async get<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, call?: Call) {
      enter("get", type, ref, call);
      return store.get(resourceName(type), keyOf(type, ref)) as T | undefined;
    },

    async list<T extends KubeObject>(type: ResourceType<T>, query: ListQuery = {}, call?: Call) {
      enter("list", type, query, call);
      const items = store.list(resourceName(type)).filter(selecting(query)) as T[];
      return { items: Object.freeze(items), resourceVersion: store.revision };
    },

    async create<T extends KubeObject>(type: ResourceType<T>, object: T, call?: Call) {
      enter("create", type, object.metadata, call);
      if (!object.metadata.resourceVersion) return insert(type, object);
      throw new KubeError("invalid", "resourceVersion should not be set on objects to be created");
    },

    async update<T extends KubeObject>(type: ResourceType<T>, object: T, call?: WriteCall): Promise<UpdateOutcome<T>> {
      enter("update", type, object.metadata, call);
      const stored = store.get(resourceName(type), keyOf(type, object.metadata));
      if (stored) return replace(type, stored, object, call?.subresource);
      if (!isLease(type)) return { kind: "not-found" };

      // A Lease, and nothing else, is created by an update that finds none, whatever version it names.
      enter("create", type, object.metadata, call);
      if (object.metadata.uid) return otherUid(type, object.metadata, "");
      const outcome = insert(type, object);
      return outcome.kind === "created" ? { kind: "updated", object: outcome.object } : modified(type, object.metadata);
    },

    async patch<T extends KubeObject>(
      type: ResourceType<T>,
      ref: ObjectRef,
      patch: Patch,
      call?: WriteCall,
    ): Promise<UpdateOutcome<T>> {
      enter("patch", type, ref, call);
      const stored = store.get(resourceName(type), keyOf(type, ref));
      if (!stored) return { kind: "not-found" };

      const desired = patched(stored, patch);
      for (const field of ["name", "namespace", "uid"] as const) {
        if ((desired.metadata[field] ?? stored.metadata[field]) === stored.metadata[field]) continue;
        throw new KubeError("invalid", `${title(type, ref)} is invalid: metadata.${field}: field is immutable`);
      }
      return replace(type, stored, desired, call?.subresource);
    },

    async delete(type: ResourceType, ref: ObjectRef, options: DeleteOptions = {}, call?: Call): Promise<DeleteOutcome> {
      enter("delete", type, ref, call);
      const key = keyOf(type, ref);
      const stored = store.get(resourceName(type), key);
      if (!stored) return { kind: "not-found" };
      const mismatch = unmetPrecondition(stored.metadata, options.preconditions);
      if (mismatch) return conflict(title(type, ref), mismatch);

      if (!stored.metadata.finalizers) store.remove(resourceName(type), key);
      else if (!stored.metadata.deletionTimestamp) store.put(resourceName(type), key, dying(stored, clock));
      return { kind: "deleted" };
    },

    async *watch<T extends KubeObject>(type: ResourceType<T>, query: WatchQuery, call: Call = {}) {
      // The first question to an aborted watch finds it ended, as would the next one to an open watch.
      if (call.signal?.aborted) return;
      enter("watch", type, query, call);
      const matches = selecting(query);
      for await (const change of store.changesAfter(query.resourceVersion, call.signal)) {
        if (change.collection !== resourceName(type)) continue;
        const event = eventOf(change, matches);
        if (event) yield event as WatchEvent<T>;
      }
    },
  };
}

function eventOf({ before, after, revision }: Change, matches: (object: KubeObject) => boolean) {
  const was = before && matches(before);
  if (after && matches(after)) return { type: was ? "MODIFIED" : "ADDED", object: after };
  // Leaving the selection is a deletion to this watch: the object as it last matched, at the version of the change.
  return was ? { type: "DELETED", object: atRevision(before, revision) } : undefined;
}

function keyOf(type: ResourceType, { namespace, name }: Partial<ObjectRef>): string {
  if (!name) throw new TypeError(`a name is missing: which of the ${type.plural}?`);
  if (!type.namespaced) return name;
  if (!namespace) throw new TypeError(`a namespace is missing: where are the ${type.plural}?`);
  return `${namespace}/${name}`;
}

function dying(stored: KubeObject, clock: Clock): KubeObject {
  const { generation } = stored.metadata;
  const marks = { deletionTimestamp: timestamp(clock), deletionGracePeriodSeconds: 0 };
  return {
    ...stored,
    metadata: { ...stored.metadata, ...marks, ...(generation ? { generation: generation + 1 } : {}) },
  };
}

function unmetPrecondition(found: ObjectMeta, wanted: DeleteOptions["preconditions"] = {}): string | undefined {
  if (wanted.uid !== undefined && wanted.uid !== found.uid) {
    const fields = `the UID in the precondition (${wanted.uid}) does not match the UID in record (${found.uid})`;
    return `${fields}. The object might have been deleted and then recreated`;
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== found.resourceVersion) {
    const fields = `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match`;
    return `${fields} the ResourceVersion in record (${found.resourceVersion}). The object might have been modified`;
  }
  return undefined;
}

function modified(type: ResourceType, where: ObjectMeta) {
  const advice = "please apply your changes to the latest version and try again";
  return conflict(subject(type, where), `the object has been modified; ${advice}`);
}

function otherUid(type: ResourceType, wanted: ObjectMeta, found = "") {
  const fields = `UID in precondition: ${wanted.uid}, UID in object meta: ${found}`;
  return conflict(subject(type, wanted), `Precondition failed: ${fields}`);
}

function conflict(what: string, why: string) {
  return { kind: "conflict", message: `Operation cannot be fulfilled on ${what}: ${why}` } as const;
}

/** `leases.coordination.k8s.io "a"` */
function subject(type: ResourceType, { name }: Partial<ObjectRef>): string {
  return name ? `${resourceName(type)} "${name}"` : resourceName(type);
}

function timestamp(clock: Clock): string {
  return new Date(clock.wallMs()).toISOString().replace(/\.\d+Z$/, "Z");
}

function nameSuffix(random: Random): string {
  return anyOf("bcdfghjklmnpqrstvwxz2456789", 5, random);
}

function uuid(random: Random): string {
  const digits = (count: number) => anyOf("0123456789abcdef", count, random);
  return `${digits(8)}-${digits(4)}-4${digits(3)}-${anyOf("89ab", 1, random)}${digits(3)}-${digits(12)}`;
}

function anyOf(alphabet: string, count: number, random: Random): string {
  const pick = () => alphabet[Math.floor(random.fraction() * alphabet.length)];
  return Array.from({ length: count }, pick).join("");
}
