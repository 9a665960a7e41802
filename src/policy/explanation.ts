import { blockText } from "../resources/index.ts";
import type { Check } from "./checks.ts";
import type { PolicyDecision } from "./decide.ts";
import type { ActionRequest } from "./request.ts";

/** Explains a decision in lines: the verdict, then every check with its evidence, when it clears, and the next step. */
export function explain({ target, workflowId }: ActionRequest, decision: PolicyDecision): readonly string[] {
  return [`${workflowId} on ${target}: ${headline(decision)}`, "", ...explainChecks(decision.checks)];
}

/** A check, or the stored form of one. */
export type StoredCheck = Pick<Check, "number" | "asks" | "answer" | "evidence"> & {
  readonly reason?: string;
  readonly cause?: string;
  readonly clears?: string;
  readonly nextStep?: string;
};

/** Returns the stored form of a check. Its next step is stored once, with the decision. */
export function toStoredCheck(check: Check): StoredCheck {
  const { number, asks, answer, evidence } = check;
  if (check.answer === "passes") return { number, asks, answer, evidence };
  const { reason, cause, clears } = check;
  return { number, asks, answer, evidence, reason, ...(cause ? { cause } : {}), clears };
}

/** Explains each check with its evidence, in lines. */
export function explainChecks(checks: readonly StoredCheck[]): readonly string[] {
  return checks.flatMap(({ number, asks, answer, evidence, reason = "", cause, clears, nextStep }) => [
    `  ${number}  ${asks.padEnd(50)} ${answer === "passes" ? "ok" : blockText(reason, cause)}`,
    `     ${evidence}`,
    ...(clears ? [`     clears ${clears}`] : []),
    ...(nextStep ? [`     next: ${nextStep}`] : []),
  ]);
}

function headline(decision: PolicyDecision): string {
  if (decision.verdict === "allow") return decision.message;
  return `not now, ${blockText(decision.reason, decision.cause)}${decision.cause === "cooldown" ? " (cooldown)" : ""}`;
}
