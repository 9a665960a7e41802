import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { namesKnownSince } from "../../src/app/index.ts";
import { keyOf } from "../../src/coordination/index.ts";
import { approvalIdentity, usualManifests } from "../../src/manifests/index.ts";
import { workflowExecutions } from "../../src/resources/index.ts";
import { defineAdmissionPolicies, putAdmissionPolicies } from "../doubles/admission-policies.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { defaultSettings, diskRule, minute, OrchestratorWorld } from "./orchestrator-world.ts";

let world: OrchestratorWorld;
beforeEach(async () => {
  world = await OrchestratorWorld.open();
  await world.executor();
});
afterEach(() => world.close());

describe("an incident whose execution is skipped at admission", () => {
  it("is blocked with the executor's reason, and why shows that decision", async () => {
    await world.orchestrator({ settings: { ...defaultSettings, cooldownMs: 0 } });
    const first = await world.incident("disk");
    await world.reportRun("True");
    await world.resolve(first);

    const second = await world.incident("disk-too");

    const { phase, block } = await world.status(second);
    expect({ phase, reason: block?.reason }).toEqual({ phase: "Blocked", reason: "RecentlyRemediated" });
    expect(block?.decision).toMatch(/\/execution\.skipped$/);
    const cli = new TestCli(world.client, { events: () => world.ledger.events() });
    await cli.run("why", second);
    expect(cli.read()).toMatch(/Decided at \S+: skip, RecentlyRemediated\n[\s\S]*not in cooldown after a success/);
  });

  it("waits until the time that the executor recorded, although the settings of the orchestrator allow it earlier", async () => {
    await world.orchestrator({ settings: { ...defaultSettings, cooldownMs: 0 } });
    const first = await world.incident("disk");
    await world.reportRun("True");
    await world.resolve(first);
    const second = await world.incident("disk-too");

    for (let minutes = 0; minutes < 4; minutes++) await world.passTime(minute);
    expect((await world.executions()).map(({ status }) => status?.phase)).toEqual(["Completed", "Skipped"]);

    await world.passTime(2 * minute);
    expect(await world.status(second)).toMatchObject({ phase: "Executing" });
    expect((await world.executions()).filter(({ status }) => status?.phase === "Skipped")).toHaveLength(1);
  });

  it("continues before that time when the execution whose cooldown it waits for is deleted", async () => {
    await world.orchestrator({ settings: { ...defaultSettings, cooldownMs: 0 } });
    const first = await world.incident("disk");
    await world.reportRun("True");
    await world.resolve(first);
    const second = await world.incident("disk-too");
    const [done] = await world.executions();

    await world.deleteExecution(done?.metadata.name ?? "");
    await world.passTime(10_000);

    expect(await world.status(second)).toMatchObject({ phase: "Executing" });
  });

  it("is explained with the decision when the ledger's database has it", async () => {
    await world.orchestrator();
    await world.pause("all");
    const name = await world.incident("disk");
    const { block } = await world.status(name);
    let looks = 0;
    const events = () => {
      const isNotified = ++looks > 2;
      return world.ledger.events().filter(({ id }) => isNotified || id !== block?.decision);
    };
    const cli = new TestCli(world.client, { events });

    await cli.run("why", name);

    expect(cli.read()).toMatch(/Decided at \S+: block, Paused/);
  });

  it("is explained without the decision if the ledger does not have it", async () => {
    await world.orchestrator();
    await world.pause("all");
    const name = await world.incident("disk");
    const cli = new TestCli(world.client);

    await cli.run("why", name);

    expect(cli.read()).toContain("The decision is not in the ledger that is read here, or not yet.");
  });
});

describe("the name of the user who answered an approval", () => {
  const policy = approvalIdentity(usualManifests.places);

  beforeEach(async () => {
    await defineAdmissionPolicies(world.client);
    await world.workflow({ workflowId: "reboot", approval: { required: true } });
    world.rules.set({ ...diskRule, workflow: "reboot" });
    const client = permittedClient(world.client, "orchestrator");
    await world.orchestrator({
      answerersKnownSince: (signal) => namesKnownSince({ client, policy, log: world.log }, signal),
    });
  });

  it("is verified if the shipped policy was installed before the approval was requested", async () => {
    await putAdmissionPolicies(world.client, ...policy);
    await world.passTime(10 * minute);
    await world.incident("disk");

    await answer();

    expect(answerOnRecord()).toMatchObject({ by: "kim", decision: "Approved", verified: true });
  });

  it("is not verified if the policy was installed after the approval was requested", async () => {
    await world.incident("disk");
    await putAdmissionPolicies(world.client, ...policy);
    await world.passTime(10 * minute);

    await answer();

    expect(answerOnRecord()).toMatchObject({ by: "kim", verified: false });
  });

  async function answer() {
    const [approval] = await world.approvals();
    await world.answer(approval as NonNullable<typeof approval>, "Approved");
  }
});

