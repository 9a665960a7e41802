import { nameHash } from "../../kube/index.ts";
import type { RemediationWorkflow, RemediationWorkflowSpec } from "../kinds/remediation-workflow.ts";
import type { Kinds } from "../target/kinds.ts";
import { compareVersions } from "./compare-versions.ts";
import { workflowProblems } from "./workflow-problems.ts";

/**
 * The entry of a workflow that applies without a version: the highest version that can be run, so an entry with problems does
 * not hide an older one without. Undefined if none can be run.
 */
export function currentEntry(entries: readonly RemediationWorkflow[], kinds: Kinds): RemediationWorkflow | undefined {
  return entries
    .filter(({ spec, status }) => status?.catalogStatus !== "Invalid" && workflowProblems(spec, kinds).length === 0)
    .sort((a, b) => compareVersions(b.spec.version, a.spec.version) || (nameOf(a) < nameOf(b) ? -1 : 1))[0];
}

/** The name of the entry for a version of a workflow: readable and unique. */
export function entryName({ workflowId, version }: Pick<RemediationWorkflowSpec, "workflowId" | "version">): string {
  const readable = `${workflowId}-${version}`.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return `${readable}-${nameHash(`${workflowId}@${version}`).slice(0, 8)}`;
}

function nameOf({ metadata }: RemediationWorkflow): string {
  return metadata.name ?? "";
}
