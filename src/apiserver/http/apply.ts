import type { Admit } from "../api/admission.ts";
import type { Api } from "../api/api.ts";
import type { WriteResult } from "../api/create.ts";
import { patchObject } from "../api/patch.ts";
import type { Resource } from "../api/resource.ts";
import { notFound, StatusError, unsupportedMedia } from "../api/status-error.ts";
import { isRecord, member, sameJson } from "../json/json.ts";

export interface ApplyOptions {
  readonly namespace: string;
  readonly name: string;
  readonly subresource?: "status";
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly admit: Admit;
}

/**
 * Server-side apply needs a record of the owner of every field, which is not kept. Two requests have the same response with
 * and without that record; all others are refused.
 *  - A status applied to an object without one: no field has an owner, so the result is the applied status.
 *  - A Lease applied without force over a different value: its writer did not apply it, so it is a conflict.
 */
export async function serverSideApply(
  api: Api,
  resource: Resource,
  applied: unknown,
  options: ApplyOptions,
): Promise<WriteResult> {
  const { namespace, name, subresource, force, dryRun, admit } = options;
  const current = api.store.get(resource.storedAs, namespace, name);
  if (subresource === "status" && !current) throw notFound(resource, name);

  const status = member(applied, "status");
  if (current && subresource === "status" && status !== undefined && member(current.object, "status") === undefined) {
    const value = { metadata: { resourceVersion: current.object.metadata.resourceVersion }, status };
    return patchObject(api, resource, { kind: "merge", value }, { namespace, name, subresource, dryRun, admit });
  }
  if (current && resource.kind === "Lease" && !force) {
    const differing = differences(member(applied, "spec"), member(current.object, "spec"), ".spec");
    if (differing.length > 0) throw applyConflict(resource, differing);
  }
  const instead =
    "use application/merge-patch+json or application/json-patch+json; with kubectl: apply without --server-side";
  throw unsupportedMedia(
    `server-side apply is not supported by this server, which keeps no field ownership: ${instead}`,
  );
}

function differences(applied: unknown, current: unknown, path: string): string[] {
  if (isRecord(applied) && isRecord(current)) {
    const fields = Object.keys(applied).filter((field) => Object.hasOwn(current, field));
    return fields.flatMap((field) => differences(applied[field], current[field], `${path}.${field}`));
  }
  return applied === undefined || sameJson(applied, current) ? [] : [path];
}

function applyConflict({ apiVersion }: Resource, fields: readonly string[]): StatusError {
  const owner = `conflict with "unknown" using ${apiVersion}`;
  const count = `${fields.length} conflict${fields.length === 1 ? "" : "s"}`;
  return new StatusError(409, `Apply failed with ${count}: ${owner}: ${fields.join(", ")}`, {
    details: { causes: fields.map((field) => ({ reason: "FieldManagerConflict", message: owner, field })) },
  });
}
