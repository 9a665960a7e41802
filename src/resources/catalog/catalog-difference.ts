import type { RemediationWorkflow } from "../kinds/remediation-workflow.ts";
import type { Engine } from "../kinds/schemas/fields.ts";
import type { WorkflowRef } from "../kinds/workflow-execution.ts";

/** The values for the fields that a catalog entry leaves out. */
export interface CatalogDefaults {
  readonly engine: Engine;
  readonly serviceAccountName: string | undefined;
}

/**
 * How a reference to a workflow differs from its catalog entry, as a sentence without its full stop; undefined if it does
 * not. The catalog decides workflow, engine and service account: a reference may repeat them, and may not change them.
 */
export function catalogDifference(
  ref: Partial<WorkflowRef>,
  { spec }: Pick<RemediationWorkflow, "spec">,
  defaults: CatalogDefaults,
): string | undefined {
  const inCatalog = {
    version: spec.version,
    engine: spec.engine ?? defaults.engine,
    containerImage: spec.containerImage,
    serviceAccountName: spec.serviceAccountName ?? defaults.serviceAccountName,
  };
  const differences = comparedFields
    .filter((field) => ref[field] !== undefined && ref[field] !== inCatalog[field])
    .map(
      (field) =>
        `workflowRef.${field} is "${ref[field]}", but ${inCatalog[field] ? `"${inCatalog[field]}"` : "none"} in the catalog`,
    );
  if (differences.length === 0) return undefined;
  return `the execution differs from workflow ${spec.workflowId} ${spec.version} in the catalog: ${differences.join("; ")}`;
}

const comparedFields = [
  "version",
  "engine",
  "containerImage",
  "serviceAccountName",
] as const satisfies readonly (keyof WorkflowRef)[];
