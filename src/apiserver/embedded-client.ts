import {
  type Call,
  type CreateCall,
  type CreateOutcome,
  type DeleteOptions,
  type DeleteOutcome,
  type EvictOptions,
  type EvictOutcome,
  type KubeClient,
  KubeError,
  type KubeObject,
  type List,
  type ListQuery,
  type ObjectRef,
  type Patch,
  type ResourceType,
  type UpdateOutcome,
  type WatchEvent,
  type WatchQuery,
  type WriteCall,
} from "../kube/index.ts";
import type { Api } from "./api/api.ts";
import { createObject, type WriteResult } from "./api/create.ts";
import { deleteObject } from "./api/delete.ts";
import { evictPod } from "./api/evict.ts";
import { listObjects } from "./api/list.ts";
import { patchObject } from "./api/patch.ts";
import type { Resource } from "./api/resource.ts";
import { StatusError } from "./api/status-error.ts";
import { updateObject } from "./api/update.ts";
import { toDraft } from "./json/json.ts";
import { watchEvents } from "./watch-events.ts";

/** A client of the embedded API server in the same process. It returns the stored objects, deeply frozen, without copies. */
export function embeddedClient(api: Api): KubeClient {
  return {
    serverNowMs: () => api.clock.wallMs(),

    async get<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, call?: Call) {
      const resource = findResource(api, type, call);
      const entry = api.store.get(resource.storedAs, requireNamespace(resource, ref), ref.name);
      return entry && (resource.view(entry).object as T);
    },

    async list<T extends KubeObject>(type: ResourceType<T>, query: ListQuery = {}, call?: Call): Promise<List<T>> {
      const resource = findResource(api, type, call);
      const { items, revision } = await translateErrors(() => listObjects(api, resource, query));
      return { items: Object.freeze(items.map(({ object }) => object as T)), resourceVersion: String(revision) };
    },

    async create<T extends KubeObject>(type: ResourceType<T>, object: T, call?: CreateCall): Promise<CreateOutcome<T>> {
      const resource = findResource(api, type, call);
      const value = wholeObject(type, object);
      const options = { namespace: requireNamespace(resource, object.metadata), dryRun: call?.dryRun ?? false };
      const outcome = await attempt(() => createObject(api, resource, { value, fieldValidation: "Ignore" }, options));
      if (outcome.kind === "done") return { kind: "created", object: outcome.result.entry.object as T };
      if (outcome.kind === "conflict") return { kind: "already-exists" };
      throw new KubeError("invalid", outcome.message);
    },

    async update<T extends KubeObject>(type: ResourceType<T>, object: T, call?: WriteCall): Promise<UpdateOutcome<T>> {
      const resource = findResource(api, type, call);
      const ref = toRef(resource, object.metadata, call);
      const value = wholeObject(type, object);
      return updateOutcome(await attempt(() => updateObject(api, resource, { value, fieldValidation: "Ignore" }, ref)));
    },

    async patch<T extends KubeObject>(
      type: ResourceType<T>,
      target: ObjectRef,
      patch: Patch,
      call?: WriteCall,
    ): Promise<UpdateOutcome<T>> {
      const resource = findResource(api, type, call);
      const ref = { ...toRef(resource, target, call), fieldValidation: "Ignore" as const };
      const [kind, value] = "json" in patch ? (["json", patch.json] as const) : (["merge", patch.merge] as const);
      return updateOutcome(await attempt(() => patchObject(api, resource, { kind, value }, ref)));
    },

    async delete(
      type: ResourceType,
      target: ObjectRef,
      { preconditions = {}, propagation }: DeleteOptions = {},
      call?: Call,
    ): Promise<DeleteOutcome> {
      const resource = findResource(api, type, call);
      const ref = toRef(resource, target);
      const outcome = await attempt(() => deleteObject(api, resource, ref, { preconditions, propagation }));
      if (outcome.kind !== "done") return failedOutcome(outcome);
      const { gone, entry } = outcome.result;
      return gone ? { kind: "deleted" } : { kind: "deleted", remaining: entry.object };
    },

    async evict(pod: ObjectRef, { uid }: EvictOptions = {}, call?: Call): Promise<EvictOutcome> {
      const resource = findResource(api, pods, call);
      const ref = toRef(resource, pod);
      const outcome = await attempt(() => evictPod(api, resource, ref, uid === undefined ? {} : { uid }));
      if (outcome.kind === "done") return { kind: "evicted" };
      return outcome.kind === "blocked" ? outcome : failedOutcome(outcome);
    },

    async *watch<T extends KubeObject>(type: ResourceType<T>, query: WatchQuery, call: Call = {}) {
      // Ends without an error, like an open watch that is aborted.
      if (call.signal?.aborted) return;
      const resource = findResource(api, type, call);
      const events = await translateErrors(() => watchEvents(api, resource, query, call.signal));
      for await (const event of events) yield event as WatchEvent<T>;
    },
  };
}

