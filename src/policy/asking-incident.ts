import type { RemediationRequest } from "../resources/index.ts";
import type { AskingIncident } from "./request.ts";
import type { OpenCause } from "./rules/deferral.ts";

/** The part of an incident that the policy reads. */
export function askingIncident(
  { spec, status }: Pick<RemediationRequest, "spec" | "status">,
  causes: readonly OpenCause[] = [],
): AskingIncident {
  const sinceMs = Date.parse(status?.recurredAt ?? spec.receivedTime);
  const wasIneffective = status?.phase === "Blocked" && status.block.reason === "Ineffective";
  return { sinceMs, causes, ...(wasIneffective ? { wasIneffective } : {}) };
}