describe("a workflow that requires an approval", () => {
  beforeEach(async () => {
    await world.orchestrator();
    await world.workflow({ workflowId: "reboot", approval: { required: true } });
    world.rules.set({ ...diskRule, workflow: "reboot" });
  });

  it("requests one approval with one notice, and runs after it is approved", async () => {
    const name = await world.incident("disk");
    expect(await world.status(name)).toMatchObject({ phase: "AwaitingApproval" });
    expect(await world.executions()).toEqual([]);
    const [approval, ...others] = await world.approvals();
    expect(others).toEqual([]);
    expect(approval).toMatchObject({
      metadata: { ownerReferences: [{ name, controller: true }] },
      spec: { targetResource: "node/worker-1", recommendedWorkflow: { workflowId: "reboot", version: "1" } },
    });
    expect((await world.notices()).map(({ spec }) => spec.eventType)).toEqual(["ApprovalRequired"]);

    await world.answer(approval as NonNullable<typeof approval>, "Approved");

    expect(await world.status(name)).toMatchObject({ phase: "Executing" });
    expect(world.eventTypes(name)).toEqual(
      expect.arrayContaining(["approval.requested", "approval.answered", "incident.decided"]),
    );
  });

  it("does not verify a name that any user could have written", async () => {
    await world.incident("disk");
    const [approval] = await world.approvals();

    await world.answer(approval as NonNullable<typeof approval>, "Approved");

    expect(answerOnRecord()).toMatchObject({ by: "kim", decision: "Approved", verified: false });
  });

  it("does not run after a rejection", async () => {
    const name = await world.incident("disk");
    const [approval] = await world.approvals();

    await world.answer(approval as NonNullable<typeof approval>, "Rejected");

    expect(await world.status(name)).toMatchObject({ phase: "Failed", outcome: "ApprovalRejected" });
    expect(await world.executions()).toEqual([]);
  });

  it("does not run when the approval is not answered in time", async () => {
    const name = await world.incident("disk");
    await world.passTime(60 * minute - 1);
    expect(await world.status(name)).toMatchObject({ phase: "AwaitingApproval" });

    await world.passTime(20);

    expect(await world.status(name)).toMatchObject({ phase: "Failed", outcome: "ApprovalExpired" });
    expect(await world.approvals()).toMatchObject([{ status: { decision: "Expired" } }]);
  });

  it("uses the expiry of the workflow", async () => {
    await world.workflow({ workflowId: "reboot", version: "2", approval: { required: true, expiresAfter: "5m" } });
    const name = await world.incident("disk");

    await world.passTime(5 * minute + 20);

    expect(await world.status(name)).toMatchObject({ phase: "Failed", outcome: "ApprovalExpired" });
  });

  it("expires its approval when the problem is resolved", async () => {
    const name = await world.incident("disk");

    await world.resolve(name);

    expect(await world.status(name)).toMatchObject({ phase: "Withdrawn", outcome: "ResolvedDuringApproval" });
    expect(await world.approvals()).toMatchObject([{ status: { decision: "Expired" } }]);
  });

  it("is decided again after the approval, which reserves nothing and is not requested twice", async () => {
    const name = await world.incident("disk");
    const [approval] = await world.approvals();
    await world.pause("freeze");

    await world.answer(approval as NonNullable<typeof approval>, "Approved");
    expect(await world.status(name)).toMatchObject({ phase: "Blocked", block: { reason: "Paused" } });
    await world.endPause("freeze");

    expect(await world.status(name)).toMatchObject({ phase: "Executing" });
    expect(await world.approvals()).toHaveLength(1);
  });

  it("requests a new approval for each run", async () => {
    const name = await world.incident("disk");
    const [approval] = await world.approvals();
    await world.answer(approval as NonNullable<typeof approval>, "Approved");
    await world.reportRun("True");

    await world.passTime(6 * minute);
    await world.report(name);

    expect(await world.status(name)).toMatchObject({ phase: "AwaitingApproval" });
    expect(await world.approvals()).toHaveLength(2);
  });

  it("requests the approval again when it is deleted", async () => {
    const name = await world.incident("disk");
    const [approval] = await world.approvals();

    await world.deleteApproval(approval?.metadata.name ?? "");

    expect(await world.status(name)).toMatchObject({ phase: "AwaitingApproval" });
    expect(await world.approvals()).toHaveLength(1);
  });
});

