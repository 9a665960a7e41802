import type { Informer } from "../kube/index.ts";
import { currentEntry } from "./catalog-entries.ts";
import type { RemediationWorkflow } from "./remediation-workflow.ts";

/** What can be run. */
export interface Catalog {
  /** The entry of a workflow: of this version, or of the current one. */
  find(workflowId: string, version?: string): RemediationWorkflow | undefined;
}

/** The catalog as the entries in the store say. */
export function catalogOf(entries: Informer<RemediationWorkflow, "workflowId">): Catalog {
  return {
    find(workflowId, version) {
      const known = entries.byIndex("workflowId", workflowId);
      return version === undefined ? currentEntry(known) : known.find(({ spec }) => spec.version === version);
    },
  };
}
