import type { Diagnosis, RemediationRequest } from "../resources/index.ts";
import type { AskingIncident } from "./request.ts";
import type { OpenCause } from "./rules/deferral.ts";

/** The part of an incident that the policy reads. */
export function askingIncident(
  { spec, status }: Pick<RemediationRequest, "spec" | "status">,
  causes: readonly OpenCause[] = [],
): AskingIncident {
  const sinceMs = Date.parse(status?.recurredAt ?? spec.receivedTime);
  const diagnosis = status && "diagnosis" in status ? status.diagnosis : undefined;
  const wasIneffective = status?.phase === "Blocked" && status.block.reason === "Ineffective";
  return { sinceMs, causes, ...observedRule(diagnosis), ...(wasIneffective ? { wasIneffective } : {}) };
}

/** The rule of a diagnosis, if it is only observed. */
export function observedRule(diagnosis: Diagnosis | undefined): Pick<AskingIncident, "observedRule"> {
  return diagnosis?.observe ? { observedRule: diagnosis.rule ?? "" } : {};
}
