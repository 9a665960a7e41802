import type { ParameterValue, RemediationWorkflow } from "../../resources/index.ts";
import { z } from "../../schema/index.ts";
import { keyedName } from "../create-once.ts";
import { defineOperation } from "../operation.ts";
import { common, fields } from "../request/index.ts";
import { startRun } from "../start-run/start-run.ts";

const { workflow, target, parameters, approval, namespace } = fields;

/** Runs a workflow on a target, if the policy allows it. */
export const run = defineOperation({
  schema: z.strictObject({ ...common, workflow, target, parameters, approval, namespace }),
  perform(call) {
    const { workflow: workflowId, parameters: texts = {}, target, approval, namespace } = call.request;
    return startRun(
      {
        name: keyedName(workflowId, call),
        workflowId,
        target,
        approval,
        namespace,
        parametersFor: (entry) => toParameterValues(texts, entry),
      },
      call,
    );
  },
});

/** Parameters are written as text; the types that the workflow declares define their values. */
function toParameterValues(
  texts: Readonly<Record<string, string>>,
  { spec }: RemediationWorkflow,
): Readonly<Record<string, ParameterValue>> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, toValue(text, spec.parameters?.properties[name]?.type)]),
  );
}

function toValue(text: string, type: string | undefined): ParameterValue {
  if (type === "array") return text === "" ? [] : text.split(",");
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  if ((type === "integer" || type === "number") && text.trim() !== "" && Number.isFinite(Number(text)))
    return Number(text);
  return text;
}
