import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { annotationKeys, type RemediationRequest, remediationRequests } from "../../src/resources/index.ts";
import { diskRule, minute, OrchestratorWorld } from "./orchestrator-world.ts";

describe("an incident", () => {
  let world: OrchestratorWorld;
  beforeEach(async () => {
    world = await OrchestratorWorld.open();
    await world.executor();
    await world.orchestrator();
  });
  afterEach(() => world.close());

  it("is diagnosed, runs, is verified, and completes", async () => {
    const name = await world.incident("disk");
    expect(await world.status(name)).toMatchObject({
      phase: "Executing",
      diagnosis: { target: "node/worker-1", workflowId: "cleanup", rule: "disk" },
      executionRefs: [{ name: `${name}-1` }],
    });

    await world.passTime(minute);
    await world.reportRun("True");
    expect(await world.status(name)).toMatchObject({ phase: "Verifying" });

    await world.passTime(15 * minute);
    expect(await world.status(name)).toMatchObject({ phase: "Completed" });
    expect(world.eventTypes(name)).toEqual([
      "incident.diagnosed",
      "incident.decided",
      "execution.admitted",
      "run.created",
      "execution.started",
      "execution.completed",
      "target.freed",
      "incident.closed",
    ]);
  });

  it("owns its execution, which refers to the incident", async () => {
    const name = await world.incident("disk");

    const [execution] = await world.executions();
    const { uid } = (await world.seen(name)).metadata;
    expect(execution).toMatchObject({
      metadata: {
        name: `${name}-1`,
        namespace: "kubernaut-system",
        annotations: { [annotationKeys.signalFingerprint]: "disk" },
        ownerReferences: [{ kind: "RemediationRequest", name, uid, controller: true }],
      },
      spec: { workflowRef: { workflowId: "cleanup", version: "1" }, remediationRequestRef: { name, uid } },
    });
  });

  it("that is deleted also deletes its execution and run", async () => {
    const name = await world.incident("disk");
    await world.reportRun("Unknown");

    await world.deleteIncident(name);
    expect(await world.run()).toHaveProperty("spec.status", "Cancelled");
    await world.reportRun("False");

    expect(await world.executions()).toEqual([]);
  });

  it("keeps the fields that the gateway writes", async () => {
    const name = await world.incident("disk");
    await world.report(name);
    await world.report(name);

    await world.reportRun("True");

    expect(await world.status(name)).toMatchObject({ phase: "Verifying", deduplication: { occurrenceCount: 2 } });
  });

  describe("that no rule matches", () => {
    it("waits, and lists the rules that were tried", async () => {
      const name = await world.incident("memory", { signalName: "MemoryFull" });

      const { phase, block } = await world.status(name);
      expect([phase, block?.reason]).toEqual(["Blocked", "NoMatchingRule"]);
      expect(block?.message).toContain("tried disk (signalName is MemoryFull)");
      expect(world.ledger.events().map(({ id }) => id)).toContain(block?.decision);
    });

    it("continues when a matching rule is added", async () => {
      const name = await world.incident("memory", { signalName: "MemoryFull" });

      world.rules.set({ ...diskRule, match: { signalName: "MemoryFull" } });
      await world.settle();

      expect(await world.status(name)).toMatchObject({ phase: "Executing" });
    });

    it("is neither read nor analyzed again when the gateway only updates its count", async () => {
      const name = await world.incident("memory", { signalName: "MemoryFull" });
      const before = world.rules.evaluations;

      for (let i = 0; i < 5; i++) await world.report(name);

      expect(world.rules.evaluations).toBe(before);
    });

    it("is analyzed again when a series with other labels joins", async () => {
      world.rules.set({ ...diskRule, match: { labels: { condition: "DiskPressure" } } });
      const name = await world.incident("pressure", { signalName: "NodePressure" });
      expect(await world.status(name)).toMatchObject({ phase: "Blocked" });

      const at = world.nowAt();
      const series = { a: { firingAt: at }, b: { firingAt: at, labels: { condition: "DiskPressure" } } };
      await world.reportSeries(name, series, "critical");

      expect(await world.status(name)).toMatchObject({ phase: "Executing" });
    });

    it("is analyzed again when a replica with outdated rules has blocked it", async () => {
      await world.pause("freeze");
      const name = await world.incident("disk");
      expect(await world.status(name)).toMatchObject({ phase: "Blocked", diagnosis: { rule: "disk" } });

      const { diagnosis: _, ...status } = (await world.seen(name)).status ?? {};
      const block = { reason: "NoMatchingRule", message: "no rule of the other replica applies" };
      const next = { ...(await world.seen(name)), status: { ...status, block } } as RemediationRequest;
      await world.client.update(remediationRequests, next, { subresource: "status" });
      await world.settle();

      expect(await world.status(name)).toMatchObject({ phase: "Blocked", diagnosis: { rule: "disk" } });
    });

    it("waits until its workflow is in the catalog", async () => {
      world.rules.set({ ...diskRule, workflow: "defrag" });
      const name = await world.incident("disk");
      expect(await world.status(name)).toMatchObject({
        phase: "Blocked",
        block: { reason: "NoMatchingRule", message: expect.stringContaining("defrag is not in the catalog") },
      });

      await world.workflow({ workflowId: "defrag" });

      expect(await world.status(name)).toMatchObject({ phase: "Executing" });
    });
  });

  describe("that waits when a rule is corrected", () => {
    it("is diagnosed again although it is Blocked on a workflow that does not exist", async () => {
      world.rules.set({ ...diskRule, workflow: "claenup" });
      const name = await world.incident("disk");
      expect(await world.status(name)).toMatchObject({ phase: "Blocked", diagnosis: { workflowId: "claenup" } });

      world.rules.set(diskRule);
      await world.settle();

      expect(await world.status(name)).toMatchObject({ phase: "Executing", diagnosis: { workflowId: "cleanup" } });
    });

    it("is diagnosed again by an orchestrator that starts with the corrected rule", async () => {
      await world.pause("freeze");
      const name = await world.incident("disk");

      const other = { subscribe: () => () => {}, analyze: restarting };
      await world.orchestrator({ analyzer: other });

      expect(await world.status(name)).toMatchObject({ phase: "Blocked", diagnosis: { workflowId: "restart" } });
    });

    it("moves to its new target, and is Blocked without a diagnosis when its rule is removed", async () => {
      await world.pause("freeze");
      const name = await world.incident("disk");

      world.rules.set({ ...diskRule, target: "node/other" });
      await world.settle();
      expect(await world.status(name)).toMatchObject({ phase: "Blocked", diagnosis: { target: "node/other" } });
      world.rules.set();
      await world.settle();

      const { block, diagnosis } = await world.status(name);
      expect([block?.reason, diagnosis]).toEqual(["NoMatchingRule", undefined]);
      await world.endPause("freeze");
      expect(await world.executions()).toEqual([]);
    });

    it("expires its approval request", async () => {
      await world.workflow({ version: "2", approval: { required: true } });
      await world.workflow({ workflowId: "restart" });
      const name = await world.incident("disk");
      expect(await world.status(name)).toMatchObject({ phase: "AwaitingApproval" });

      world.rules.set({ ...diskRule, workflow: "restart" });
      await world.settle();

      expect((await world.approvals()).map(({ status }) => status?.decision)).toEqual(["Expired"]);
      expect(await world.status(name)).toMatchObject({ phase: "Executing", diagnosis: { workflowId: "restart" } });
    });

    it("requests the approval again each time its rule is removed and restored", async () => {
      await world.workflow({ version: "2", approval: { required: true } });
      const name = await world.incident("disk");

      for (let times = 0; times < 2; times++) {
        world.rules.set();
        await world.settle();
        expect(await world.status(name)).toMatchObject({ phase: "Blocked" });
        world.rules.set(diskRule);
        await world.settle();
        expect(await world.status(name)).toMatchObject({ phase: "AwaitingApproval" });
      }

      const decisions = (await world.approvals()).map(({ status }) => status?.decision);
      expect(decisions.sort()).toEqual(["Expired", "Expired", undefined]);
      const asked = (await world.notices()).filter(({ spec }) => spec.eventType === "ApprovalRequired");
      expect(asked).toHaveLength(3);
      const open = (await world.approvals()).filter(({ status }) => !status);
      for (const approval of open) await world.answer(approval, "Approved");
      expect(await world.status(name)).toMatchObject({ phase: "Executing" });
    });

    it("is not diagnosed again while its execution runs", async () => {
      const name = await world.incident("disk");

      world.rules.set({ ...diskRule, workflow: "restart" });
      await world.settle();
      await world.reportRun("True");

      expect(await world.status(name)).toMatchObject({ phase: "Verifying", diagnosis: { workflowId: "cleanup" } });
    });

    async function restarting() {
      const diagnosis = { target: "node/worker-1", workflowId: "restart", rule: "disk" };
      return { kind: "diagnosed" as const, diagnosis, rule: "disk" };
    }
  });

  describe("that is resolved", () => {
    it("before anything was started is withdrawn", async () => {
      await world.pause("freeze");
      const name = await world.incident("disk");
      expect(await world.status(name)).toMatchObject({ phase: "Blocked", block: { reason: "Paused" } });

      await world.resolve(name);

      expect(await world.status(name)).toMatchObject({ phase: "Withdrawn", outcome: "ResolvedBeforeStart" });
      await world.endPause("freeze");
      expect(await world.executions()).toEqual([]);
    });

    it("while no rule matches is withdrawn", async () => {
      const name = await world.incident("memory", { signalName: "MemoryFull" });

      await world.resolve(name);

      expect(await world.status(name)).toMatchObject({ phase: "Withdrawn", outcome: "ResolvedBeforeStart" });
    });

    it("during the run lets the run finish", async () => {
      const name = await world.incident("disk");
      await world.resolve(name);
      expect(await world.status(name)).toMatchObject({ phase: "Executing" });
      expect(await world.run()).not.toHaveProperty("spec.status");

      await world.passTime(1_000);
      await world.reportRun("True");

      expect(await world.status(name)).toMatchObject({ phase: "Completed", outcome: "ResolvedDuringRun" });
    });

    it("after the run is Remediated", async () => {
      const name = await world.incident("disk");
      await world.reportRun("True");

      await world.passTime(minute);
      await world.resolve(name);

      expect(await world.status(name)).toMatchObject({ phase: "Completed", outcome: "Remediated" });
    });

    it("and fires again during the run is verified like any other", async () => {
      const name = await world.incident("disk");
      await world.resolve(name);
      await world.report(name);

      await world.reportRun("True");

      expect(await world.status(name)).toMatchObject({ phase: "Verifying" });
    });
  });

  describe("whose problem recurs", () => {
    it("is decided again, and waits exactly for the end of the cooldown", async () => {
      const name = await world.incident("disk");
      await world.reportRun("True");
      const endedAt = world.clock.wallMs();

      await world.passTime(3 * minute);
      await world.report(name);
      expect(await world.status(name)).toMatchObject({
        phase: "Blocked",
        block: { reason: "RecentlyRemediated", cause: "cooldown", until: new Date(endedAt + 5 * minute).toISOString() },
      });

      await world.passTime(2 * minute - 1);
      expect(await world.executions()).toHaveLength(1);
      await world.passTime(20);
      expect(await world.executions()).toHaveLength(2);
      expect(world.eventTypes(name)).toContain("incident.recurred");
    });

    it("within the grace period after the run is not a recurrence", async () => {
      const name = await world.incident("disk");
      await world.reportRun("True");

      await world.passTime(2 * minute);
      await world.report(name);
      await world.passTime(20 * minute);

      expect(await world.status(name)).toMatchObject({ phase: "Completed" });
    });

    it("three times after successful runs is Ineffective, with one notice", async () => {
      const name = await world.incident("disk");
      for (let i = 0; i < 3; i++) {
        await world.reportRun("True");
        await world.passTime(6 * minute);
        await world.report(name);
      }
      const { phase, block, requiresManualReview } = await world.status(name);
      expect([phase, block?.reason, requiresManualReview]).toEqual(["Blocked", "Ineffective", true]);
      expect(await reviews(world)).toHaveLength(1);

      await world.passTime(30 * minute);
      await world.report(name);
      expect(await reviews(world)).toHaveLength(1);
      expect(await world.executions()).toHaveLength(3);

      await world.annotate(name, { [annotationKeys.acknowledge]: "new disk", [annotationKeys.acknowledgedBy]: "kim" });
      expect(await world.status(name)).toMatchObject({ phase: "Executing" });
      expect((await world.seen(name)).metadata.annotations ?? {}).not.toHaveProperty([annotationKeys.acknowledge]);
      expect((await world.record()).status?.workflows?.[0]?.ack).toMatchObject({ by: "kim", reason: "new disk" });
    });
  });

  describe("that recurred after three successful runs", () => {
    const ack = { [annotationKeys.acknowledge]: "new disk", [annotationKeys.acknowledgedBy]: "kim" };

    it("stays Ineffective after the window, until an ack", async () => {
      const name = await ineffective();

      await world.passTime(5 * 60 * minute);
      await world.report(name);
      expect(await world.status(name)).toMatchObject({ phase: "Blocked", block: { reason: "Ineffective" } });
      expect(await world.executions()).toHaveLength(3);

      await world.annotate(name, ack);
      expect(await world.status(name)).toMatchObject({ phase: "Executing" });
      expect((await world.record()).status?.workflows?.[0]).not.toHaveProperty("ineffective");
    });

    it("closes with requiresManualReview, and the next incident is Ineffective after the window", async () => {
      const name = await ineffective();
      await world.resolve(name);
      expect(await world.status(name)).toMatchObject({ phase: "Withdrawn", requiresManualReview: true });

      await world.passTime(48 * 60 * minute);
      const next = await world.incident("another pod", { signalName: "DiskFull" });
      expect(await world.status(next)).toMatchObject({
        phase: "Blocked",
        block: { reason: "Ineffective" },
        requiresManualReview: true,
      });
      expect(await world.executions()).toHaveLength(3);
    });

    it("stays Ineffective after the window when the record was deleted, and marks the new record", async () => {
      const name = await ineffective();
      await world.passTime(5 * 60 * minute);

      await world.deleteRecord();
      expect(await world.status(name)).toMatchObject({ phase: "Blocked", block: { reason: "Ineffective" } });
      // The executor folds the end of a deleted execution, and so makes the record again.
      await world.deleteExecution(`${name}-1`);

      expect(await world.status(name)).toMatchObject({ phase: "Blocked", block: { reason: "Ineffective" } });
      expect((await world.record()).status?.workflows?.[0]).toHaveProperty("ineffective");
    });

    it("as several incidents of different fingerprints about one node is Ineffective", async () => {
      for (const pod of ["a", "b", "c"]) {
        const name = await world.incident(`pod-${pod}`);
        await world.reportRun("True");
        await world.resolve(name);
        await world.passTime(6 * minute);
      }

      const last = await world.incident("pod-d");

      expect(await world.status(last)).toMatchObject({ phase: "Blocked", block: { reason: "Ineffective" } });
    });

    it("counts the runs that incidents followed", async () => {
      const first = await world.incident("pod-a");
      const follower = await world.incident("pod-b");
      await world.reportRun("True");
      await world.resolve(first);
      for (let i = 0; i < 2; i++) {
        await world.passTime(6 * minute);
        await world.report(follower);
        await world.reportRun("True");
      }
      await world.passTime(6 * minute);
      await world.report(follower);

      expect(await world.executions()).toHaveLength(3);
      expect(await world.status(follower)).toMatchObject({ phase: "Blocked", block: { reason: "Ineffective" } });
    });

    async function ineffective(): Promise<string> {
      const name = await world.incident("disk");
      for (let i = 0; i < 3; i++) {
        await world.reportRun("True");
        await world.passTime(6 * minute);
        await world.report(name);
      }
      expect(await world.status(name)).toMatchObject({ phase: "Blocked", block: { reason: "Ineffective" } });
      expect((await world.record()).status?.workflows?.[0]).toHaveProperty("ineffective");
      return name;
    }
  });

  it("from a source that rarely repeats its reports is Inconclusive without further reports", async () => {
    const rare = await world.incident("rare", { signalSource: "alertmanager" });
    await world.reportRun("True");

    await world.passTime(15 * minute);

    expect(await world.status(rare)).toMatchObject({ phase: "Completed", outcome: "Inconclusive" });
  });

  describe("whose run fails", () => {
    it("during execution is closed, and the next incident waits for an acknowledgement", async () => {
      const name = await world.incident("disk");
      await world.loseRun();
      expect(await world.status(name)).toMatchObject({
        phase: "Failed",
        outcome: "ExecutionFailed",
        requiresManualReview: true,
      });

      const next = await world.incident("disk", {}, 2);
      expect(await world.status(next)).toMatchObject({
        phase: "Blocked",
        block: { reason: "PreviousExecutionFailed" },
      });

      await world.annotate(next, { [annotationKeys.acknowledge]: "looked at it" });
      expect(await world.status(next)).toMatchObject({ phase: "Executing" });
    });

    it("before execution is retried with a new execution after each backoff, until retries are exhausted", async () => {
      world.rules.set({ ...diskRule, workflow: "broken" });
      await world.workflow({ workflowId: "broken", engine: "job" });
      const name = await world.incident("disk");

      const tries: number[] = [];
      const waits: number[] = [];
      for (let i = 0; i < 4; i++) {
        const { block } = await world.status(name);
        expect(block).toMatchObject({ reason: "RecentlyRemediated", cause: "backoff" });
        const waitMs = Date.parse(block?.until ?? "") - world.clock.wallMs();
        waits.push(Math.round(waitMs / minute));
        await world.passTime(waitMs - 1);
        tries.push((await world.executions()).length);
        await world.passTime(20);
      }

      expect(waits).toEqual([1, 2, 4, 8]);
      expect(tries).toEqual([1, 2, 3, 4]);
      expect(await world.executions()).toHaveLength(5);
      expect(await world.status(name)).toMatchObject({ phase: "Blocked", block: { reason: "ExhaustedRetries" } });
      expect(await reviews(world)).toHaveLength(1);
    });

    it("because the execution was deleted is decided again", async () => {
      const name = await world.incident("disk");
      await world.reportRun("Unknown");

      await world.deleteExecution(`${name}-1`);
      await world.reportRun("False");

      expect(await world.status(name)).toMatchObject({
        phase: "Blocked",
        block: { reason: "RecentlyRemediated" },
      });
    });
  });
});

async function reviews(world: OrchestratorWorld) {
  return (await world.notices()).filter(({ spec }) => spec.message.startsWith("No workflow runs"));
}
