import type { Decision } from "./decide.ts";
import type { ActionRequest } from "./request.ts";

/** The decision for people: the verdict, every check with its evidence, when the answer changes, what to do. */
export function explain({ target, workflowId }: ActionRequest, decision: Decision): string {
  const lines = [`${workflowId} on ${target}: ${headline(decision)}`, ""];
  for (const check of decision.checks) {
    const mark = check.answer === "passes" ? "ok" : check.reason;
    lines.push(`  ${check.number}  ${`${check.asks}?`.padEnd(66)} ${mark}`, `     ${check.evidence}`);
    if (check.answer === "blocks") lines.push(`     clears ${check.clears}`, `     next: ${check.nextStep}`);
  }
  return lines.join("\n");
}

function headline(decision: Decision): string {
  if (decision.verdict === "allow") return decision.message;
  return `not now, ${decision.reason}${decision.cause ? ` (${decision.cause})` : ""}`;
}
