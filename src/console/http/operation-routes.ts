import type { KubeClient } from "../../kube/index.ts";
import {
  type OperateContext,
  type OperationName,
  type OperationRequest,
  operationNames,
  perform,
  requestSchema,
} from "../../operate/index.ts";
import type { OperationResult } from "../wire.ts";
import { type ApiRoute, ProblemError } from "./api-route.ts";

/** One route for each operation. `contextFor` gives an operation the rights of its caller. */
export function operationRoutes(contextFor: (client: KubeClient) => OperateContext): readonly ApiRoute[] {
  return operationNames.map((operation) => ({
    method: "POST",
    path: `/api/v1/operations/${operation}`,
    summary: summaries[operation],
    access: "operator",
    body: requestSchema(operation),
    result: "OperationResult",
    problems: {
      404: "An object that the request names does not exist.",
      409: "The object is not, or no longer, in a state that allows this; `current` is its row now.",
      422: "The API server does not accept the change.",
    },
    async handle({ viewer, body }): Promise<OperationResult> {
      if (!viewer.operations.includes(operation)) throw new ProblemError(403, `${viewer.name} may not ${operation}.`);
      const caller = { name: viewer.name, via: "console" };
      return perform(operation, body as OperationRequest, caller, contextFor(viewer.client));
    },
  }));
}

const summaries: Readonly<Record<OperationName, string>> = {
  ack: "Acknowledge a failure, so that the workflow may act on the target again.",
  approve: "Approve a run that waits for an approval.",
  reject: "Reject a run that waits for an approval.",
  pause: "Pause automation.",
  resume: "End a pause.",
  cancel: "Cancel an execution, an incident or a coding task.",
  run: "Run a workflow on a target, if the policy allows it.",
  retry: "Run the workflow of an ended execution again, if the policy allows it.",
};
