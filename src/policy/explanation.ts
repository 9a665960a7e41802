import type { Decision } from "./decide.ts";
import type { ActionRequest } from "./request.ts";

/** The decision for people: the verdict, every check with its evidence, when the answer changes, what to do. */
export function explain({ target, workflowId }: ActionRequest, decision: Decision): string {
  return [`${workflowId} on ${target}: ${headline(decision)}`, "", ...explainChecks(decision.checks)].join("\n");
}

/** A check as it was made, or as it was written down. */
export interface ToldCheck {
  readonly number: number;
  readonly asks: string;
  readonly answer: "passes" | "blocks";
  readonly evidence: string;
  readonly reason?: string;
  readonly clears?: string;
  readonly nextStep?: string;
}

/** Each check with what was found. */
export function explainChecks(checks: readonly ToldCheck[]): readonly string[] {
  return checks.flatMap(({ number, asks, answer, evidence, reason, clears, nextStep }) => [
    `  ${number}  ${`${asks}?`.padEnd(66)} ${answer === "passes" ? "ok" : reason}`,
    `     ${evidence}`,
    ...(clears ? [`     clears ${clears}`] : []),
    ...(nextStep ? [`     next: ${nextStep}`] : []),
  ]);
}

function headline(decision: Decision): string {
  if (decision.verdict === "allow") return decision.message;
  return `not now, ${decision.reason}${decision.cause ? ` (${decision.cause})` : ""}`;
}
