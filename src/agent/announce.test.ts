import { describe, expect, it } from "vitest";
import { memoryLedger } from "../ledger/index.ts";
import { type CodingTask, cancelAnnotations } from "../resources/index.ts";
import { draftTask } from "../tasks/index.ts";
import { promMetrics, silentLogger } from "../telemetry/index.ts";
import { announcer } from "./announce.ts";
import { cancelRequest } from "./decide.ts";
import { cancelledEnd } from "./end.ts";
import { agentMetrics } from "./metrics.ts";
import { endedStatus } from "./statuses.ts";

describe("a cancelled task", () => {
  it("is in the ledger with the operator and the reason", async () => {
    const ledger = memoryLedger();
    const metrics = agentMetrics(promMetrics(), { tasks: { list: () => [] }, nowMs: () => 0 });
    const task = cancelledBy("kim@example.com", "not needed");

    await announcer({ ledger, metrics, log: silentLogger, nowMs: () => 0 }).recordEnd(
      task,
      endedStatus(task, cancelledEnd(cancelRequest(task) ?? ""), 0),
    );

    expect(ledger.events()).toMatchObject([
      {
        type: "task.ended",
        facts: {
          phase: "Cancelled",
          cancelled_by: "kim@example.com",
          message: "cancelled: kim@example.com: not needed",
        },
      },
    ]);
  });
});

function cancelledBy(by: string, reason: string): CodingTask {
  const reading = draftTask(
    {
      type: "Review",
      project: { host: "gitlab.example.com", id: 42, path: "group/app" },
      claimKey: "review:1",
      source: "webhook",
      receivedTime: "2026-03-01T12:00:00.000Z",
      mergeRequest: { iid: 7, headSha: "a".repeat(40), sourceBranch: "topic", targetBranch: "main" },
    },
    "ns",
  );
  if (reading.kind === "problem") throw new Error(reading.problem);
  const annotations = cancelAnnotations({ by, reason, blocks: false });
  return { ...reading.task, metadata: { ...reading.task.metadata, uid: "uid-1", annotations } };
}
