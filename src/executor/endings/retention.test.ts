import { describe, expect, it } from "vitest";
import { defaultPolicy } from "../../policy/index.ts";
import type {
  ExecutionEnd,
  RemediationTargetStatus,
  WorkflowExecution,
  WorkflowHistory,
} from "../../resources/index.ts";
import type { Snapshot } from "../snapshot.ts";
import { executionKeptUntilMs, recordKeptUntilMs, retentionEndMs } from "./retention.ts";

const minute = 60_000;
const created = Date.parse("2026-03-01T12:00:00.000Z");
const forever = Number.POSITIVE_INFINITY;
const retentionMs = 600 * minute;
const settings = {
  ...{ ...defaultPolicy, runTtlMs: minute, retentionMs: minute, targetRetentionMs: retentionMs },
  incidentsNamespace: "ns",
};
const holder = {
  ...{ executionUid: "u", executionName: "wfe-a", executionNamespace: "ns" },
  ...{ workflowId: "cleanup", engine: "tekton" as const, since: iso(created) },
};

describe("the record of a target", () => {
  it.each<[string, RemediationTargetStatus | undefined, number]>([
    ["without a status is kept for the retention", undefined, created + retentionMs],
    ["that is held is kept", { holder }, forever],
    [
      "is kept for the retention after its latest end",
      { workflows: [history({ recentEnds: [end({ completedAt: iso(created + 7 * minute) })] })] },
      created + 7 * minute + retentionMs,
    ],
    [
      "is kept for the retention after its latest acknowledgement",
      { workflows: [history({ ack: ack(created + 9 * minute) })] },
      created + 9 * minute + retentionMs,
    ],
    [
      "is kept until the longest cooldown is over",
      { workflows: [history({ workflowId: "slow", lastSuccess: end() }), history()] },
      created + 900 * minute,
    ],
    [
      "is kept until a failure while acting is acknowledged",
      {
        workflows: [
          history(),
          history({ lastExecutionFailure: end({ outcome: "Failed", wasExecutionFailure: true }) }),
        ],
      },
      forever,
    ],
    [
      "is kept if an approval was used, so that it cannot be used again",
      { workflows: [history({ recentEnds: [end({ approvalUid: "approval" })] })] },
      forever,
    ],
  ])("%s", (_what, status, expected) => {
    const metadata = { name: "hash", namespace: "runs", creationTimestamp: iso(created) };
    const record = { metadata, spec: { targetResource: "node/worker-1" }, ...(status && { status }) };
    const cooldownMs = (workflowId: string) => (workflowId === "slow" ? 900 : 5) * minute;

    expect(recordKeptUntilMs(record, { settings, cooldownMs })).toBe(expected);
  });
});

function history(facts: Partial<WorkflowHistory> = {}): WorkflowHistory {
  return { workflowId: "cleanup", consecutiveFailures: 0, recentEnds: [], ...facts };
}

function end(facts: Partial<ExecutionEnd> = {}): ExecutionEnd {
  const names = { executionUid: "u", executionName: "wfe-a", executionNamespace: "ns" };
  return { ...names, outcome: "Success", completedAt: iso(created), ...facts };
}

function ack(atMs: number) {
  const at = iso(atMs);
  return { executionUid: "u", coversUntil: iso(created), by: "kim", verified: true, reason: "looked", at };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

describe("an execution", () => {
  const completed = {
    metadata: { name: "wfe-a", namespace: "ns", uid: "u" },
    spec: { workflowRef: { workflowId: "cleanup", containerImage: "x" }, targetResource: "node/worker-1" },
    status: { phase: "Completed", completionTime: iso(created) },
  } as unknown as WorkflowExecution;

  it("is kept by the incident that owns it", () => {
    const ownerReferences = [{ apiVersion: "v1", kind: "RemediationRequest", name: "rr-1", uid: "rr" }];
    const owned = { ...completed, metadata: { ...completed.metadata, ownerReferences } };

    expect(retentionEndMs(owned, settings)).toBeUndefined();
    expect(retentionEndMs(completed, settings)).toBe(created + settings.retentionMs);
  });

  it("is kept as long as its cooldown needs it", () => {
    const plan = { kind: "valid", cooldownMs: 900 * minute };
    const world = { execution: completed, plan, record: undefined, settings } as unknown as Snapshot;

    expect(executionKeptUntilMs(world, end())).toBe(created + 900 * minute);
  });
});