describe("a pause", () => {
  beforeEach(() => world.orchestrator());

  it("blocks incidents exactly until it ends", async () => {
    const until = new Date(world.clock.wallMs() + 10 * minute).toISOString();
    await world.pause("freeze", { until });
    const name = await world.incident("disk");
    expect(await world.status(name)).toMatchObject({ phase: "Blocked", block: { reason: "Paused", until } });

    await world.passTime(10 * minute - 1);
    expect(await world.executions()).toEqual([]);
    await world.passTime(20);

    expect(await world.status(name)).toMatchObject({ phase: "Executing" });
  });

  it("that an operator ends releases the oldest incident first", async () => {
    await world.workflow({ workflowId: "defrag" });
    world.rules.set({ ...diskRule, name: "slow", match: { signalName: "DiskSlow" }, workflow: "defrag" }, diskRule);
    await world.pause("freeze");
    const older = await world.incident("slow", { signalName: "DiskSlow" });
    await world.passTime(2_000);
    const younger = await world.incident("disk");

    await world.endPause("freeze");

    expect(await world.status(older)).toMatchObject({ phase: "Executing" });
    expect(await world.status(younger)).toMatchObject({ phase: "Blocked", block: { reason: "ResourceBusy" } });
  });

  it("of another workflow affects no other incident", async () => {
    await world.pause("freeze", { scope: "Workflow", workflowId: "defrag" } as never);

    const name = await world.incident("disk");

    expect(await world.status(name)).toMatchObject({ phase: "Executing" });
  });
});

describe("a second series of a waiting incident", () => {
  const memory = { signalName: "NodePressure", severity: "warning", signalLabels: { condition: "MemoryPressure" } };
  const at = "2026-11-15T06:00:00.000Z";
  const both = {
    a: { firingAt: at },
    b: { firingAt: at, severity: "critical", labels: { condition: "DiskPressure" } },
  };

  beforeEach(async () => {
    await world.orchestrator();
    await world.workflow({ workflowId: "defrag" });
  });

  it("with another condition is matched by the rules, too: an incident without a rule gets one", async () => {
    world.rules.set({ name: "disk", match: { labels: { condition: "DiskPressure" } }, workflow: "cleanup" });
    const name = await world.incident("pressure", memory);
    expect(await world.status(name)).toMatchObject({ phase: "Blocked", block: { reason: "NoMatchingRule" } });

    await world.reportSeries(name, both, "critical");

    expect(await world.status(name)).toMatchObject({ phase: "Executing", diagnosis: { rule: "disk" } });
  });

  it("that caches do not keep is matched by the rules, and no series is lost when the status is written", async () => {
    world.rules.set({ name: "disk", match: { labels: { condition: "DiskPressure" } }, workflow: "cleanup" });
    const name = await world.incident("pressure", memory);
    const text = "x".repeat(200);
    const many = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`s${i}`, { firingAt: at, labels: { pod: `api-${i}`, text } }]),
    );
    await world.reportSeries(name, many, "warning");
    expect(await world.status(name)).toMatchObject({ phase: "Blocked", block: { reason: "NoMatchingRule" } });
    const before = world.rules.evaluations;
    await world.report(name);
    expect(world.rules.evaluations).toBe(before);

    await world.reportSeries(name, { ...many, ...both }, "critical");

    const { phase, deduplication } = await world.status(name);
    expect(phase).toBe("Executing");
    expect(Object.keys(deduplication?.series ?? {})).toHaveLength(22);
  });

  it("with a higher severity causes a new analysis, and so does its end", async () => {
    world.rules.set(
      { name: "urgent", match: { severity: "critical" }, workflow: "cleanup" },
      { name: "usual", match: { severity: "warning" }, workflow: "defrag" },
    );
    await world.pause("freeze");
    const name = await world.incident("pressure", memory);
    const rules: (string | undefined)[] = [];
    const note = async () => rules.push((await world.status(name)).diagnosis?.rule);

    await note();
    await world.reportSeries(name, both, "critical");
    await note();
    await world.reportSeries(name, { b: { ...both.b, resolvedAt: at } }, "warning");
    await note();

    expect(rules).toEqual(["usual", "urgent", "usual"]);
  });

  it("that matches the same rule keeps the diagnosis, and is evaluated once", async () => {
    await world.pause("freeze");
    world.rules.set({ name: "any", match: { signalName: "NodePressure" }, workflow: "cleanup" });
    const name = await world.incident("pressure", memory);
    await world.reportSeries(name, both, "critical");
    const before = world.rules.evaluations;

    for (let i = 0; i < 5; i++) await world.reportSeries(name, both, "critical");

    expect(world.rules.evaluations).toBe(before);
    expect(world.eventTypes(name).filter((type) => type === "incident.diagnosed")).toHaveLength(1);
  });
});

