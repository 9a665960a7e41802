import type { RemediationRequest } from "../resources/index.ts";
import type { AskingIncident } from "./request.ts";

/** What the policy reads of an incident that asks for an action. */
export function askingIncident({ spec, status }: Pick<RemediationRequest, "spec"> & Statused): AskingIncident {
  const sinceMs = Date.parse(status?.recurredAt ?? spec.receivedTime);
  const wasIneffective = status?.phase === "Blocked" && status.block.reason === "Ineffective";
  return { sinceMs, ...(wasIneffective ? { wasIneffective } : {}) };
}

interface Statused {
  readonly status?: RemediationRequest["status"] | undefined;
}
