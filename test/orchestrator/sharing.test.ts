import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { diskRule, minute, OrchestratorWorld } from "./orchestrator-world.ts";

describe("incidents with the same target, workflow and parameters", () => {
  let world: OrchestratorWorld;
  beforeEach(async () => {
    world = await OrchestratorWorld.open();
    await world.executor();
    await world.orchestrator();
  });
  afterEach(() => world.close());

  it("share one run and its success, and are named in one digest", async () => {
    const first = await world.incident("disk");
    const second = await world.incident("inodes", { signalName: "DiskInodes" });
    const third = await world.incident("latency", { signalName: "DiskLatency" });
    const [execution] = await world.executions();
    for (const name of [second, third]) {
      expect(await world.status(name)).toMatchObject({
        phase: "Executing",
        follows: { uid: execution?.metadata.uid, name: `${first}-1` },
      });
    }

    await world.reportRun("True");

    for (const name of [first, second, third]) expect(await world.status(name)).toMatchObject({ phase: "Verifying" });
    expect(await world.executions()).toHaveLength(1);
    const notices = (await world.notices()).map(({ spec }) => spec);
    expect(notices).toHaveLength(2);
    expect(notices.filter(({ context }) => !context?.entries)).toMatchObject([{ eventType: "WorkflowCompleted" }]);
    const [digest] = notices.filter(({ context }) => context?.entries);
    expect(digest?.context?.entries?.map(({ name }) => name).toSorted()).toEqual([second, third].toSorted());
  });

  it("are each closed when they are resolved", async () => {
    await world.incident("disk");
    const second = await world.incident("inodes", { signalName: "DiskInodes" });
    await world.resolve(second);
    await world.passTime(1_000);

    await world.reportRun("True");

    expect(await world.status(second)).toMatchObject({ phase: "Completed", outcome: "ResolvedDuringRun" });
  });

  it("do not share a failure: each is decided again", async () => {
    const first = await world.incident("disk");
    const second = await world.incident("inodes", { signalName: "DiskInodes" });

    await world.loseRun();

    expect(await world.status(first)).toMatchObject({ phase: "Failed", outcome: "ExecutionFailed" });
    const { phase, block, follows } = await world.status(second);
    expect([phase, block?.reason, follows]).toEqual(["Blocked", "PreviousExecutionFailed", undefined]);
  });

  it("are decided again when the execution is deleted", async () => {
    const first = await world.incident("disk");
    const second = await world.incident("inodes", { signalName: "DiskInodes" });

    await world.deleteExecution(`${first}-1`);
    await world.reportRun("False");

    expect(await world.status(second)).toMatchObject({
      phase: "Blocked",
      block: { reason: "RecentlyRemediated" },
    });
  });

  it("but other parameters wait for the target", async () => {
    const careful = { ...diskRule, name: "inodes", match: { signalName: "DiskInodes" }, parameters: { keep: "9" } };
    await world.workflow({ version: "2", parameters: { properties: { keep: { type: "string" } } } });
    world.rules.set(careful, diskRule);
    await world.incident("disk");
    const second = await world.incident("inodes", { signalName: "DiskInodes" });
    const [execution] = await world.executions();

    expect(await world.status(second)).toMatchObject({
      phase: "Blocked",
      block: { reason: "ResourceBusy", holder: { executionUid: execution?.metadata.uid } },
    });
  });

  it("for /var and /data of one node get two executions, one after the other", async () => {
    await world.workflow({ version: "2", parameters: { properties: { path: { type: "string" } } } });
    world.rules.set({ ...diskRule, parameters: { path: "{{ labels.mountpoint }}" } });
    for (const mountpoint of ["/var", "/data"]) {
      await world.incident(mountpoint, { signalLabels: { node: "worker-1", mountpoint } });
    }
    expect(await world.executions()).toHaveLength(1);

    await world.reportRun("True");
    await world.passTime(6 * minute);

    const paths = (await world.executions()).map(({ spec }) => spec.parameters?.["path"]);
    expect(paths).toEqual(["/var", "/data"]);
  });
});

describe("another workflow on the same target", () => {
  let world: OrchestratorWorld;
  beforeEach(async () => {
    world = await OrchestratorWorld.open();
    await world.workflow({ workflowId: "defrag" });
    await world.executor();
    await world.orchestrator();
    world.rules.set({ ...diskRule, name: "slow", match: { signalName: "DiskSlow" }, workflow: "defrag" }, diskRule);
  });
  afterEach(() => world.close());

  it("waits while the target is held, and starts at once afterwards, without the cooldown", async () => {
    await world.incident("disk");
    const second = await world.incident("slow", { signalName: "DiskSlow" });
    expect(await world.status(second)).toMatchObject({ phase: "Blocked", block: { reason: "ResourceBusy" } });

    await world.reportRun("True");

    expect(await world.status(second)).toMatchObject({ phase: "Executing" });
    expect((await world.executions()).map(({ status }) => status?.phase).toSorted()).toEqual(["Completed", "Running"]);
  });

  it("runs before every younger incident", async () => {
    await world.incident("disk");
    await world.passTime(1_000);
    const older = await world.incident("slow", { signalName: "DiskSlow" });
    await world.passTime(1_000);
    const younger = await world.incident("inodes", { signalName: "DiskInodes", signalLabels: { node: "worker-1" } });
    expect(await world.status(younger)).toMatchObject({ phase: "Executing", follows: {} });

    await world.loseRun();

    expect(await world.status(older)).toMatchObject({ phase: "Executing" });
    expect(await world.status(younger)).toMatchObject({ phase: "Blocked" });
  });

  it("delays the same workflow exactly by its own cooldown", async () => {
    await world.workflow({ workflowId: "quick", cooldown: "30s" });
    world.rules.set({ ...diskRule, workflow: "quick" });
    await world.incident("disk");
    await world.reportRun("True");
    const next = await world.incident("inodes", { signalName: "DiskInodes" });

    await world.passTime(29_990);
    expect(await world.status(next)).toMatchObject({ phase: "Blocked", block: { reason: "RecentlyRemediated" } });
    await world.passTime(20);

    expect(await world.status(next)).toMatchObject({ phase: "Executing" });
  });
});
