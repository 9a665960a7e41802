import type { ParameterValue, reservedParameters } from "../resources/index.ts";
import type { RunOrder } from "./engine.ts";

/**
 * What a workflow is given: its parameters, and under three reserved names what every run knows. A parameter with a
 * reserved name is replaced: what a run acts on is decided by its execution alone.
 */
export function runInputs(order: RunOrder): Record<string, ParameterValue> {
  const own: Record<(typeof reservedParameters)[number], string> = {
    TARGET_RESOURCE: order.target,
    EXECUTION_UID: order.execution.uid,
    FENCE: order.fence,
  };
  return { ...order.parameters, ...own };
}
