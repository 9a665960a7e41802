import { z } from "zod";
import { immutable } from "../../schema/rules.ts";
import { defineSchema } from "./define-schema.ts";
import { name, pauseTargetText, text, timestamp, workflowId } from "./fields.ts";

const common = {
  reason: text.describe("Why."),
  requestedBy: text.describe("The operator who requested the pause."),
  until: timestamp
    .describe("When the pause ends by itself; if absent, it lasts until it is ended or deleted.")
    .optional(),
};

export const spec = z
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

export const status = z
  .strictObject({
    endedAt: timestamp.describe("When the pause was ended early."),
    endedBy: text.describe("The operator who ended the pause."),
    endReason: text.describe("Why the pause was ended."),
  })
  .meta({
    description: "How the pause was ended. Absent while it is active.",
    "x-kubernetes-validations": [immutable("a pause that has ended stays ended: add another one")],
  });

export const automationPauseSchema = defineSchema({
  kind: "AutomationPause",
  description: "AutomationPause stops new actions: everywhere, in a namespace, on a target or by a workflow.",
  spec,
  status,
});
