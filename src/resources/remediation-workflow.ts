import { z } from "zod";
import type { KubeObject } from "../kube/index.ts";
import { ageColumn, defineKind } from "./define-kind.ts";
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
  type Wire,
  workflowId,
} from "./fields.ts";
import { immutable } from "./schema/rules.ts";

/** A catalog entry: one version of a workflow, what it can be given, and how carefully it has to be run. */
export interface RemediationWorkflow extends KubeObject {
  readonly spec: RemediationWorkflowSpec;
  readonly status?: RemediationWorkflowStatus;
}

export type RemediationWorkflowSpec = Wire<typeof spec>;
export type RemediationWorkflowStatus = Wire<typeof status>;
export type WorkflowParameter = Wire<typeof parameter>;

const parameter = z.strictObject({
  type: z
    .enum(["string", "integer", "number", "boolean", "array"])
    .describe("Type of the value; an array is of strings."),
  description: z.string().describe("What it is for.").optional(),
  default: parameterValue.describe("The value if none is given.").optional(),
  enum: z.array(parameterValue).min(1).describe("The values it may have.").optional(),
  pattern: z.string().describe("Regular expression for a string, or for the items of an array.").optional(),
  minLength: count.describe("Least length of a string.").optional(),
  maxLength: count.describe("Greatest length of a string.").optional(),
  minimum: z.number().describe("Least value of a number.").optional(),
  maximum: z.number().describe("Greatest value of a number.").optional(),
  minItems: count.describe("Least length of an array.").optional(),
  maxItems: count.describe("Greatest length of an array.").optional(),
  secret: z.boolean().describe("True if values are secret: they are never written to the ledger.").optional(),
});

const parameters = z.strictObject({
  type: z.literal("object").describe("Always object; for tools that expect JSON Schema.").optional(),
  properties: z.record(parameterName, parameter.describe("One parameter.")).describe("The parameters by name."),
  required: z.array(parameterName).describe("Names of those that must be given.").optional(),
});

const approval = z.strictObject({
  required: z.boolean().describe("True if a person has to approve each execution."),
  expiresAfter: durationText.describe("How long to wait for the answer; no answer is a no.").optional(),
});

const spec = z
  .strictObject({
    workflowId: workflowId.describe("Id of the workflow: what rules and executions call it."),
    version: version.describe("Version of this entry. A changed workflow is a new entry with a new version."),
    description: text.describe("What the workflow does, and when to use it."),
    engine: engine.describe("What runs it. Chosen by configuration if left out.").optional(),
    containerImage: text.describe("OCI bundle or image that holds it; for the local engine, its folder."),
    pipeline: name.describe("Name of the pipeline in the bundle.").default("workflow"),
    serviceAccountName: name.describe("Service account of its runs. Chosen by configuration if left out.").optional(),
    parameters: parameters.describe("What it can be given, in JSON Schema. Anything else is refused.").optional(),
    targetKinds: z
      .array(text)
      .min(1)
      .meta({ "x-kubernetes-list-type": "set" })
      .describe("The kinds of target it fits, such as node or deployment. Any kind if left out.")
      .optional(),
    cooldown: durationText
      .describe("How long it waits after a success on the same target, instead of the usual time.")
      .optional(),
    timeout: durationText.describe("How long a run may take, instead of the usual time.").optional(),
    approval: approval.describe("Whether a person has to agree first.").optional(),
    observe: z.boolean().describe("True: decide and record everything, start nothing.").optional(),
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
    description: "The workflow. It never changes; a changed workflow is a new entry.",
    "x-kubernetes-validations": [immutable("a version of a workflow does not change: add an entry with a new version")],
  });

const status = z
  .strictObject({
    catalogStatus: z.enum(["Active", "Invalid"]).describe("Whether it can be run."),
    problems: z.array(text).describe("What has to be put right first, one sentence each.").optional(),
    conditions: conditions.describe("State of the entry, for tools that wait for it.").optional(),
  })
  .meta({ description: "Whether the entry can be used." });

export const remediationWorkflows = defineKind<RemediationWorkflow>({
  kind: "RemediationWorkflow",
  shortName: "rw",
  description: "RemediationWorkflow is one version of a workflow in the catalog: what can be run, and how carefully.",
  spec,
  status,
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
