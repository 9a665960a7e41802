import type {
  BlockReason,
  ParameterValue,
  RemediationRequest,
  RemediationRequestSpec,
  RemediationTargetStatus,
} from "../../resources/index.ts";
import type { Pause } from "../pauses.ts";
import type { Facts } from "../rules/facts.ts";

/** The decision that the rules and the policy are expected to take about a signal. */
export interface Expectation {
  readonly name: string;
  /** For people: file and line. */
  readonly at: string;
  readonly incident: RemediationRequestSpec;
  readonly facts: Facts;
  readonly given: Given;
  readonly expected: Expected;
}

/** The state in which it is decided. */
export interface Given {
  /** Undefined if no moment was given: then nothing that is given depends on one. */
  readonly nowMs: number | undefined;
  readonly record: RemediationTargetStatus | undefined;
  readonly pauses: readonly Pause[];
  /** Open incidents, of which one may be the cause. */
  readonly incidents: readonly RemediationRequest[];
}

/** Only the fields that are written are compared. */
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
      /** When the answer changes by itself. */
      readonly untilMs?: number;
    };
