import { createObject, type WriteResult } from "../api/create.ts";
import { unrecognizedKind } from "../api/decode-object.ts";
import { deleteObject } from "../api/delete.ts";
import { evictPod } from "../api/evict.ts";
import { listObjects, parseRevision, tooLarge } from "../api/list.ts";
import { type PatchKind, patchObject } from "../api/patch.ts";
import type { Resource } from "../api/resource.ts";
import {
  type ApiStatus,
  badRequest,
  methodNotAllowed,
  notFound,
  pluralDetails,
  StatusError,
  unknownPath,
  unsupportedMedia,
  unsupportedVerb,
} from "../api/status-error.ts";
import { updateObject } from "../api/update.ts";
import { member } from "../json/json.ts";
import type { Parsed } from "../json/parse-json.ts";
import { serverSideApply } from "./apply.ts";
import { authorize } from "./authorize.ts";
import type { Exchange } from "./exchange.ts";
import { parseDeleteOptions, parseDryRun, parseFieldValidation, parseFlag, parseNumber } from "./options.ts";
import { contentType } from "./read-body.ts";
import type { Route } from "./route.ts";
import { sendStatus, setWarnings } from "./send.ts";
import { sendList, sendObject } from "./write-object.ts";

type CollectionRoute = Extract<Route, { kind: "collection" }>;
type ObjectRoute = Extract<Route, { kind: "object" }>;

