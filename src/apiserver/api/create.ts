import type { KubeObject, ObjectMeta } from "../../kube/index.ts";
import type { Random } from "../../time/index.ts";
import type { Draft } from "../json/json.ts";
import type { Entry } from "../object-store.ts";
import { applyDefaults } from "../structural/defaults.ts";
import type { Admit } from "./admission.ts";
import { type Api, commit, sealObject, timestamp } from "./api.ts";
import { contentProblems } from "./content-problems.ts";
import { type DecodedObject, decodeObject, type ReceivedObject } from "./decode-object.ts";
import { clientMetadata, finalizerWarnings, metadataProblems } from "./metadata.ts";
import { requiredField } from "./problem.ts";
import type { Resource } from "./resource.ts";
import { alreadyExists, badRequest, forbidden, invalid, notFound, StatusError } from "./status-error.ts";

export interface WriteOptions {
  readonly namespace: string;
  readonly dryRun?: boolean;
  /** Policies about the caller; without it the caller is trusted. */
  readonly admit?: Admit | undefined;
}

/** The object as written, and warnings for the client. */
export interface WriteResult {
  readonly entry: Entry;
  readonly warnings: readonly string[];
  readonly created?: boolean;
}

/** Creates an object. If a generated name is taken, another one is generated. */
export async function createObject(
  api: Api,
  resource: Resource,
  sent: ReceivedObject,
  { namespace, dryRun = false, admit }: WriteOptions,
): Promise<WriteResult> {
  const { draft, warnings } = decodeObject(resource, sent);
  const { metadata } = draft;
  checkNamespace(resource, metadata, namespace);
  requireActiveNamespace(api, resource, metadata, namespace);
  if (resource.refusal) throw forbidden(resource, metadata.name ?? "", resource.refusal);
  if (metadata.resourceVersion) throw badRequest("resourceVersion should not be set on objects to be created");

  for (let attempt = 1; ; attempt++) {
    const fresh = newObject(api, resource, draft, namespace);
    admit?.(fresh as unknown as KubeObject, undefined);
    try {
      const entry = await insert(api, resource, fresh, dryRun);
      return {
        entry: resource.view(entry),
        warnings: [...warnings, ...finalizerWarnings(resource, entry.object)],
        created: true,
      };
    } catch (error) {
      const isTaken = error instanceof StatusError && error.status.reason === "AlreadyExists";
      if (!isTaken || metadata.name || attempt === maxNames) throw error;
    }
  }
}

const maxNames = 8;

/** The namespace in an object must be the one in the request; on objects that have none it is dropped. */
export function checkNamespace(resource: Resource, metadata: ObjectMeta, namespace: string): void {
  if (!resource.namespaced || !metadata.namespace || metadata.namespace === namespace) return;
  throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

function requireActiveNamespace({ store }: Api, resource: Resource, { name = "" }: ObjectMeta, namespace: string) {
  if (!resource.namespaced) return;
  const found = store.get("namespaces", "", namespace);
  if (!found) throw notFound({ group: "", plural: "namespaces", kind: "Namespace" }, namespace);
  if (!found.object.metadata.deletionTimestamp) return;

  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { message = why, details } = forbidden(resource, name, why).status;
  const cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  };
  throw new StatusError(403, message, { details: { ...details, causes: [cause] } });
}

/** The draft as a new object, with the name, the times and the other fields that the server sets. */
function newObject(
  { clock, random }: Api,
  resource: Resource,
  draft: DecodedObject["draft"],
  namespace: string,
): Draft {
  const { name, generateName, ...sent } = draft.metadata;
  const chosen = name || (generateName ? `${generateName}${nameSuffix(random)}` : "");
  if (!chosen) throw invalid(resource, "", [requiredField("metadata.name", "name or generateName is required")]);
  const fresh: Draft = {
    ...draft,
    apiVersion: draft.apiVersion,
    kind: draft.kind,
    metadata: {
      name: chosen,
      ...(generateName ? { generateName } : {}),
      ...(resource.namespaced ? { namespace } : {}),
      uid: uuid(random),
      // Takes its place in the order of fields; the value comes with the revision.
      resourceVersion: undefined,
      ...(resource.hasGeneration ? { generation: 1 } : {}),
      creationTimestamp: timestamp(clock),
      ...clientMetadata(sent),
    },
  };
  if (resource.hasStatus) delete fresh.status;
  if (resource.custom) applyDefaults(fresh, resource.schema);
  resource.prepare?.(fresh, undefined);

  const object = fresh as unknown as KubeObject;
  const problems = [...metadataProblems(resource, object), ...contentProblems(resource, object, undefined)];
  if (problems.length > 0)
    throw invalid({ kind: resource.kind, group: resource.problemGroup ?? resource.group }, chosen, problems);
  return fresh;
}

function insert(api: Api, resource: Resource, fresh: Draft, dryRun: boolean): Promise<Entry> {
  const { namespace = "", name = "" } = fresh.metadata as ObjectMeta;
  return commit(api, resource, { namespace, name, dryRun }, (current, revision) => {
    if (current) {
      const isDeleting = current.object.metadata.deletionTimestamp !== undefined;
      throw alreadyExists(resource, name, isDeleting ? "object is being deleted: " : "");
    }
    const put = sealObject(fresh, dryRun ? undefined : revision);
    return { do: "put", ...put, result: { ...put, revision } };
  });
}

/** The five characters that end a generated name. */
function nameSuffix(random: Random): string {
  return pickCharacters("bcdfghjklmnpqrstvwxz2456789", 5, random);
}

/** A version 4 UUID. */
function uuid(random: Random): string {
  const digits = (count: number) => pickCharacters("0123456789abcdef", count, random);
  return `${digits(8)}-${digits(4)}-4${digits(3)}-${pickCharacters("89ab", 1, random)}${digits(3)}-${digits(12)}`;
}

function pickCharacters(alphabet: string, count: number, random: Random): string {
  let text = "";
  for (let i = 0; i < count; i++) text += alphabet[Math.floor(random.fraction() * alphabet.length)];
  return text;
}