const pods: ResourceType = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** Throws KubeError if the call is aborted, or if the server does not have `type`. */
function findResource({ registry }: Api, { apiVersion, plural }: ResourceType, { signal }: Call = {}): Resource {
  if (signal?.aborted) throw new KubeError("aborted", `the call on ${plural} was aborted`, { cause: signal.reason });
  const [group = "", version = ""] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const resource = registry.find(group, version, plural);
  if (resource) return resource;
  throw new KubeError("invalid", `the server has no ${plural} of ${apiVersion}; is its definition installed?`);
}

function toRef(resource: Resource, where: Partial<ObjectRef>, call: WriteCall = {}) {
  if (!where.name) throw new TypeError(`a name of ${resource.plural} is required`);
  const { subresource, dryRun = false } = call;
  return { namespace: requireNamespace(resource, where), name: where.name, subresource, dryRun };
}

function requireNamespace({ namespaced, plural }: Resource, { namespace }: Partial<ObjectRef>): string {
  if (!namespaced) return "";
  if (!namespace) throw new TypeError(`a namespace of ${plural} is required`);
  return namespace;
}

/** A copy of `object`, with the type that the caller may leave out. */
function wholeObject({ apiVersion, kind }: ResourceType, object: KubeObject): object {
  return { apiVersion, kind, ...toDraft(object) };
}

type WriteAttempt<Result> = { readonly kind: "done"; readonly result: Result } | FailedWrite;

type FailedWrite =
  | { readonly kind: "conflict"; readonly message: string }
  | { readonly kind: "not-found"; readonly message: string }
  | { readonly kind: "blocked"; readonly message: string };

/** The result of a write, or one of the failures that a port returns as an outcome. */
async function attempt<Result>(write: () => Promise<Result>): Promise<WriteAttempt<Result>> {
  try {
    return { kind: "done", result: await write() };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { message } = error;
    switch (error.status.code) {
      case 404:
        return { kind: "not-found", message };
      case 409:
        return { kind: "conflict", message };
      case 429:
        return { kind: "blocked", message: evictionMessage(error) };
      default:
        throw kubeError(error);
    }
  }
}

/** The reason is in the causes: which budget, and how many pods it needs. */
function evictionMessage({ message, status }: StatusError): string {
  return [message, ...(status.details?.causes ?? []).map((cause) => cause.message)].join(" ");
}

function updateOutcome<T extends KubeObject>(outcome: WriteAttempt<WriteResult>): UpdateOutcome<T> {
  if (outcome.kind === "done") return { kind: "updated", object: outcome.result.entry.object as T };
  return failedOutcome(outcome);
}

function failedOutcome({ kind, message }: FailedWrite) {
  return kind === "not-found" ? ({ kind } as const) : ({ kind: "conflict", message } as const);
}

async function translateErrors<T>(call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof StatusError ? kubeError(error) : error;
  }
}

function kubeError(error: StatusError): KubeError {
  const { code } = error.status;
  if (code === 403) return new KubeError("forbidden", error.message, { cause: error });
  if (code === 410) return new KubeError("gone", error.message, { cause: error });
  return new KubeError(code >= 500 ? "unavailable" : "invalid", error.message, { cause: error });
}
