import type { KubeObject, ObjectMeta } from "../../kube/index.ts";
import { type Draft, sameJson } from "../json/json.ts";
import type { Entry, WriteDecision } from "../object-store.ts";
import { applyDefaults } from "../structural/defaults.ts";
import { type Api, commit, sealObject } from "./api.ts";
import { contentProblems } from "./content-problems.ts";
import { checkNamespace, createObject, type WriteOptions, type WriteResult } from "./create.ts";
import { type DecodedObject, decodeObject, type ReceivedObject } from "./decode-object.ts";
import { clientMetadata, finalizerWarnings, metadataUpdateProblems } from "./metadata.ts";
import { invalidValue } from "./problem.ts";
import type { Resource } from "./resource.ts";
import { badRequest, invalid, modifiedConflict, notFound, uidConflict } from "./status-error.ts";

export interface UpdateOptions extends WriteOptions {
  readonly name: string;
  readonly subresource?: "status" | undefined;
}

/** Replaces an object, or its status alone. */
export async function updateObject(
  api: Api,
  resource: Resource,
  sent: ReceivedObject,
  options: UpdateOptions,
): Promise<WriteResult> {
  const decoded = decodeObject(resource, sent);
  checkIdentity(resource, decoded.draft.metadata, options);

  const { name, namespace } = options;
  if (resource.createdByUpdate && !api.store.get(resource.storedAs, namespace, name)) {
    const wanted = decoded.draft.metadata.uid;
    if (wanted) throw uidConflict(resource, name, { wanted, found: "" });
    delete decoded.draft.metadata.resourceVersion;
    return await createObject(api, resource, { value: decoded.draft, fieldValidation: "Ignore" }, options);
  }
  return await commit(api, resource, options, (current, revision) => {
    if (!current) throw notFound(resource, name);
    checkPreconditions(resource, decoded.draft.metadata, current);
    return replacement(resource, current, decoded, { ...options, revision });
  });
}

/** The object in the body must be the one that the request names. */
export function checkIdentity(resource: Resource, metadata: ObjectMeta, { name, namespace }: UpdateOptions): void {
  if (metadata.name && metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  checkNamespace(resource, metadata, namespace);
}

function checkPreconditions(resource: Resource, { uid, resourceVersion }: ObjectMeta, { object }: Entry) {
  const { name = "" } = object.metadata;
  if (uid && uid !== object.metadata.uid) {
    throw uidConflict(resource, name, { wanted: uid, found: object.metadata.uid ?? "" });
  }
  if (!resourceVersion || resourceVersion === "0") {
    if (resource.unconditionalUpdate) return;
    const problem = invalidValue("metadata.resourceVersion", 0, "must be specified for an update");
    const worded = { ...problem, message: problem.message.replace("value: 0:", "value: 0x0:") };
    // The real server names the plural here, and the kind everywhere else.
    throw invalid({ group: resource.group, kind: resource.plural }, name, [worded]);
  }
  if (resourceVersion !== object.metadata.resourceVersion) throw modifiedConflict(resource, name);
}

/** The decision about a stored object that another is to replace. */
export function replacement(
  resource: Resource,
  stored: Entry,
  { draft, warnings }: DecodedObject,
  { revision, subresource, admit }: UpdateOptions & { readonly revision: number },
): WriteDecision<WriteResult> {
  const current = resource.refresh(stored);
  const old = current.object;
  const next = subresource === "status" ? withStatus(resource, old, draft) : withContent(resource, old, draft);
  const object = next as unknown as KubeObject;
  const problems = [...metadataUpdateProblems(resource, object, old), ...contentProblems(resource, object, current)];
  if (problems.length > 0) throw invalid(resource, old.metadata.name ?? "", problems);
  admit?.(object, old);
  if (sameJson(next, old)) return { do: "nothing", result: { entry: resource.view(current), warnings } };

  countGeneration(resource, next, old);
  // The response to removing the last finalizer is the object at its old version; the new version is its deletion.
  const ends =
    old.metadata.deletionTimestamp !== undefined && !object.metadata.finalizers && !hasSpecFinalizers(object);
  const shownAt = ends ? current.revision : revision;
  const put = sealObject(next, shownAt);
  const result = {
    entry: resource.view({ ...put, revision: shownAt }),
    warnings: [...warnings, ...finalizerWarnings(resource, object, old)],
  };
  return ends ? { do: "delete", ...markEnded(old, revision), result } : { do: "put", ...put, result };
}

/** An object in its last state, at the revision of its end. */
export function markEnded(object: KubeObject, revision: number): { object: KubeObject; json: string } {
  return sealObject({ ...object }, revision);
}

/** Whether the object is a namespace with finalizers of its own, which are in its spec. */
function hasSpecFinalizers(object: KubeObject): boolean {
  const finalizers: unknown = Reflect.get(Object(Reflect.get(object, "spec")), "finalizers");
  return object.kind === "Namespace" && Array.isArray(finalizers) && finalizers.length > 0;
}

function withContent(resource: Resource, old: KubeObject, draft: DecodedObject["draft"]): Draft {
  const { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } =
    old.metadata;
  const { generateName, ...sent } = draft.metadata;
  const kept = { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds };
  const metadata: Draft = {
    name: old.metadata.name,
    ...(generateName ? { generateName } : {}),
    ...(resource.namespaced ? { namespace: old.metadata.namespace } : {}),
  };
  for (const [field, value] of Object.entries(kept)) if (value !== undefined) metadata[field] = value;
  const next: Draft = { ...draft, metadata: { ...metadata, ...clientMetadata(sent) } };
  if (resource.hasStatus) keepStatus(next, old);
  if (resource.custom) applyDefaults(next, resource.schema);
  resource.prepare?.(next, old);
  return next;
}

function keepStatus(next: Draft, old: KubeObject) {
  const status: unknown = Reflect.get(old, "status");
  if (status === undefined) delete next.status;
  else next.status = status;
}

function withStatus(resource: Resource, old: KubeObject, draft: Draft): Draft {
  const next: Draft = { ...old };
  if (draft.status === undefined) delete next.status;
  else next.status = draft.status;
  if (resource.custom) applyDefaults(next.status, resource.schema.properties?.["status"] ?? {});
  return next;
}

/** Everything but metadata counts; status too, where it is not a subresource. */
function countGeneration(resource: Resource, next: Draft, old: KubeObject) {
  if (!resource.hasGeneration) return;
  const content = ({ metadata: _, ...rest }: Draft) => {
    if (!resource.hasStatus) return rest;
    const { status: __, ...spec } = rest;
    return spec;
  };
  if (sameJson(content(next), content({ ...old }))) return;
  next.metadata = { ...(next.metadata as object), generation: (old.metadata.generation ?? 0) + 1 };
}
