import { z } from "zod";
import { immutable } from "../../schema/rules.ts";
import { defineSchema } from "./define-schema.ts";
import {
  conditions,
  count,
  durationText,
  engine,
  name,
  parameterName,
  parameterValue,
  text,
  version,
  workflowId,
} from "./fields.ts";

export const parameter = z.strictObject({
  type: z
    .enum(["string", "integer", "number", "boolean", "array"])
    .describe("Type of the value; an array is of strings."),
  description: z.string().describe("Purpose of the parameter.").optional(),
  default: parameterValue.describe("The default value.").optional(),
  enum: z.array(parameterValue).min(1).describe("The allowed values.").optional(),
  pattern: z.string().describe("Regular expression for a string, or for the items of an array.").optional(),
  minLength: count.describe("Minimum length of a string.").optional(),
  maxLength: count.describe("Maximum length of a string.").optional(),
  minimum: z.number().describe("Minimum of a number.").optional(),
  maximum: z.number().describe("Maximum of a number.").optional(),
  minItems: count.describe("Minimum length of an array.").optional(),
  maxItems: count.describe("Maximum length of an array.").optional(),
  secret: z.boolean().describe("True if values are secret: they are never written to the ledger.").optional(),
});

const parameters = z.strictObject({
  type: z.literal("object").describe("Always object; for tools that expect JSON Schema.").optional(),
  properties: z.record(parameterName, parameter.describe("One parameter.")).describe("The parameters by name."),
  required: z.array(parameterName).describe("Names of the required parameters.").optional(),
});

const approval = z.strictObject({
  required: z.boolean().describe("True if an operator must approve each execution."),
  expiresAfter: durationText.describe("How long to wait for the answer; without an answer nothing runs.").optional(),
});

export const spec = z
  .strictObject({
    workflowId: workflowId.describe("Id of the workflow, as rules and executions name it."),
    version: version.describe("Version of this entry. A changed workflow is a new entry with a new version."),
    description: text.describe("Purpose of the workflow, and when to use it."),
    engine: engine.describe("The engine. Chosen by configuration if absent.").optional(),
    containerImage: text.describe("OCI bundle or image of the workflow; for the local engine, its folder."),
    args: z
      .array(text)
      .max(64)
      .describe("Arguments of the image, for the job engine. Literals: parameters are environment variables.")
      .optional(),
    pipeline: name.describe("Name of the pipeline in the bundle.").default("workflow"),
    serviceAccountName: name.describe("Service account of the runs. Chosen by configuration if absent.").optional(),
    parameters: parameters.describe("The parameters, in JSON Schema. Other parameters are rejected.").optional(),
    targetKinds: z
      .array(text)
      .min(1)
      .meta({ "x-kubernetes-list-type": "set" })
      .describe("The kinds of target that the workflow supports, such as node or deployment. Any kind if absent.")
      .optional(),
    cooldown: durationText.describe("Cooldown after a success on the same target, instead of the default.").optional(),
    timeout: durationText.describe("Timeout of a run, instead of the default.").optional(),
    approval: approval.describe("Whether an operator must approve first.").optional(),
    observe: z.boolean().describe("If true, decisions are recorded and nothing is started.").optional(),
    exclusiveAccess: z
      .literal(true, { error: "must be true: sharing a target is not supported yet" })
      .describe("Must be true: sharing a target is not supported yet.")
      .optional(),
    lockGroups: z
      .array(z.string())
      .max(0, { error: "must be empty: lock groups are not supported yet" })
      .describe("Must be empty: lock groups are not supported yet.")
      .optional(),
  })
  .meta({
    description: "The workflow. Immutable; a changed workflow is a new entry.",
    "x-kubernetes-validations": [immutable("a version of a workflow does not change: add an entry with a new version")],
  });

export const status = z
  .strictObject({
    catalogStatus: z.enum(["Active", "Invalid"]).describe("Whether the workflow can be run."),
    problems: z.array(text).describe("Problems to fix first, one sentence each.").optional(),
    conditions: conditions.describe("Conditions, for tools that wait for them.").optional(),
  })
  .meta({ description: "Whether the entry can be used." });

export const remediationWorkflowSchema = defineSchema({
  kind: "RemediationWorkflow",
  description:
    "RemediationWorkflow is one version of a workflow in the catalog, with its parameters, cooldown and approval.",
  spec,
  status,
});
