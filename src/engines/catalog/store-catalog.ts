import { isDeepStrictEqual } from "node:util";
import type { Call, KubeClient, ObjectRef } from "../../kube/index.ts";
import { managedBy, type RemediationWorkflow, remediationWorkflows } from "../../resources/index.ts";

/** The result for one entry. */
export type CatalogStep =
  | { readonly did: "create" | "keep"; readonly name: string }
  /** The store has another object with this name. `because` is a sentence with the fix. */
  | { readonly did: "leave"; readonly name: string; readonly because: string };

/**
 * Stores the entries that are missing. An existing version is never changed: executions refer to it, and its spec is immutable.
 * Entries whose file was removed stay, too. Safe to repeat, and on several replicas at once.
 */
export async function storeCatalog(
  client: KubeClient,
  { namespace, workflows }: { readonly namespace: string; readonly workflows: readonly RemediationWorkflow[] },
  call: Call = {},
): Promise<CatalogStep[]> {
  const steps: CatalogStep[] = [];
  for (const workflow of workflows) steps.push(await storeEntry(client, namespace, workflow, call));
  return steps;
}

async function storeEntry(
  client: KubeClient,
  namespace: string,
  { metadata, spec }: RemediationWorkflow,
  call: Call,
): Promise<CatalogStep> {
  const name = metadata.name ?? "";
  const labels = { ...metadata.labels, [managedBy.label]: managedBy.value };
  const { apiVersion, kind } = remediationWorkflows;
  const entry = { apiVersion, kind, metadata: { ...metadata, namespace, labels }, spec };
  for (;;) {
    const created = await client.create(remediationWorkflows, entry, call);
    const found = await client.get(remediationWorkflows, { namespace, name }, call);
    // Deleted between the two calls: the next create decides.
    if (!found) continue;
    const step = created.kind === "created" ? ({ did: "create", name } as const) : compareEntry(name, spec, found);
    // The replica that created the entry may have died before this. An entry that is not ours is never changed.
    if (step.did !== "leave" && isOurs(found) && !found.status) await activate(client, { namespace, name }, call);
    return step;
  }
}

async function activate(client: KubeClient, ref: ObjectRef, call: Call) {
  const merge = { status: { catalogStatus: "Active" } };
  await client.patch(remediationWorkflows, ref, { merge }, { ...call, subresource: "status" });
}

function compareEntry(name: string, spec: RemediationWorkflow["spec"], found: RemediationWorkflow): CatalogStep {
  if (isDeepStrictEqual(found.spec, spec)) return { did: "keep", name };
  const what = `version ${spec.version} of ${spec.workflowId} is in the catalog with another content`;
  const whose = isOurs(found) ? "" : ", and was not put there by us";
  return { did: "leave", name, because: `${what}${whose}: give yours a new version` };
}

function isOurs({ metadata }: RemediationWorkflow): boolean {
  return metadata.labels?.[managedBy.label] === managedBy.value;
}
