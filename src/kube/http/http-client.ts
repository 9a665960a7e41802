import type { Clock, Random } from "../../time/index.ts";
import type {
  Call,
  CreateCall,
  CreateOutcome,
  DeleteOptions,
  DeleteOutcome,
  EvictOptions,
  EvictOutcome,
  KubeClient,
  List,
  ListQuery,
  Patch,
  PodLogQuery,
  PodLogs,
  UpdateOutcome,
  WatchEvent,
  WatchQuery,
  WriteCall,
} from "../client.ts";
import type { Connection } from "../connection/connection.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../object.ts";
import { listPages, type PageQuery } from "./list-pages.ts";
import { checkOperation, type Operation, operationPath, toQuery } from "./operation.ts";
import { logChunks, logParameters } from "./pod-log.ts";
import { type HttpResponse, openStream } from "./read-response.ts";
import { type Limits, type Message, requester } from "./requester.ts";
import { ServerTime } from "./server-time.ts";
import { isObjectMissing, parseContent, parseStatus, statusMessage, toKubeError } from "./status.ts";
import { type WatchLimits, watchEvents } from "./watch.ts";

export interface HttpClientOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: Partial<HttpClientLimits>;
}

export interface HttpClientLimits extends Limits, WatchLimits {
  readonly pageSize: number;
}

const mebibyte = 1_024 * 1_024;

const defaultLimits: HttpClientLimits = {
  connectMs: 5_000,
  headersMs: 15_000,
  callMs: 30_000,
  maxResponseBytes: 256 * mebibyte,
  pageSize: 500,
  watchSeconds: 300,
  silenceMs: 90_000,
  maxEventBytes: 16 * mebibyte,
};

/** The port, and the logs that only a server with kubelets has. */
export interface HttpClient extends KubeClient {
  readonly podLogs: PodLogs;
}

/** A Kubernetes API server over HTTP. */
export function httpClient({ connection, clock, random, ...options }: HttpClientOptions): HttpClient {
  const limits = { ...defaultLimits, ...options.limits };
  const serverTime = new ServerTime(clock);
  const request = requester({ connection, clock, random, limits, serverTime });
  const transport = { request, limits, clock, random };
  return { serverNowMs: () => serverTime.nowMs(), ...readCalls(transport), ...writeCalls(transport) };
}

/** The parts that all calls use. */
interface Transport {
  readonly request: ReturnType<typeof requester>;
  readonly limits: HttpClientLimits;
  readonly clock: Clock;
  readonly random: Random;
}

function readCalls(transport: Transport): Pick<HttpClient, "get" | "list" | "watch" | "podLogs"> {
  const { request, limits, clock, random } = transport;
  return {
    async get<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, call: Call = {}) {
      const operation = checkOperation({ verb: "get", type, ...pickRef(ref) });
      const response = await request(operation, { method: "GET", path: operationPath(operation) }, call);
      if (isSuccess(response)) return parseContent<T>(response, operation);

      const status = parseStatus(response);
      if (isObjectMissing(status)) return undefined;
      throw toKubeError(status, operation);
    },

    async list<T extends KubeObject>(type: ResourceType<T>, query: ListQuery = {}, call: Call = {}): Promise<List<T>> {
      const operation: Operation = { verb: "list", type, namespace: query.namespace };
      const requestPage = (page: PageQuery) =>
        request(operation, { method: "GET", path: operationPath(operation) + toQuery(query, page) }, call);
      return listPages<T>(operation, limits.pageSize, requestPage);
    },

    async *podLogs({ namespace, pod, ...wanted }: PodLogQuery, { signal }: Call = {}) {
      const operation = checkOperation({ verb: "get", type: pods, namespace, name: pod, subresource: "log" } as const);
      const path = operationPath(operation) + logParameters(wanted);
      const response = await request(
        operation,
        { method: "GET", path, accept: "text/plain, application/json" },
        { signal, receive: openStream },
      );
      if (!response.stream) throw toKubeError(parseStatus(response), operation);
      yield* logChunks(response.stream, operation, signal);
    },

    async *watch<T extends KubeObject>(type: ResourceType<T>, query: WatchQuery, { signal }: Call = {}) {
      const operation: Operation = { verb: "watch", type, namespace: query.namespace };
      const timeoutSeconds = String(Math.round(limits.watchSeconds * (1 + random.fraction())));
      const { resourceVersion } = query;
      const parameters = { watch: "true", allowWatchBookmarks: "true", resourceVersion, timeoutSeconds };
      const message: Message = { method: "GET", path: operationPath(operation) + toQuery(query, parameters) };
      const open = () => request(operation, message, { signal, receive: openStream });
      const events = watchEvents({ operation, clock, limits, open, ...(signal ? { signal } : {}) });
      yield* events as AsyncIterable<WatchEvent<T>>;
    },
  };
}

