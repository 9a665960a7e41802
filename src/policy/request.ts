import type { Diagnosis, RemediationRequest, RemediationTargetStatus } from "../resources/index.ts";
import type { Pause } from "./pauses.ts";
import type { OpenCause } from "./rules/deferral.ts";
import type { PolicySettings } from "./settings.ts";

/** A request to run a workflow on a target. */
export interface ActionRequest {
  /** In canonical form. */
  readonly target: string;
  /** The target's namespace, if its kind has one. */
  readonly namespace?: string;
  readonly workflowId: string;
  /** The execution of the request, if there is one: it is not blocked by its own hold. */
  readonly executionUid?: string;
  /** The incident of the request. Without one, it is unknown whether a fix lasted. */
  readonly incident?: AskingIncident;
  /** The rules that were tried, if none of them matched. */
  readonly rulesTried?: readonly string[];
}

/** The part of an incident that the policy reads. */
export interface AskingIncident {
  /** When it was opened, or was reported again after an earlier run. */
  readonly sinceMs: number;
  /** The open incidents of its cause, for which it has to wait. */
  readonly causes?: readonly OpenCause[];
  /** The rule of its diagnosis, if that is only observed. */
  readonly observedRule?: string;
  /** True if it was blocked as Ineffective at its latest decision. */
  readonly wasIneffective?: boolean;
}

/** Everything the decision depends on. */
export interface Situation {
  /** The target record; undefined if nothing acted on the target before. */
  readonly record: RemediationTargetStatus | undefined;
  /** The catalog entry; undefined if there is none. */
  readonly workflow: WorkflowRules | undefined;
  /** All active pauses. */
  readonly pauses: readonly Pause[];
  readonly settings: PolicySettings;
  /** The API server's clock. */
  readonly nowMs: number;
}

/** The part of a workflow that the policy reads. */
export interface WorkflowRules {
  readonly cooldownMs?: number;
  readonly observe?: boolean;
  /** Whether it has no entry, and the configuration allows that. */
  readonly outsideCatalog?: boolean;
  /** How the execution differs from the entry, as a sentence without its full stop. */
  readonly difference?: string;
  /** Why the diagnosis can never be applied, as sentences without their full stop. */
  readonly problems?: readonly string[];
}

/** Returns the part of an incident that the policy reads. */
export function askingIncident(
  { spec, status }: Pick<RemediationRequest, "spec" | "status">,
  causes: readonly OpenCause[] = [],
): AskingIncident {
  const sinceMs = Date.parse(status?.recurredAt ?? spec.receivedTime);
  const diagnosis = status && "diagnosis" in status ? status.diagnosis : undefined;
  const wasIneffective = status?.phase === "Blocked" && status.block.reason === "Ineffective";
  return { sinceMs, causes, ...observedRule(diagnosis), ...(wasIneffective ? { wasIneffective } : {}) };
}

/** Returns the rule of a diagnosis if it is only observed. */
export function observedRule(diagnosis: Diagnosis | undefined): Pick<AskingIncident, "observedRule"> {
  return diagnosis?.observe ? { observedRule: diagnosis.rule ?? "" } : {};
}
