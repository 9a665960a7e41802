import { type Draft, isRecord, toDraft, writeJson } from "../json/json.ts";
import type { Entry } from "../object-store.ts";
import { applyJsonPatch } from "../patch/json-patch.ts";
import { applyMergePatch, applyStrategicMergePatch } from "../patch/merge-patch.ts";
import { type Api, commit } from "./api.ts";
import type { WriteResult } from "./create.ts";
import { decodePatched, type FieldValidation } from "./decode-object.ts";
import { invalidValue } from "./problem.ts";
import type { Resource } from "./resource.ts";
import { badRequest, invalid, modifiedConflict, notFound } from "./status-error.ts";
import { checkIdentity, replacement, type UpdateOptions } from "./update.ts";

export type PatchKind = "json" | "merge" | "strategic";

export interface PatchOptions extends UpdateOptions {
  readonly fieldValidation?: FieldValidation;
}

/** Changes an object by a patch. The patch sees the newest state, so it cannot lose a race. */
export function patchObject(
  api: Api,
  resource: Resource,
  patch: { readonly kind: PatchKind; readonly value: unknown },
  options: PatchOptions,
): Promise<WriteResult> {
  checkShape(patch);
  return commit(api, resource, options, (current, revision) => {
    if (!current) throw notFound(resource, options.name);
    const before = resource.view(current).object;
    const apply = () => applyPatch(resource, current, patch);
    const { fieldValidation = "Warn" } = options;
    const decoded = decodePatched(resource, { value: apply(), fieldValidation }, () => writeJson(apply()));
    const { metadata } = decoded.draft;
    checkIdentity(resource, metadata, options);
    if (metadata.uid && metadata.uid !== before.metadata.uid) {
      const problem = invalidValue("metadata.uid", metadata.uid, "field is immutable");
      throw invalid(resource, options.name, resource.custom ? [problem, problem] : [problem]);
    }
    const { resourceVersion } = metadata;
    if (resourceVersion && resourceVersion !== current.object.metadata.resourceVersion) {
      throw modifiedConflict(resource, options.name);
    }
    return replacement(resource, current, decoded, { ...options, revision });
  });
}

function checkShape({ kind, value }: { kind: PatchKind; value: unknown }) {
  if (kind === "json" ? Array.isArray(value) : isRecord(value)) return;
  const wanted = kind === "json" ? "an array of operations" : "an object";
  throw badRequest(`error decoding patch: json: the patch is not ${wanted}`);
}

function applyPatch(resource: Resource, entry: Entry, { kind, value }: { kind: PatchKind; value: unknown }): unknown {
  const { object } = resource.view(entry);
  // A patch may be applied more than once, and its values become part of the object.
  const patch = toDraft(value);
  // A large object is not copied to change a few fields, unless it was stored under another schema.
  if (kind === "merge") return applyMergePatch(resource.isCurrent(entry) ? object : toDraft(object), patch);
  const document: Draft = { ...toDraft(object) };
  return kind === "json" ? applyJsonPatch(document, patch as unknown[]) : applyStrategicMergePatch(document, patch);
}
