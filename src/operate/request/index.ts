import { type Wire, z } from "../../schema/index.ts";

/** Every operation. */
export const operationNames = ["ack", "approve", "reject", "pause", "resume", "cancel", "run", "retry"] as const;
export type OperationName = (typeof operationNames)[number];

const maxNameLength = 253;
const maxReasonLength = 4_000;
const maxTextLength = 10_000;

const name = z.string().min(1).max(maxNameLength);

/** The fields of requests. Each operation has a schema of those that it accepts. */
export const fields = {
  reason: z.string().trim().min(1).max(maxReasonLength).describe("Why. Recorded with the name of the caller."),
  key: z
    .string()
    .regex(/^[A-Za-z0-9._-]{8,64}$/, { error: "must be 8 to 64 characters of A-Z a-z 0-9 - _ ." })
    .describe("Idempotency key: a request that is sent again with the same key has its effect once."),
  ifVersion: name
    .describe("The resourceVersion that the caller saw. If the object has another one by now, nothing is changed.")
    .optional(),
  dryRun: z.boolean().describe("Make all checks, also those of the API server, and change nothing.").optional(),
  object: z
    .string()
    .min(1)
    .max(2 * maxNameLength + 1)
    .describe("NAMESPACE/NAME, or a name, which may be shortened as it is displayed."),
  scope: z
    .array(name)
    .min(1)
    .max(2)
    .describe('The scope of the pause: ["all"], ["namespace", NS], ["target", TARGET] or ["workflow", WORKFLOW].'),
  for: z.string().min(1).max(20).describe("A duration such as 30m or 2h. Without it, until resumed.").optional(),
  block: z.boolean().describe("Block the workflow on the target until it is acknowledged.").optional(),
  workflow: name.describe("Id of the workflow."),
  target: z.string().min(1).max(1_000).describe("The target: namespace/kind/name, or kind/name."),
  parameters: z
    .record(name, z.string().max(maxTextLength))
    .describe("Parameters of the workflow as text; its entry in the catalog defines their types.")
    .optional(),
  approval: name.describe("Name of an approval that covers this run.").optional(),
  namespace: name.describe("Namespace of the execution. Default: that of incidents.").optional(),
};

/** Every request has these. */
export const common = { reason: fields.reason, key: fields.key, dryRun: fields.dryRun };

/** A request about one object. */
export const onObject = { ...common, object: fields.object, ifVersion: fields.ifVersion };

/** All fields, for a request of any operation. */
export const anyRequest = z.strictObject(fields).partial({ object: true, scope: true, workflow: true, target: true });

/** A request for any of the operations. */
export type OperationRequest = Wire<typeof anyRequest>;
