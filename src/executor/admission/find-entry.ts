import type { Informer, KubeClient } from "../../kube/index.ts";
import {
  type CatalogLookup,
  type Kinds,
  lookUpEntry,
  type RecordHolder,
  type RemediationWorkflow,
  remediationWorkflows,
  type WorkflowExecution,
} from "../../resources/index.ts";

/** Where the catalog is read. */
export interface CatalogCaches {
  readonly client: KubeClient;
  /** Entries in other namespaces are not in it. */
  readonly entries: Informer<RemediationWorkflow, "workflowId">;
  readonly catalogNamespace: string;
  readonly kinds: Kinds;
}

/**
 * What the catalog says about the workflow of an execution. Before its run exists the answer is confirmed by the server: an
 * entry that was removed or replaced a moment ago runs nothing, and one that was added a moment ago is found.
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

/** Who was admitted by an entry goes on with that one: "the current version" may mean another one by now. */
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
  return entry ? { kind: "entry", entry } : { kind: "unusable", problem };
}

/** An execution that was not seen before becomes Pending and is admitted in one go. */
export function isBeforeRun({ status }: WorkflowExecution): boolean {
  return status === undefined || status.phase === "Pending";
}

/** Whether the server has the entry just as it is known here. */
export async function isUnchanged(
  { metadata }: RemediationWorkflow,
  { client }: Pick<CatalogCaches, "client">,
  signal: AbortSignal,
): Promise<boolean> {
  const { name = "", namespace = "", uid, resourceVersion } = metadata;
  const current = await client.get(remediationWorkflows, { name, namespace }, { signal });
  return current?.metadata.uid === uid && current?.metadata.resourceVersion === resourceVersion;
}
