import { z } from "zod";
import type { KubeObject } from "../kube/index.ts";
import { ageColumn, defineKind } from "./define-kind.ts";
import { name, pauseTargetText, text, timestamp, type Wire, workflowId } from "./fields.ts";
import { immutable } from "./schema/rules.ts";

/** Somebody wants automation, coding tasks included, to stand still: everywhere, in a namespace, on a target, or a workflow. */
export interface AutomationPause extends KubeObject {
  readonly spec: AutomationPauseSpec;
  /** Absent as long as the pause lasts. */
  readonly status?: AutomationPauseStatus;
}

export type AutomationPauseSpec = Wire<typeof spec>;
export type AutomationPauseStatus = Wire<typeof status>;

const common = {
  reason: text.describe("Why."),
  requestedBy: text.describe("Who asked for it."),
  until: timestamp.describe("When it ends by itself; without it, when it is ended or deleted.").optional(),
};

const spec = z
  .discriminatedUnion("scope", [
    z.strictObject({ scope: z.literal("All").describe("What it covers."), ...common }),
    z.strictObject({
      scope: z.literal("Namespace"),
      targetNamespace: name.describe("The namespace of the targets, and of the coding tasks, that it covers."),
      ...common,
    }),
    z.strictObject({
      scope: z.literal("Target"),
      targetResource: pauseTargetText.describe("The target it covers; as git:host/path, every branch there."),
      ...common,
    }),
    z.strictObject({
      scope: z.literal("Workflow"),
      workflowId: workflowId.describe("The workflow it covers."),
      ...common,
    }),
  ])
  .meta({
    description: "What stands still, why, and until when. It never changes.",
    "x-kubernetes-validations": [immutable("a pause does not change: add another one, or end this one")],
  });

const status = z
  .strictObject({
    endedAt: timestamp.describe("When it was ended before its time."),
    endedBy: text.describe("Who ended it."),
    endReason: text.describe("Why it was ended."),
  })
  .meta({
    description: "How it was ended. Absent as long as it lasts.",
    "x-kubernetes-validations": [immutable("a pause that has ended stays ended: add another one")],
  });

export const automationPauses = defineKind<AutomationPause>({
  kind: "AutomationPause",
  shortName: "pause",
  description:
    "AutomationPause makes automation stand still: everywhere, in a namespace, on a target or with a workflow.",
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
