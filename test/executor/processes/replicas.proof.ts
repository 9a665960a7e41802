import { describe, expect, it } from "vitest";
import type { WorkflowExecution } from "../../../src/resources/index.ts";
import { wrongSkip } from "./replica-problems.ts";
import { playReplicas } from "./replicas.ts";

describe("several executors on one API server", () => {
  // `npm run replicas` plays 1,000 executions over 50 targets, with 2 and with 5 replicas.
  it("let one step at a time act on a target, end everything, and record it correctly", {
    timeout: 240_000,
  }, async () => {
    const { problems, counts } = await playReplicas({ replicas: 2, executions: 120, targets: 10 });

    expect(problems).toEqual([]);
    expect(counts["Completed"]).toBeGreaterThan(10);
    expect(counts["Skipped ResourceBusy"]).toBeGreaterThan(10);
  });
});

describe("a skip for a busy target", () => {
  it.each([
    ["while it was held", "2026-05-01T10:00:01.000Z", 0],
    ["at its admission", "2026-05-01T10:00:00.000Z", 0],
    ["before it was held", "2026-05-01T09:59:59.999Z", 1],
    ["after it was freed", "2026-05-01T10:00:02.001Z", 1],
  ])("%s is judged by the ledger", (_when, skippedAt, problems) => {
    const trail = [
      { type: "execution.admitted", at: "2026-05-01T10:00:00.000Z" },
      { type: "target.freed", at: "2026-05-01T10:00:02.000Z" },
    ] as const;

    expect(wrongSkip(skipped(skippedAt), new Map([["holder", trail]]))).toHaveLength(problems);
  });

  it("for a holder that is not in the ledger is wrong", () => {
    expect(wrongSkip(skipped("2026-05-01T10:00:01.000Z"), new Map())).toHaveLength(1);
  });
});

function skipped(skippedAt: string): WorkflowExecution {
  const conflictingWorkflow = { name: "holder", namespace: "default", uid: "holder" };
  const skipDetails = { reason: "ResourceBusy", message: "busy", skippedAt, conflictingWorkflow };
  return { metadata: { name: "e" }, status: { phase: "Skipped", skipDetails } } as unknown as WorkflowExecution;
}
