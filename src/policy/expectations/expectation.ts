import type {
  BlockReason,
  ParameterValue,
  RemediationRequest,
  RemediationRequestSpec,
  RemediationTargetStatus,
} from "../../resources/index.ts";
import type { Pause } from "../pauses.ts";
import type { Facts } from "../rules/facts.ts";

/** The expected decision of rules and policy for a signal. */
export interface Expectation {
  readonly name: string;
  /** File and line. */
  readonly at: string;
  readonly incident: RemediationRequestSpec;
  readonly facts: Facts;
  readonly given: Given;
  readonly expected: Expected;
}

/** The state at the time of the decision. */
export interface Given {
  /** Undefined if no time is given: then there are no record and no pauses, which would depend on it. */
  readonly nowMs: number | undefined;
  readonly record: RemediationTargetStatus | undefined;
  readonly pauses: readonly Pause[];
  /** Open incidents, of which one may be the cause. */
  readonly incidents: readonly RemediationRequest[];
}

/** Only the given fields are compared. */
export type Expected =
  | { readonly match: false }
  | {
      readonly match: true;
      readonly rule?: string;
      readonly target?: string;
      readonly workflow?: string;
      readonly parameters?: Readonly<Record<string, ParameterValue>>;
      /** `allow`, or the reason of the first check that blocks. */
      readonly decision?: "allow" | BlockReason;
      /** When the decision changes by itself. */
      readonly untilMs?: number;
    };
