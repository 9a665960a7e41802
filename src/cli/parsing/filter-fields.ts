import type { KindWord } from "./kinds.ts";

/** Where a kind has what the filters compare. */
export interface FilterFields {
  /** Field of the status with the phase. */
  readonly phase?: string;
  /** The phase of an object without a status. */
  readonly initial?: string;
  /** Fields of the status with a reason for the phase. */
  readonly reasons?: readonly string[];
  /** Path of the target. */
  readonly target?: string;
}

export const filterFields: Readonly<Record<KindWord, FilterFields>> = {
  incidents: {
    phase: "phase",
    initial: "Pending",
    reasons: ["block.reason", "outcome"],
    target: ".status.diagnosis.target",
  },
  executions: {
    phase: "phase",
    initial: "Pending",
    reasons: ["skipDetails.reason", "failureDetails.reason"],
    target: ".spec.targetResource",
  },
  targets: { target: ".spec.targetResource" },
  workflows: { phase: "catalogStatus" },
  pauses: { target: ".spec.targetResource" },
  approvals: { phase: "decision", initial: "Pending", target: ".spec.targetResource" },
  notices: { phase: "phase", initial: "Pending", target: ".spec.context.targetResource" },
  tasks: {
    phase: "phase",
    initial: "Pending",
    reasons: ["failure.reason", "reason"],
    target: ".spec.targetResource",
  },
};