function writeCalls({ request }: Transport): Pick<KubeClient, "create" | "update" | "patch" | "delete" | "evict"> {
  async function write<T extends KubeObject>(
    operation: Operation,
    message: Message,
    call: Call,
  ): Promise<UpdateOutcome<T>> {
    const response = await request(operation, message, call);
    if (isSuccess(response)) return { kind: "updated", object: parseContent<T>(response, operation) };

    const status = parseStatus(response);
    if (isObjectMissing(status)) return { kind: "not-found" };
    if (status.code === 409) return { kind: "conflict", message: status.message ?? "" };
    throw toKubeError(status, operation);
  }

  return {
    async create<T extends KubeObject>(
      type: ResourceType<T>,
      object: T,
      call: CreateCall = {},
    ): Promise<CreateOutcome<T>> {
      const { namespace, name } = object.metadata;
      // The name of a new object is in its body alone.
      const path = operationPath(checkOperation({ verb: "create", type, namespace })) + dryRunQuery(call);
      const operation: Operation = { verb: "create", type, namespace, name };
      const response = await request(operation, { method: "POST", path, ...toBody(wholeObject(type, object)) }, call);
      if (isSuccess(response)) return { kind: "created", object: parseContent<T>(response, operation) };

      const status = parseStatus(response);
      if (status.code === 409 && status.reason === "AlreadyExists") return { kind: "already-exists" };
      throw toKubeError(status, operation);
    },

    async update<T extends KubeObject>(type: ResourceType<T>, object: T, call: WriteCall = {}) {
      const { subresource } = call;
      const operation = checkOperation({ verb: "update", type, ...pickRef(object.metadata), subresource });
      const path = operationPath(operation) + dryRunQuery(call);
      return write<T>(operation, { method: "PUT", path, ...toBody(wholeObject(type, object)) }, call);
    },

    async patch<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, patch: Patch, call: WriteCall = {}) {
      const { subresource } = call;
      const operation = checkOperation({ verb: "patch", type, ...pickRef(ref), subresource });
      const body =
        "json" in patch
          ? toBody(patch.json, "application/json-patch+json")
          : toBody(patch.merge, "application/merge-patch+json");
      return write<T>(
        operation,
        { method: "PATCH", path: operationPath(operation) + dryRunQuery(call), ...body },
        call,
      );
    },

    async delete(
      type: ResourceType,
      ref: ObjectRef,
      options: DeleteOptions = {},
      call: Call = {},
    ): Promise<DeleteOutcome> {
      const operation = checkOperation({ verb: "delete", type, ...pickRef(ref) });
      const body = toBody(wholeDeleteOptions(options));
      const outcome = await write(operation, { method: "DELETE", path: operationPath(operation), ...body }, call);
      if (outcome.kind !== "updated") return outcome;
      // Without finalizers the server returns a Status, or the last version of the object.
      const isRemaining = outcome.object.metadata?.deletionTimestamp !== undefined;
      return isRemaining ? { kind: "deleted", remaining: outcome.object } : { kind: "deleted" };
    },

    evict: (pod, options, call) => evict({ request }, pod, options, call),
  };
}

function wholeDeleteOptions({ preconditions, propagation, gracePeriodSeconds }: DeleteOptions): object {
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(preconditions ? { preconditions } : {}),
    ...(propagation ? { propagationPolicy: propagation } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  };
}

async function evict(
  { request }: Pick<Transport, "request">,
  pod: ObjectRef,
  { uid }: EvictOptions = {},
  call: Call = {},
): Promise<EvictOutcome> {
  const operation = checkOperation({ verb: "create", type: pods, ...pickRef(pod), subresource: "eviction" } as const);
  const eviction = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: pickRef(pod),
    ...(uid === undefined ? {} : { deleteOptions: { preconditions: { uid } } }),
  };
  const message = { method: "POST", path: operationPath(operation), ...toBody(eviction), isFinalAt: 429 } as const;
  const response = await request(operation, message, call);
  if (isSuccess(response)) return { kind: "evicted" };

  const status = parseStatus(response);
  if (isObjectMissing(status)) return { kind: "not-found" };
  if (status.code === 409) return { kind: "conflict", message: status.message ?? "" };
  if (status.code === 429) return { kind: "blocked", message: statusMessage(status) };
  throw toKubeError(status, operation);
}

const pods: ResourceType = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };

function dryRunQuery({ dryRun = false }: CreateCall): string {
  return dryRun ? "?dryRun=All" : "";
}

function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300;
}

function pickRef({ namespace, name }: Partial<ObjectRef>) {
  return { namespace, name };
}

/** The caller may omit the fields that the type determines. */
function wholeObject({ apiVersion, kind }: ResourceType, object: KubeObject): KubeObject {
  return { apiVersion, kind, ...object };
}

function toBody(content: unknown, contentType = "application/json") {
  return { body: JSON.stringify(content), contentType };
}
