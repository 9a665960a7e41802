import type { Informer } from "../../kube/index.ts";
import type { KindsCache } from "../custom-kinds/watch-kinds.ts";
import { type RemediationWorkflow, remediationWorkflows } from "../kinds/remediation-workflow.ts";
import type { WorkflowRef } from "../kinds/workflow-execution.ts";
import type { Kinds } from "../target/kinds.ts";
import { currentEntry } from "./catalog-entries.ts";
import { compareVersions } from "./compare-versions.ts";
import { workflowProblems } from "./workflow-problems.ts";

/** All workflows. */
export interface Catalog {
  /** The entry of a workflow: of this version, or of the current one. */
  find(workflowId: string, version?: string): RemediationWorkflow | undefined;
  /** The current entry of a workflow, or why there is none. */
  lookUp(workflowId: string): CatalogLookup;
}

/** The catalog of the stored entries. */
export function toCatalog(
  entries: Informer<RemediationWorkflow, "workflowId">,
  kinds: Pick<KindsCache, "current">,
): Catalog {
  return {
    find(workflowId, version) {
      const known = entries.byIndex("workflowId", workflowId);
      return version === undefined ? currentEntry(known, kinds.current) : entryOfVersion(known, version);
    },
    lookUp: (workflowId) => lookUpEntry(entries.byIndex("workflowId", workflowId), { workflowId }, kinds.current),
  };
}

/** The result of looking up a workflow reference. */
export type CatalogLookup =
  | { readonly kind: "entry"; readonly entry: RemediationWorkflow; readonly requiresApproval: boolean }
  /** No entry has this id: the workflow is outside the catalog. */
  | { readonly kind: "unknown" }
  /** The workflow is in the catalog, but this reference cannot be run. `problem` is a sentence without its full stop. */
  | { readonly kind: "unusable"; readonly problem: string };

/** The entry that `ref` means, out of all entries of its workflow. */
export function lookUpEntry(
  entries: readonly RemediationWorkflow[],
  { workflowId, version }: Pick<WorkflowRef, "workflowId" | "version">,
  kinds: Kinds,
): CatalogLookup {
  if (entries.length === 0) return { kind: "unknown" };
  const entry = version === undefined ? currentEntry(entries, kinds) : entryOfVersion(entries, version);
  if (entry) {
    if (entry.status?.catalogStatus !== "Invalid") return foundEntry(entry, entries, kinds);
    return { kind: "unusable", problem: unusable(entry, kinds) };
  }
  if (version === undefined) {
    const problems = [...entries].sort((a, b) => compareVersions(b.spec.version, a.spec.version));
    return { kind: "unusable", problem: problems.map((one) => unusable(one, kinds)).join("; ") };
  }
  const versions = [...new Set(entries.map(({ spec }) => spec.version))].sort().join(", ");
  return {
    kind: "unusable",
    problem: `workflow ${workflowId} has no version ${version} in the catalog, only ${versions}`,
  };
}

/**
 * `entry`, out of all entries of its workflow. It requires an approval if the current version does, too: otherwise an
 * execution could name an older version to run without one.
 */
export function foundEntry(
  entry: RemediationWorkflow,
  entries: readonly RemediationWorkflow[],
  kinds: Kinds,
): CatalogLookup {
  const requiresApproval = [entry, currentEntry(entries, kinds)].some((one) => one?.spec.approval?.required);
  return { kind: "entry", entry, requiresApproval };
}

function unusable({ spec, status }: RemediationWorkflow, kinds: Kinds): string {
  const found = [...(status?.problems ?? []), ...workflowProblems(spec, kinds)];
  const problems = found.length === 0 ? ["its entry is marked Invalid"] : found;
  return `workflow ${spec.workflowId} ${spec.version} cannot be run: ${problems.join("; ")}`;
}

/** If several entries claim one version, all replicas have to pick the same one. */
function entryOfVersion(entries: readonly RemediationWorkflow[], version: string): RemediationWorkflow | undefined {
  const nameOf = ({ metadata }: RemediationWorkflow) => metadata.name ?? "";
  return entries.filter(({ spec }) => spec.version === version).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))[0];
}

/** The options of an informer of the catalog. Entries in other namespaces do not count: their authors need not be catalog authors. */
export function catalogInformerOptions(namespace: string) {
  return {
    type: remediationWorkflows,
    query: { namespace },
    indexes: { workflowId: ({ spec }: RemediationWorkflow) => [spec.workflowId] },
  };
}
