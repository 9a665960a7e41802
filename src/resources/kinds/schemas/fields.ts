import { z } from "zod";
import type { Wire } from "../../../schema/index.ts";
import { maxTargetLength } from "../../target/target.ts";

/** RFC 3339. Our own times have milliseconds. */
export const timestamp = z.iso.datetime({ offset: true });

/** `2m30s`: what `formatDuration` writes and `parseDuration` reads. */
export const durationText = z
  .string()
  .min(1)
  .regex(/^([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$/, { error: "must be a duration such as 500ms, 30s or 1h30m" });

export const text = z.string().min(1);
export const name = z.string().min(1).max(253);
export const uid = z.string().min(1).max(128);
export const count = z.int().min(0).meta({ format: "int64" });
export const stringMap = z.record(z.string(), z.string());

const targetShape = "^([a-z0-9-]+:)?([a-z0-9-]+/)?[A-Za-z][A-Za-z0-9.-]*/[^/ ]+$|^git:[^ ]+@[^ ]+$";
const targetRule = "must be namespace/kind/name or kind/name, or git:host/path@branch";

/** A target in any accepted spelling. Whether its kind exists is known only to `parseTarget` with the cluster's kinds. */
export const targetText = textPattern(targetShape, targetRule);

/** A target within an unlimited map or list, where the cost of a CEL rule would exceed the API server's limit. */
export const repeatedTargetText = z
  .string()
  .min(1)
  .max(maxTargetLength)
  .regex(new RegExp(targetShape), { error: targetRule });

/** A pause can also name a repository, for all of its branches. */
export const pauseTargetText = textPattern(
  `${targetShape}|^git:[^ ]+/[^ ]+$`,
  `${targetRule}, or git:host/path for every branch`,
);

function textPattern(shape: string, message: string) {
  return z
    .string()
    .min(1)
    .max(maxTargetLength)
    .refine((value) => new RegExp(shape).test(value), { error: message })
    .meta({ "x-kubernetes-validations": [{ rule: `self.matches('${shape}')`, message }] });
}

/** Long enough for `v1:` and a hash, and for the fingerprints of other senders. */
export const fingerprint = z.string().min(1).max(253);

export const workflowId = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, {
    error: "must be lower-case letters, digits, - and ., beginning and ending with a letter or digit",
  });

export const version = z
  .string()
  .max(63)
  .regex(/^[A-Za-z0-9]([A-Za-z0-9.+_-]*[A-Za-z0-9])?$/, { error: "must be a version such as 1.4.0" });

const engines = ["tekton", "job", "local"] as const;
export type Engine = (typeof engines)[number];
export const engine = z.enum(engines);

/** One value of a parameter. Structural schemas cannot express "one of these types", so the server accepts anything here. */
export const parameterValue = z
  .union([z.string(), z.number(), z.boolean(), z.array(z.string())], {
    error: "must be text, a number, true, false or a list of texts",
  })
  .meta({ "x-kubernetes-preserve-unknown-fields": true });
export type ParameterValue = Wire<typeof parameterValue>;

export const parameterName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,62}$/, {
  error: "must be a parameter's name: letters, digits, _, - and ., beginning with a letter",
});

export const parameters = z.record(parameterName, parameterValue);

/** A list that is merged by one of its fields, as in server-side apply. */
export function listByKey<S extends z.ZodType>(key: string, item: S) {
  return z.array(item).meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key] });
}

export const incidentRef = z.strictObject({
  name: name.describe("Name of the RemediationRequest."),
  namespace: name.describe("Its namespace; that of the referring object if left out.").optional(),
  uid: uid.describe("Its uid.").optional(),
});

export const executionRef = z.strictObject({
  name: name.describe("Name of the WorkflowExecution."),
  namespace: name.describe("Its namespace."),
  uid: uid.describe("Its uid, which identifies it; a name can be reused."),
});

/** The current holder of a target. */
export const holder = z.strictObject({
  executionUid: uid.describe("Uid of the execution that holds the target; it alone decides ownership."),
  executionName: name.describe("Its name, for display."),
  executionNamespace: name.describe("Its namespace, for display."),
  workflowId: workflowId.describe("The workflow of the execution."),
  engine: engine.describe("The engine of the run."),
  runUid: uid.describe("Uid of the run, once it exists.").optional(),
  since: timestamp.describe("When the execution was admitted."),
});
export type TargetHolder = Wire<typeof holder>;

/** The approval by which an execution was admitted. */
export const usedApproval = z.strictObject({
  name: name.describe("Name of the RemediationApprovalRequest."),
  uid: uid.describe("Its uid. An approval covers one run."),
  decidedBy: text.describe("The approver, as recorded in the approval."),
});
export type UsedApproval = Wire<typeof usedApproval>;

/** The holder in a target record, with the catalog entry and the approval of its admission. */
export const recordHolder = holder.extend({
  catalogEntryUid: uid
    .describe("Uid of the catalog entry at admission. The run is built from this entry or not at all.")
    .optional(),
  approval: usedApproval.describe("The approval at admission, if the workflow requires one.").optional(),
});
export type RecordHolder = Wire<typeof recordHolder>;

/** The conditions of a Kubernetes object. */
export const conditions = listByKey(
  "type",
  z.strictObject({
    type: z.string().min(1).max(316).describe("Type of the condition."),
    status: z.enum(["True", "False", "Unknown"]).describe("Whether the condition holds."),
    observedGeneration: count.describe("The observed generation of the object.").optional(),
    lastTransitionTime: timestamp.describe("When the status last changed."),
    reason: z.string().min(1).max(1024).describe("Reason in one word."),
    message: z.string().max(32768).describe("Reason in one sentence."),
  }),
);
export type Condition = Wire<typeof conditions>[number];
