import type { ObjectMeta } from "../../kube/index.ts";
import { type Draft, isRecord, member, writeJson } from "../json/json.ts";
import { objectMeta } from "../kinds/object-meta.ts";
import { decodeValue, prune } from "../structural/decode.ts";
import { WrongTypeError } from "../structural/decode-scalar.ts";
import { invalidValue } from "./problem.ts";
import type { Resource } from "./resource.ts";
import { badRequest, invalid, StatusError } from "./status-error.ts";

/** How to handle fields that are not in the schema or occur twice. */
export type FieldValidation = "Strict" | "Warn" | "Ignore";

/** A sent object: a private tree, and the fields that occur twice in it. */
export interface ReceivedObject {
  readonly value: unknown;
  readonly duplicates?: readonly string[];
  readonly fieldValidation?: FieldValidation;
}

export interface DecodedObject {
  /** Has `metadata`, and only fields of the schema. */
  readonly draft: Draft & { metadata: { -readonly [Field in keyof ObjectMeta]: ObjectMeta[Field] } };
  readonly warnings: readonly string[];
}

/** Decodes a sent object of `resource`, in the stored version's form. Throws 400 or 422 for any other input. */
export function decodeObject(resource: Resource, sent: ReceivedObject): DecodedObject {
  const draft = sent.value;
  if (!isRecord(draft)) throw unrecognizedKind(resource, "json: cannot unmarshal into Go value of type struct");
  checkKind(resource, draft);
  const unknown: string[] = [];
  try {
    prepareTree(resource, draft, unknown);
  } catch (error) {
    if (!(error instanceof WrongTypeError)) throw error;
    throw badRequest(`${asKind(resource)}: ${error.message}`);
  }
  const unusual = [
    ...(sent.duplicates ?? []).map((field) => `duplicate field ${JSON.stringify(field)}`),
    ...unknown.sort().map((field) => `unknown field ${JSON.stringify(field)}`),
  ];
  if (sent.fieldValidation === "Strict" && unusual.length > 0) {
    throw badRequest(`${asKind(resource)}: strict decoding error: ${unusual.join(", ")}`);
  }
  const converted = resource.conversion?.toStored(draft) ?? draft;
  const warnings = sent.fieldValidation === "Ignore" ? [] : unusual;
  return { draft: converted as DecodedObject["draft"], warnings };
}

/** Like `decodeObject` for the result of a patch: its errors are errors of the patch. `text` returns the JSON of that result. */
export function decodePatched(resource: Resource, sent: ReceivedObject, text: () => string): DecodedObject {
  try {
    return decodeObject(resource, sent);
  } catch (error) {
    if (!(error instanceof StatusError) || !error.message.startsWith(asKind(resource))) throw error;
    const why = error.message.slice(asKind(resource).length + 2);
    throw invalid({ group: "", kind: "" }, "", [invalidValue("patch", text(), why)]);
  }
}

function prepareTree(resource: Resource, draft: Draft, unknown: string[]) {
  if (!resource.custom) {
    decodeValue(draft, resource.schema, "", unknown);
    draft.metadata ??= {};
    return;
  }
  if (!isRecord(draft.metadata ?? {})) throw new WrongTypeError("metadata is not an object");
  draft.metadata = decodeValue(draft.metadata ?? {}, objectMeta, "metadata", unknown);
  prune(draft, resource.schema, "", unknown);
}

function checkKind(resource: Resource, draft: Draft) {
  const { apiVersion, kind } = draft;
  if (resource.custom) return checkCustomKind(resource, draft);
  if ((kind ?? "") !== "" && kind !== resource.kind) {
    throw badRequest(
      `${String(kind)} in version ${JSON.stringify(apiVersion ?? "")} cannot be handled as a ${resource.kind}: no match`,
    );
  }
  if ((apiVersion ?? "") !== "" && apiVersion !== resource.apiVersion) throw otherVersion(resource, apiVersion);
  draft.apiVersion = resource.apiVersion;
  draft.kind = resource.kind;
}

function checkCustomKind(resource: Resource, draft: Draft) {
  const { apiVersion, kind } = draft;
  if (typeof kind !== "string" || kind === "") {
    const text = writeJson(draft);
    throw unrecognizedKind(resource, `Object 'Kind' is missing in '${text}' (${text.slice(0, 30)} ...)`);
  }
  if (apiVersion !== resource.apiVersion) throw otherVersion(resource, apiVersion);
  if (kind === resource.kind) return;
  const name = member(draft.metadata, "name");
  throw invalid({ group: resource.group, kind }, typeof name === "string" ? name : "", [
    invalidValue("kind", kind, `must be ${resource.kind}`),
  ]);
}

function otherVersion({ apiVersion }: Resource, sent: unknown) {
  return badRequest(
    `the API version in the data (${String(sent ?? "")}) does not match the expected API version (${apiVersion})`,
  );
}

/** The error of a body that is not an object of any kind. */
export function unrecognizedKind({ kind }: { kind: string }, why: string): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why}`);
}

function asKind({ kind, version }: Resource): string {
  return `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}`;
}
