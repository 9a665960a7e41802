import type { ParameterValue, RemediationWorkflow } from "../../resources/index.ts";
import type { Order } from "../operation.ts";

/** A run that passed all checks before the policy's. */
export interface PlannedRun {
  /** Of the execution, and of the approval that it needs. */
  readonly name: string;
  readonly entry: RemediationWorkflow;
  /** In canonical form. */
  readonly target: string;
  readonly parameters: Readonly<Record<string, ParameterValue>>;
}

export type RunOrder = Order<{ readonly reason: string; readonly key: string; readonly dryRun?: boolean }>;