describe("the lock of a target that another replica holds", () => {
  it("is awaited for at most 2 s, because its holder may have crashed", async () => {
    await world.orchestrator();
    await world.locks.acquire(keyOf("node/worker-1"), { purpose: "hold it for ever" });
    const name = await world.incident("disk");
    expect(await world.executions()).toEqual([]);

    await world.passTime(2_500);

    expect(await world.status(name)).toMatchObject({ phase: "Executing" });
  });
});

describe("in observe mode", () => {
  it("everything is decided and recorded, and nothing is started", async () => {
    await world.orchestrator({ settings: { ...defaultSettings, observe: true } });

    const name = await world.incident("disk");

    expect(await world.status(name)).toMatchObject({ phase: "Completed", outcome: "Observed" });
    expect(await world.executions()).toEqual([]);
    const [decision] = world.ledger.events().filter(({ type }) => type === "incident.decided");
    expect(decision?.facts).toMatchObject({ verdict: "observe", workflow_id: "cleanup" });
    expect(decision?.facts["checks"]).toHaveLength(9);
  });

  it("of one workflow, the other workflows run", async () => {
    await world.orchestrator();
    await world.workflow({ workflowId: "defrag", observe: true });
    world.rules.set({ ...diskRule, name: "slow", match: { signalName: "DiskSlow" }, workflow: "defrag" }, diskRule);

    const watched = await world.incident("slow", { signalName: "DiskSlow" });
    const run = await world.incident("disk");

    expect(await world.status(watched)).toMatchObject({ phase: "Completed", outcome: "Observed" });
    expect(await world.status(run)).toMatchObject({ phase: "Executing" });
  });
});

describe("a run that exceeds the timeout of its incident", () => {
  it("is cancelled, and the incident fails", async () => {
    await world.orchestrator();
    const name = await world.incident("disk");
    await world.reportRun("Unknown");
    await world.passTime(60 * minute - 1_000);
    expect(await world.status(name)).toMatchObject({ phase: "Executing" });

    await world.passTime(2_000);

    expect(await world.status(name)).toMatchObject({
      phase: "Failed",
      outcome: "TimedOut",
      requiresManualReview: true,
    });
    expect(await world.run()).toHaveProperty("spec.status", "Cancelled");
    await world.reportRun("False");
    expect((await world.record()).status?.holder).toBeUndefined();
  });

  it("is cancelled by its executor at the timeout of its workflow, and its execution is kept", async () => {
    await world.orchestrator();
    await world.workflow({ workflowId: "cleanup", version: "2", timeout: "4h" });
    const name = await world.incident("disk");
    await world.reportRun("Unknown");

    await world.passTime(241 * minute);

    expect(await world.run()).toHaveProperty("spec.status", "Cancelled");
    expect(await world.status(name)).toMatchObject({ phase: "Executing" });
    expect((await world.executions()).map(({ metadata }) => metadata.deletionTimestamp)).toEqual([undefined]);
  });

  it("may run until the timeout of its workflow", async () => {
    await world.orchestrator();
    await world.workflow({ version: "2", timeout: "2h" });
    const name = await world.incident("disk");
    await world.reportRun("Unknown");

    await world.passTime(90 * minute);

    expect(await world.status(name)).toMatchObject({ phase: "Executing" });
  });
});

