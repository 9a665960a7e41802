import type { KubeObject } from "../../kube/index.ts";
import type { Wire } from "../../schema/index.ts";
import { ageColumn, defineKind } from "./define-kind.ts";
import type { parameter, spec, status } from "./schemas/remediation-workflow.ts";

/** A catalog entry: one version of a workflow, with its parameters and safety settings. */
export interface RemediationWorkflow extends KubeObject {
  readonly spec: RemediationWorkflowSpec;
  readonly status?: Wire<typeof status>;
}

export type RemediationWorkflowSpec = Wire<typeof spec>;
export type WorkflowParameter = Wire<typeof parameter>;

export const remediationWorkflows = defineKind<RemediationWorkflow>({
  kind: "RemediationWorkflow",
  shortName: "rw",
  columns: [
    { name: "Workflow", type: "string", jsonPath: ".spec.workflowId" },
    { name: "Version", type: "string", jsonPath: ".spec.version" },
    { name: "Engine", type: "string", jsonPath: ".spec.engine" },
    { name: "Status", type: "string", jsonPath: ".status.catalogStatus" },
    { name: "Cooldown", type: "string", jsonPath: ".spec.cooldown" },
    { name: "Approval", type: "boolean", jsonPath: ".spec.approval.required" },
    { name: "Image", type: "string", jsonPath: ".spec.containerImage", priority: 1 },
    ageColumn,
  ],
});
