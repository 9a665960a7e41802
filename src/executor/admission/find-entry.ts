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
import type { Caches, ReadOptions } from "../caches.ts";

interface CatalogCaches extends Pick<Caches, "client" | "entries" | "catalogNamespace"> {
  readonly kinds: Kinds;
}

export interface FoundEntry {
  readonly found: CatalogLookup;
  /** Whether the server has just returned it; otherwise it is from a cache, and is confirmed before it is used. */
  readonly isConfirmed: boolean;
}

/** Finds the catalog entry of an execution's workflow, even if it was just added and the cache does not show it yet. */
export async function findEntry(
  execution: WorkflowExecution,
  holder: RecordHolder | undefined,
  caches: CatalogCaches,
  { signal, fresh }: ReadOptions,
): Promise<FoundEntry> {
  const { workflowId } = execution.spec.workflowRef;
  const cached = lookUp(caches.entries.byIndex("workflowId", workflowId), execution, holder, caches);
  if (!isBeforeRun(execution) || (cached.kind === "entry" && !fresh)) return { found: cached, isConfirmed: false };
  if (cached.kind === "entry" && (await isUnchanged(cached.entry, caches, signal))) {
    return { found: cached, isConfirmed: true };
  }
  const { items } = await caches.client.list(remediationWorkflows, { namespace: caches.catalogNamespace }, { signal });
  const entries = items.filter(({ spec }) => spec.workflowId === workflowId);
  return { found: lookUp(entries, execution, holder, caches), isConfirmed: true };
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
  const problem = "the catalog entry that admitted it was removed or replaced";
  return entry ? foundEntry(entry, entries, kinds) : { kind: "unusable", problem };
}

/** Whether the execution has no run yet. A new execution becomes Pending and is admitted in one reconciliation. */
export function isBeforeRun({ status }: WorkflowExecution): boolean {
  return status === undefined || status.phase === "Pending";
}

/** Whether the server has the cached version of the entry: one that was just removed or replaced must not run. */
export async function isUnchanged(
  { metadata }: RemediationWorkflow,
  { client }: Pick<Caches, "client">,
  signal: AbortSignal,
): Promise<boolean> {
  const { name = "", namespace = "", uid, resourceVersion } = metadata;
  const current = await client.get(remediationWorkflows, { name, namespace }, { signal });
  return current?.metadata.uid === uid && current?.metadata.resourceVersion === resourceVersion;
}
