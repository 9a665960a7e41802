import { z } from "../../schema/index.ts";
import { keyedName } from "../keyed-name.ts";
import { defineOperation } from "../operation.ts";
import { common, fields } from "../request.ts";
import { toParameterValues } from "../start-run/parameter-values.ts";
import { startRun } from "../start-run/start-run.ts";

const { workflow, target, parameters, approval, namespace } = fields;

/** Runs a workflow on a target, if the policy allows it. */
export const run = defineOperation({
  schema: z.strictObject({ ...common, workflow, target, parameters, approval, namespace }),
  perform(order) {
    const { workflow: workflowId, parameters: given = {}, ...request } = order.request;
    const { target, approval, namespace } = request;
    return startRun(
      {
        name: keyedName(workflowId, order),
        workflowId,
        target,
        parametersFor: (entry) => toParameterValues(given, entry),
        ...(approval === undefined ? {} : { approval }),
        ...(namespace === undefined ? {} : { namespace }),
      },
      order,
    );
  },
});
