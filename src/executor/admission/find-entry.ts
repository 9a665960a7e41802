import type { Informer, KubeClient } from "../../kube/index.ts";
import {
  type CatalogLookup,
  foundEntry,
  type Kinds,
  lookUpEntry,
  type RecordHolder,
  type RemediationWorkflow,
  remediationWorkflows,
  type WorkflowExecution,
} from "../../resources/index.ts";

/** The caches of the catalog. */
export interface CatalogCaches {
  readonly client: KubeClient;
  /** Without entries of other namespaces. */
  readonly entries: Informer<RemediationWorkflow, "workflowId">;
  readonly catalogNamespace: string;
  readonly kinds: Kinds;
}

/**
 * Finds the catalog entry of an execution's workflow. Before its run exists the entry is confirmed by the server: an entry
 * that was just removed or replaced is not run, and one that was just added is found.
 */
export async function findEntry(
  execution: WorkflowExecution,
  holder: RecordHolder | undefined,
  caches: CatalogCaches,
  signal: AbortSignal,
): Promise<CatalogLookup> {
  const { workflowRef } = execution.spec;
  const cached = lookUp(caches.entries.byIndex("workflowId", workflowRef.workflowId), execution, holder, caches);
  if (!isBeforeRun(execution)) return cached;
  if (cached.kind === "entry" && (await isUnchanged(cached.entry, caches, signal))) return cached;
  const { items } = await caches.client.list(remediationWorkflows, { namespace: caches.catalogNamespace }, { signal });
  const entries = items.filter(({ spec }) => spec.workflowId === workflowRef.workflowId);
  return lookUp(entries, execution, holder, caches);
}

/** An execution continues with the entry that admitted it: the current version may be another one. */
function lookUp(
  entries: readonly RemediationWorkflow[],
  { spec }: WorkflowExecution,
  holder: RecordHolder | undefined,
  { kinds }: CatalogCaches,
): CatalogLookup {
  const uid = holder?.catalogEntryUid;
  if (uid === undefined) return lookUpEntry(entries, spec.workflowRef, kinds);
  const entry = entries.find(({ metadata }) => metadata.uid === uid);
  const problem = `the catalog entry that admitted it was removed or replaced`;
  return entry ? foundEntry(entry, entries, kinds) : { kind: "unusable", problem };
}

/** Whether the execution has no run yet. A new execution becomes Pending and is admitted in one reconciliation. */
export function isBeforeRun({ status }: WorkflowExecution): boolean {
  return status === undefined || status.phase === "Pending";
}

/** Whether the server has the cached version of the entry. */
export async function isUnchanged(
  { metadata }: RemediationWorkflow,
  { client }: Pick<CatalogCaches, "client">,
  signal: AbortSignal,
): Promise<boolean> {
  const { name = "", namespace = "", uid, resourceVersion } = metadata;
  const current = await client.get(remediationWorkflows, { name, namespace }, { signal });
  return current?.metadata.uid === uid && current?.metadata.resourceVersion === resourceVersion;
}
