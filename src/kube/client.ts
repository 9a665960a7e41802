import type { KubeObject, ObjectRef, ResourceType } from "./object.ts";

/**
 * Port: a Kubernetes API server, as far as we use it. Expected results (not found, already exists, conflict) are outcomes; a
 * `KubeError` is thrown only if the server does not respond, refuses the request or does not understand it. Every call ends: by
 * a response, by `signal`, or by the adapter's own timeout.
 */
export interface KubeClient {
  get<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, call?: Call): Promise<T | undefined>;
  list<T extends KubeObject>(type: ResourceType<T>, query?: ListQuery, call?: Call): Promise<List<T>>;
  create<T extends KubeObject>(type: ResourceType<T>, object: T, call?: CreateCall): Promise<CreateOutcome<T>>;
  /** Replaces the object. With `metadata.resourceVersion`, only if that is its current version. */
  update<T extends KubeObject>(type: ResourceType<T>, object: T, call?: WriteCall): Promise<UpdateOutcome<T>>;
  patch<T extends KubeObject>(
    type: ResourceType<T>,
    ref: ObjectRef,
    patch: Patch,
    call?: WriteCall,
  ): Promise<UpdateOutcome<T>>;
  delete(type: ResourceType, ref: ObjectRef, options?: DeleteOptions, call?: Call): Promise<DeleteOutcome>;
  /** Deletes a pod unless that would violate its disruption budget. With a uid, only that pod. */
  evict(pod: ObjectRef, options?: EvictOptions, call?: Call): Promise<EvictOutcome>;
  /**
   * Yields changes after `resourceVersion`, in order, until the server ends the stream or `signal` aborts (which ends it
   * without an error). Throws `gone` when that version is too old to continue from: list again.
   */
  watch<T extends KubeObject>(type: ResourceType<T>, query: WatchQuery, call?: Call): AsyncIterable<WatchEvent<T>>;
  /** The server's wall clock, estimated from its responses, in milliseconds since 1970. */
  serverNowMs(): number;
}

export interface Call {
  readonly signal?: AbortSignal;
}

export interface CreateCall extends Call {
  /** The server validates the write and returns its result, but changes nothing. */
  readonly dryRun?: boolean;
}

export interface WriteCall extends CreateCall {
  readonly subresource?: "status";
}

export interface ListQuery {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface WatchQuery extends ListQuery {
  readonly resourceVersion: string;
}

export interface List<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

/** RFC 6902 operations, or an RFC 7386 merge document. */
export type Patch =
  | { readonly json: readonly JsonPatchOperation[] }
  | { readonly merge: Readonly<Record<string, unknown>> };

export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

export interface DeleteOptions {
  /** Delete only the object with this uid and version; anything else is a conflict. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagation?: "Foreground" | "Background" | "Orphan";
  /** How long a pod may take to end; 0 removes the object before its processes have ended. */
  readonly gracePeriodSeconds?: number;
}

export interface EvictOptions {
  readonly uid?: string;
}

export type CreateOutcome<T> = { readonly kind: "created"; readonly object: T } | { readonly kind: "already-exists" };

export type UpdateOutcome<T> =
  | { readonly kind: "updated"; readonly object: T }
  | { readonly kind: "conflict"; readonly message: string }
  | { readonly kind: "not-found" };

export type DeleteOutcome =
  /** `remaining`: the object as it stays until its finalizers are removed, or its dependents are deleted. */
  | { readonly kind: "deleted"; readonly remaining?: KubeObject }
  | { readonly kind: "conflict"; readonly message: string }
  | { readonly kind: "not-found" };

export type EvictOutcome =
  | { readonly kind: "evicted" }
  /** A disruption budget does not allow it now. */
  | { readonly kind: "blocked"; readonly message: string }
  | { readonly kind: "conflict"; readonly message: string }
  | { readonly kind: "not-found" };

export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/**
 * - `unavailable`: no response, or one that asks for a retry; a write may or may not have happened
 * - `forbidden`: the credentials do not allow this verb; the message names verb, resource and namespace
 * - `invalid`: the server understood and refuses the content
 * - `gone`: the resourceVersion is too old to continue from
 * - `aborted`: the caller's signal aborted
 */
export type KubeErrorCode = "unavailable" | "forbidden" | "invalid" | "gone" | "aborted";

/** The API server did not perform a request, for a reason that is not an expected outcome. */
export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly code: KubeErrorCode;

  constructor(code: KubeErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The output of one container. */
export interface PodLogQuery {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** Continue with new output until the container ends. */
  readonly follow: boolean;
  /** Only lines since then, in whole seconds. */
  readonly sinceTime?: string;
  readonly tailLines?: number;
}

/**
 * Port: the output of containers, which only a server with kubelets has. Each line begins with the time at which it was written, in
 * nanoseconds, and a space. The stream ends with the container, or earlier if a connection is lost: then it throws or ends.
 */
export type PodLogs = (query: PodLogQuery, call?: Call) => AsyncIterable<Buffer>;
