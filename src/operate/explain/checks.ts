import { iso } from "../../kube/index.ts";
import type { LedgerEvent } from "../../ledger/index.ts";
import type { PolicyReport, StoredCheck } from "../../policy/index.ts";
import { blockText } from "../../resources/index.ts";

/** One check of the policy with its result, for programs and pages. */
export interface Check {
  /** The condition, such as "automation is not paused". */
  readonly name: string;
  readonly passed: boolean;
  /** Whether it is the first check that blocks: the reason of the decision. */
  readonly isDeciding: boolean;
  readonly evidence: string;
  /** When it clears without an operator, if that is known. */
  readonly clearsAt?: string;
  /** When it clears, as text that follows "clears". */
  readonly clears?: string;
}

/** Whether a workflow may act on a target now, and why. */
export interface WorkflowVerdict {
  readonly workflow: string;
  readonly isAllowed: boolean;
  /** The reason of the first check that blocks. */
  readonly reason?: string;
  /** When the block ends without an operator, if that is known. */
  readonly until?: string;
  readonly checks: readonly Check[];
}

/** The decision about one workflow as data. */
export function toVerdict({ request, decision }: PolicyReport): WorkflowVerdict {
  const checks = toChecks(decision.checks);
  if (decision.verdict === "allow") return { workflow: request.workflowId, isAllowed: !decision.observeOnly, checks };
  const { reason, cause, clearsAtMs } = decision;
  return {
    workflow: request.workflowId,
    isAllowed: false,
    reason: blockText(reason, cause),
    ...(clearsAtMs === undefined ? {} : { until: iso(clearsAtMs) }),
    checks,
  };
}

/** The checks of a decision in the ledger; none if it is not there. */
export function recordedChecks(event: LedgerEvent | undefined): readonly Check[] {
  const checks = event?.facts["checks"];
  return Array.isArray(checks) ? toChecks(checks as unknown as readonly StoredCheck[]) : [];
}

/** Checks as data. */
export function toChecks(checks: readonly (StoredCheck & { readonly clearsAtMs?: number })[]): readonly Check[] {
  const deciding = checks.find(({ answer }) => answer === "blocks");
  return checks.map((check) => {
    const { asks, answer, evidence, clears, clearsAtMs } = check;
    return {
      name: asks,
      passed: answer === "passes",
      isDeciding: check === deciding,
      evidence,
      ...(clearsAtMs === undefined ? {} : { clearsAt: iso(clearsAtMs) }),
      ...(clears === undefined ? {} : { clears }),
    };
  });
}