/** Requests on all objects of a resource, or on those of a namespace. */
export async function handleCollection(exchange: Exchange, { resource, namespace }: CollectionRoute): Promise<void> {
  const { method, query } = exchange;
  const selectors = {
    namespace,
    labelSelector: query.get("labelSelector") ?? undefined,
    fieldSelector: query.get("fieldSelector") ?? undefined,
  };
  if (method === "GET") {
    const watches = parseFlag(query, "watch");
    authorize(exchange.caller, watches ? "watch" : "list", { resource, namespace, name: "" });
    const versions = {
      resourceVersion: query.get("resourceVersion") ?? undefined,
      resourceVersionMatch: query.get("resourceVersionMatch") ?? undefined,
      sendInitialEvents: parseFlag(query, "sendInitialEvents"),
      continue: query.get("continue") ?? undefined,
    };
    if (watches) return exchange.watches.begin(exchange, resource, { ...selectors, ...versions });
    const limit = Math.max(0, parseNumber(query, "limit") ?? 0);
    return sendList(exchange, resource, listObjects(exchange.api, resource, { ...selectors, ...versions, limit }));
  }
  authorize(exchange.caller, method === "POST" ? "create" : "deletecollection", { resource, namespace, name: "" });
  if (resource.namespaced && namespace === undefined) throw methodNotAllowed();
  if (method === "POST") return await create(exchange, resource, namespace ?? "");
  if (method !== "DELETE" || !resource.verbs.includes("deletecollection")) throw methodNotAllowed();

  const options = parseDeleteOptions(await readOptions(exchange), query);
  const page = listObjects(exchange.api, resource, selectors);
  for (const { object } of page.items) {
    const ref = { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
    await deleteObject(exchange.api, resource, ref, {
      ...options,
      preconditions: { uid: object.metadata.uid ?? "" },
    }).catch((error) => {
      // Another client was faster: the object is deleted, as requested.
      if (!(error instanceof StatusError && [404, 409].includes(error.status.code))) throw error;
    });
  }
  sendList(exchange, resource, page);
}

/** Requests on one object or on a subresource of it. */
export async function handleObject(exchange: Exchange, where: ObjectRoute): Promise<void> {
  const { resource, namespace, name, subresource } = where;
  if (subresource === "eviction" && resource.storedAs === "pods") return await evict(exchange, where);
  const isStatus = subresource === "status" && resource.hasStatus;
  if (subresource && !isStatus) throw subresourceRefusal(resource, name, subresource);

  const ref = { namespace, name, ...(isStatus && { subresource: "status" as const }) };
  switch (exchange.method) {
    case "GET":
      authorize(exchange.caller, "get", where);
      return sendObject(exchange, resource, readStored(exchange, where));
    case "PUT":
      authorize(exchange.caller, "update", where);
      return await update(exchange, resource, ref);
    case "PATCH":
      authorize(exchange.caller, "patch", where);
      return await patch(exchange, resource, ref);
    case "DELETE":
      if (isStatus) break;
      authorize(exchange.caller, "delete", where);
      return await remove(exchange, resource, ref);
  }
  if (!isStatus || !resource.custom) throw methodNotAllowed();
  throw unsupportedVerb(resource, exchange.method === "DELETE" ? "delete" : "create");
}

async function evict(exchange: Exchange, where: ObjectRoute): Promise<void> {
  authorize(exchange.caller, "create", where);
  if (exchange.method !== "POST") throw methodNotAllowed();
  const dryRun = parseDryRun(exchange.query, "CreateOptions");
  const eviction = await readOptions(exchange);
  const uid = member(eviction, "deleteOptions", "preconditions", "uid");
  const { api, response } = exchange;
  await evictPod(api, where.resource, where, { ...(typeof uid === "string" && { uid }), dryRun });
  sendStatus(response, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
}

function subresourceRefusal(resource: Resource, name: string, subresource: string): StatusError {
  if (resource.subresources.some((one) => one.name === subresource)) {
    const message = `this embedded API server does not serve ${resource.plural}/${subresource}: nothing here runs pods or issues tokens`;
    return new StatusError(405, message, { details: pluralDetails(resource, name) });
  }
  return resource.custom ? notFound(resource, name) : unknownPath();
}

function readStored({ api, query }: Exchange, { resource, namespace, name }: ObjectRoute) {
  const version = query.get("resourceVersion");
  if (version) {
    const wanted = parseRevision(version);
    if (wanted > api.store.revision) throw tooLarge(wanted, api.store.revision);
  }
  const entry = api.store.get(resource.storedAs, namespace, name);
  if (!entry) throw notFound(resource, name);
  return resource.view(entry);
}

async function create(exchange: Exchange, resource: Resource, namespace: string): Promise<void> {
  const { fieldValidation, ...options } = writeOptions(exchange, resource, "CreateOptions");
  const sent = { ...(await readObject(exchange, resource)), fieldValidation };
  sendWritten(exchange, resource, await createObject(exchange.api, resource, sent, { namespace, ...options }));
}

interface Ref {
  readonly namespace: string;
  readonly name: string;
  readonly subresource?: "status";
}

/** The options of a write. `kind` is their name in errors. */
function writeOptions({ admission, caller, query }: Exchange, resource: Resource, kind: string, ref?: Ref) {
  return {
    admit: admission({ username: caller.name, resource, subresource: ref?.subresource }),
    dryRun: parseDryRun(query, kind),
    fieldValidation: parseFieldValidation(query, kind),
  };
}

async function update(exchange: Exchange, resource: Resource, ref: Ref): Promise<void> {
  const { fieldValidation, ...options } = writeOptions(exchange, resource, "UpdateOptions", ref);
  const sent = { ...(await readObject(exchange, resource)), fieldValidation };
  sendWritten(exchange, resource, await updateObject(exchange.api, resource, sent, { ...ref, ...options }));
}

async function patch(exchange: Exchange, resource: Resource, ref: Ref): Promise<void> {
  const options = { ...ref, ...writeOptions(exchange, resource, "PatchOptions", ref) };
  const type = contentType(exchange.request);
  const kind = patchKinds.get(type);
  if (type === "application/apply-patch+yaml") {
    const value = await decodePatch(exchange, "application/yaml");
    const force = parseFlag(exchange.query, "force") ?? false;
    return sendWritten(exchange, resource, await serverSideApply(exchange.api, resource, value, { ...options, force }));
  }
  if (!kind) throw new StatusError(415, "415: Unsupported Media Type", { details: {} });
  if (kind === "strategic" && resource.custom) throw unsupportedMedia(`${unknownFormat} ${customPatchTypes}`);

  const value = await decodePatch(exchange, "application/json");
  sendWritten(exchange, resource, await patchObject(exchange.api, resource, { kind, value }, options));
}

/** A Map: the type comes from the request, and an object would also have "constructor" and "__proto__". */
const patchKinds: ReadonlyMap<string, PatchKind> = new Map([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
]);

const unknownFormat = "the body of the request was in an unknown format - accepted media types include:";
const customPatchTypes = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

async function decodePatch({ request, bodies }: Exchange, type: "application/json" | "application/yaml") {
  const text = await bodies.text(request);
  return (await bodies.parse(text, type, (why) => badRequest(`error decoding patch: ${why}`))).value;
}

async function remove(exchange: Exchange, resource: Resource, ref: Ref): Promise<void> {
  const options = parseDeleteOptions(await readOptions(exchange), exchange.query);
  const { gone, entry } = await deleteObject(exchange.api, resource, ref, options);
  if (!gone) return sendObject(exchange, resource, entry);
  const { uid } = entry.object.metadata;
  const status: ApiStatus = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { ...pluralDetails(resource, ref.name), ...(uid === undefined ? {} : { uid }) },
  };
  sendStatus(exchange.response, status);
}

function sendWritten(exchange: Exchange, resource: Resource, { entry, warnings, created }: WriteResult): void {
  setWarnings(exchange.response, warnings);
  sendObject(exchange, resource, entry, created ? 201 : 200);
}

/** Reads the object in the body. A body that cannot be parsed is reported like an object of an unknown kind. */
async function readObject({ request, bodies }: Exchange, resource: Resource): Promise<Parsed> {
  const text = await bodies.text(request);
  return await bodies.parse(text, contentType(request), (why) =>
    unrecognizedKind(resource, `couldn't get version/kind; json parse error: ${why}`),
  );
}

/** Reads an optional JSON body: the options of a delete, or an eviction. */
async function readOptions({ request, bodies }: Exchange): Promise<unknown> {
  const text = await bodies.text(request);
  if (text.trim() === "") return undefined;
  const refuse = (why: string) => badRequest(`the delete options cannot be read: ${why}`);
  return (await bodies.parse(text, contentType(request), refuse)).value;
}
