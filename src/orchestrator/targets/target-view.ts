import type { OpenCause, Pause } from "../../policy/index.ts";
import type {
  Catalog,
  Kinds,
  RemediationApprovalRequest,
  RemediationRequest,
  RemediationTarget,
  WorkflowExecution,
} from "../../resources/index.ts";
import type { OrchestratorSettings } from "../settings.ts";

/** One target, and all that a decision to act on it depends on. */
export interface TargetView {
  /** The API server's clock, read before anything else was. */
  readonly nowMs: number;
  /** The target's namespace, if its kind has one. */
  readonly namespace: string | undefined;
  readonly record: RemediationTarget | undefined;
  /** All on this target, whoever made them. */
  readonly executions: readonly WorkflowExecution[];
  readonly pauses: readonly Pause[];
  readonly catalog: Catalog;
  readonly kinds: Kinds;
  /** The open incidents of its cause that an incident has to wait for. */
  readonly causesOf: (incident: RemediationRequest) => readonly OpenCause[];
  /** Questions by name, as far as they were looked up. */
  readonly approvals: ReadonlyMap<string, RemediationApprovalRequest>;
  readonly settings: OrchestratorSettings;
}
