import type { OpenCause, Pause } from "../../policy/index.ts";
import type {
  Catalog,
  Kinds,
  RemediationApprovalRequest,
  RemediationRequest,
  RemediationTarget,
  TargetReading,
  WorkflowExecution,
} from "../../resources/index.ts";
import type { OrchestratorSettings } from "../settings.ts";

/** A target that incidents were diagnosed to. */
export interface ViewedTarget {
  /** The target by the kinds of now: its kind may have been deleted since the diagnosis. */
  readonly reading: TargetReading;
  /** The target's namespace, if its kind has one. */
  readonly namespace: string | undefined;
}

/** One target and the state that decisions about it depend on. */
export interface TargetView {
  /** The API server's clock, read before everything else. */
  readonly nowMs: number;
  readonly target: ViewedTarget;
  readonly record: RemediationTarget | undefined;
  /** All executions on this target, including those of other incidents. */
  readonly executions: readonly WorkflowExecution[];
  readonly pauses: readonly Pause[];
  readonly catalog: Catalog;
  readonly kinds: Kinds;
  /** Returns the open incidents of its cause that an incident has to wait for. */
  readonly causesOf: (incident: RemediationRequest) => readonly OpenCause[];
  /** The approvals that were read, by name. */
  readonly approvals: ReadonlyMap<string, RemediationApprovalRequest>;
  readonly settings: OrchestratorSettings;
}
