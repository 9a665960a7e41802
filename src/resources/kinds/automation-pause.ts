import type { KubeObject } from "../../kube/index.ts";
import type { Wire } from "../../schema/index.ts";
import { ageColumn, defineKind } from "./define-kind.ts";
import type { spec, status } from "./schemas/automation-pause.ts";

/** An operator's order to start nothing, coding tasks included: everywhere, in a namespace, on a target, or by a workflow. */
export interface AutomationPause extends KubeObject {
  readonly spec: AutomationPauseSpec;
  /** Absent as long as the pause lasts. */
  readonly status?: Wire<typeof status>;
}

export type AutomationPauseSpec = Wire<typeof spec>;

export const automationPauses = defineKind<AutomationPause>({
  kind: "AutomationPause",
  shortName: "pause",
  selectable: ["spec.targetResource"],
  columns: [
    { name: "Scope", type: "string", jsonPath: ".spec.scope" },
    { name: "Namespace", type: "string", jsonPath: ".spec.targetNamespace" },
    { name: "Target", type: "string", jsonPath: ".spec.targetResource" },
    { name: "Workflow", type: "string", jsonPath: ".spec.workflowId" },
    { name: "Until", type: "string", jsonPath: ".spec.until" },
    { name: "By", type: "string", jsonPath: ".spec.requestedBy" },
    { name: "Ended", type: "date", jsonPath: ".status.endedAt" },
    { name: "Reason", type: "string", jsonPath: ".spec.reason", priority: 1 },
    ageColumn,
  ],
});
