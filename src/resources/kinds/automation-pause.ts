import { z } from "zod";
import type { KubeObject } from "../../kube/index.ts";
import { immutable } from "../schema/rules.ts";
import { ageColumn, defineKind } from "./define-kind.ts";
import { name, pauseTargetText, text, timestamp, type Wire, workflowId } from "./fields.ts";

/** An operator's order to start nothing, coding tasks included: everywhere, in a namespace, on a target, or by a workflow. */
export interface AutomationPause extends KubeObject {
  readonly spec: AutomationPauseSpec;
  /** Absent as long as the pause lasts. */
  readonly status?: AutomationPauseStatus;
}

export type AutomationPauseSpec = Wire<typeof spec>;
export type AutomationPauseStatus = Wire<typeof status>;

const common = {
  reason: text.describe("Why."),
  requestedBy: text.describe("The operator who requested the pause."),
  until: timestamp
    .describe("When the pause ends by itself; if absent, it lasts until it is ended or deleted.")
    .optional(),
};

const spec = z
  .discriminatedUnion("scope", [
    z.strictObject({ scope: z.literal("All").describe("The scope of the pause."), ...common }),
    z.strictObject({
      scope: z.literal("Namespace"),
      targetNamespace: name.describe("The namespace of the targets and coding tasks that the pause covers."),
      ...common,
    }),
    z.strictObject({
      scope: z.literal("Target"),
      targetResource: pauseTargetText.describe(
        "The target that the pause covers; git:host/path covers every branch there.",
      ),
      ...common,
    }),
    z.strictObject({
      scope: z.literal("Workflow"),
      workflowId: workflowId.describe("The workflow that the pause covers."),
      ...common,
    }),
  ])
  .meta({
    description: "Scope, reason and end of the pause. Immutable.",
    "x-kubernetes-validations": [immutable("a pause does not change: add another one, or end this one")],
  });

const status = z
  .strictObject({
    endedAt: timestamp.describe("When the pause was ended early."),
    endedBy: text.describe("The operator who ended the pause."),
    endReason: text.describe("Why the pause was ended."),
  })
  .meta({
    description: "How the pause was ended. Absent while it is active.",
    "x-kubernetes-validations": [immutable("a pause that has ended stays ended: add another one")],
  });

export const automationPauses = defineKind<AutomationPause>({
  kind: "AutomationPause",
  shortName: "pause",
  description: "AutomationPause stops new actions: everywhere, in a namespace, on a target or by a workflow.",
  spec,
  status,
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