describe("an incident that is closed", () => {
  it("deletes an execution that was created while it was closed", async () => {
    await world.orchestrator();
    await world.pause("freeze");
    const name = await world.incident("disk");
    await world.resolve(name);
    await world.endPause("freeze");
    const { uid = "" } = (await world.seen(name)).metadata;
    const owner = { apiVersion: "kubernaut.ai/v1alpha1", kind: "RemediationRequest", name, uid, controller: true };

    await world.client.create(workflowExecutions, {
      apiVersion: workflowExecutions.apiVersion,
      kind: workflowExecutions.kind,
      metadata: { name: `${name}-1`, namespace: "kubernaut-system", ownerReferences: [owner] },
      spec: { workflowRef: { workflowId: "cleanup", containerImage: "x" }, targetResource: "node/worker-2" },
    });
    await world.settle();
    if (await world.run("node/worker-2")) await world.reportRun("False", "node/worker-2");
    await world.passTime(10_000);

    expect(await world.executions()).toEqual([]);
  });
});

describe("an execution that executors refuse although the policy here allows it", () => {
  it("is retried with a growing delay", async () => {
    await world.orchestrator({ settings: { ...defaultSettings, cooldownMs: 0 } });
    await world.incident("disk");
    await world.reportRun("True");

    const next = await world.incident("inodes", { signalName: "DiskInodes" });
    expect((await world.executions()).length).toBeLessThanOrEqual(3);
    expect(await world.status(next)).toMatchObject({ phase: "Blocked", block: { reason: "RecentlyRemediated" } });
    await world.passTime(10 * minute);

    expect((await world.executions()).length).toBeLessThan(14);
    expect(await world.status(next)).toMatchObject({ phase: "Executing" });
  });
});

describe("a failure that needs a manual review", () => {
  it("creates one notice for all incidents that wait for it", async () => {
    await world.orchestrator();
    await world.incident("disk");
    await world.loseRun();

    const waiting: string[] = [];
    for (const i of [1, 2, 3]) waiting.push(await world.incident(`disk-${i}`, { signalName: `Disk${i}` }));

    const reviews = (await world.notices()).filter(({ spec }) => spec.message.startsWith("No workflow runs"));
    expect(reviews).toMatchObject([{ spec: { eventType: "ManualReviewRequired" } }]);

    await new TestCli(world.client).run("ack", waiting[1] ?? "", "--reason", "looked");
    await world.settle();
    const phases = await Promise.all(waiting.map(async (name) => (await world.status(name)).phase));
    expect(phases).toEqual(["Executing", "Executing", "Executing"]);
    expect((await world.executions()).filter(({ status }) => status?.phase === "Running")).toHaveLength(1);
  });

  it("is not acknowledged by what an operator wrote to another incident about an earlier failure", async () => {
    await world.orchestrator();
    await world.incident("disk");
    await world.loseRun();
    const waiting = [await world.incident("disk-1"), await world.incident("disk-2")];
    const cli = new TestCli(world.client);
    await Promise.all(waiting.map((name) => cli.run("ack", name, "--reason", "looked")));
    await world.passTime(minute);

    await world.loseRun();

    expect((await phases(waiting)).toSorted()).toEqual(["Blocked PreviousExecutionFailed", "Failed"]);
    expect(world.ledger.events().filter(({ type }) => type === "failure.acknowledged")).toHaveLength(1);
  });

  it("cannot be acknowledged through an incident that does not wait for it", async () => {
    await world.orchestrator();
    const name = await world.incident("disk");

    await expect(new TestCli(world.client).run("ack", name, "--reason", "looked")).rejects.toThrow(
      "does not wait for an acknowledgement",
    );
  });
});

/** The phase of each incident, with the reason of its block. */
function phases(names: readonly string[]): Promise<readonly string[]> {
  return Promise.all(
    names.map(async (name) => {
      const { phase = "", block } = await world.status(name);
      return block ? `${phase} ${block.reason}` : phase;
    }),
  );
}

function answerOnRecord() {
  return world.ledger.events().find(({ type }) => type === "approval.answered")?.facts;
}
