import type { RemediationWorkflow } from "../resources/index.ts";
import { OperationError } from "./errors/index.ts";

/** The error for a workflow that is not in the catalog. */
export function noWorkflow(workflowId: string, catalog: readonly RemediationWorkflow[]): OperationError {
  const known = [...new Set(catalog.map(({ spec }) => spec.workflowId))].sort();
  return new OperationError("not-found", `there is no workflow ${workflowId}`, {
    hint: `the catalog has ${known.join(", ") || "none yet"}`,
  });
}
