import { z } from "zod";
import type { ValidationRule } from "../../../kube/index.ts";
import { immutable, isUnchanged } from "../../schema/rules.ts";
import { defineSchema } from "./define-schema.ts";
import { conditions, incidentRef, parameters, targetText, text, timestamp, version, workflowId } from "./fields.ts";

const recommendedWorkflow = z.strictObject({
  workflowId: workflowId.describe("The workflow."),
  version: version.describe("Its version.").optional(),
  parameters: parameters.describe("Its parameters.").optional(),
  rationale: z.string().describe("Why this workflow was chosen.").optional(),
});

export const spec = z
  .strictObject({
    remediationRequestRef: incidentRef
      .describe("The incident that waits for the answer; absent if an operator requested the run.")
      .optional(),
    targetResource: targetText.describe("The target, in canonical form."),
    recommendedWorkflow: recommendedWorkflow.describe("The workflow that would run."),
    whyApprovalRequired: text.describe("Why an approval is required."),
    investigationSummary: z.string().describe("Facts about the problem.").optional(),
    requiredBy: timestamp.describe(
      "Deadline of the answer; without an answer by then the request expires and nothing runs.",
    ),
  })
  .meta({
    description: "The question. Immutable.",
    "x-kubernetes-validations": [immutable("a question does not change once it was asked")],
  });

const answered = {
  decidedBy: text.describe("The operator who decided."),
  decidedVia: z.string().describe("The interface used: command line, console or kubectl.").optional(),
  decidedAt: timestamp.describe("When."),
  decisionMessage: text.describe("Why."),
};

const common = { conditions: conditions.describe("Conditions, for tools that wait for them.").optional() };

/** The whole answer: its author, time and reason cannot be changed either. */
const answerFields = ["decision", "decidedBy", "decidedVia", "decidedAt", "decisionMessage"] as const;

const decidedOnce: ValidationRule = {
  rule: answerFields.map(isUnchanged).join(" && "),
  message: "this was decided already",
  messageExpression: "'this was decided already: ' + oldSelf.decision",
};

/** A rule of the status is not evaluated when the status is removed. */
const staysDecided: ValidationRule = {
  rule: "!has(oldSelf.status) || has(self.status)",
  message: "this was decided already: an answer cannot be withdrawn",
};

export const status = z
  .discriminatedUnion("decision", [
    z.strictObject({ decision: z.enum(["Approved", "Rejected"]).describe("The answer."), ...answered, ...common }),
    z.strictObject({ decision: z.literal("Expired"), decidedAt: answered.decidedAt, ...common }),
  ])
  .meta({ description: "The answer. Absent until there is one.", "x-kubernetes-validations": [decidedOnce] });

export const remediationApprovalRequestSchema = defineSchema({
  kind: "RemediationApprovalRequest",
  description: "RemediationApprovalRequest asks an operator whether a workflow may act on a target.",
  spec,
  status,
  rules: [staysDecided],
});
