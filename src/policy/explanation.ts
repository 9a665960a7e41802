import { blockText } from "../resources/index.ts";
import type { Check } from "./checks.ts";
import type { PolicyDecision } from "./decide.ts";
import type { ActionRequest } from "./request.ts";

/** The decision for people, in lines: the verdict, every check with its evidence, when the answer changes, what to do. */
export function explain({ target, workflowId }: ActionRequest, decision: PolicyDecision): readonly string[] {
  return [`${workflowId} on ${target}: ${headline(decision)}`, "", ...explainChecks(decision.checks)];
}

/** A check as it was made, or as it was written down. */
export type StoredCheck = Pick<Check, "number" | "asks" | "answer" | "evidence"> & {
  readonly reason?: string;
  readonly cause?: string;
  readonly clears?: string;
  readonly nextStep?: string;
};

/** A check to be stored. What to do is stated once, with the decision. */
export function toStoredCheck(check: Check): StoredCheck {
  const { number, asks, answer, evidence } = check;
  if (check.answer === "passes") return { number, asks, answer, evidence };
  const { reason, cause, clears } = check;
  return { number, asks, answer, evidence, reason, ...(cause ? { cause } : {}), clears };
}

/** Each check with its evidence. */
export function explainChecks(checks: readonly StoredCheck[]): readonly string[] {
  return checks.flatMap(({ number, asks, answer, evidence, reason = "", cause, clears, nextStep }) => [
    `  ${number}  ${`${asks}?`.padEnd(66)} ${answer === "passes" ? "ok" : blockText(reason, cause)}`,
    `     ${evidence}`,
    ...(clears ? [`     clears ${clears}`] : []),
    ...(nextStep ? [`     next: ${nextStep}`] : []),
  ]);
}

function headline(decision: PolicyDecision): string {
  if (decision.verdict === "allow") return decision.message;
  return `not now, ${blockText(decision.reason, decision.cause)}${decision.cause === "cooldown" ? " (cooldown)" : ""}`;
}
