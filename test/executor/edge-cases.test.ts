import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { jobEngine, tektonEngine } from "../../src/engines/index.ts";
import { jobs } from "../../src/engines/job/job.ts";
import { pipelineRuns, taskRuns } from "../../src/engines/tekton/pipeline-run.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import {
  automationPauses,
  executionNamespace,
  remediationTargets,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { ExecutorWorld } from "./executor-world.ts";

const minute = 60_000;
const restart = { workflowRef: { workflowId: "restart", containerImage: "registry.invalid/restart:1" } };
const inJob = {
  workflowRef: { workflowId: "in-a-job", containerImage: "registry.invalid/job:1", engine: "job" },
} as const;

let world: ExecutorWorld;
beforeEach(async () => {
  world = await ExecutorWorld.open();
});
afterEach(() => world.close());

describe("two executions on one target", () => {
  it("never skip each other at the same moment on two replicas: one runs, one is skipped", async () => {
    await world.executor();
    await world.executor();

    await Promise.all([world.execution("a"), world.execution("b")]);

    const phases = [(await world.status("a")).phase, (await world.status("b")).phase].sort();
    expect(phases).toEqual(["Running", "Skipped"]);
  });

  it("never skip each other when both are Pending before a start: one runs, the other is skipped for it", async () => {
    await world.execution("a");
    await world.execution("b", restart);

    await world.executor();

    const statuses = [await world.status("a"), await world.status("b")];
    const skipped = statuses.find(({ phase }) => phase === "Skipped");
    expect(statuses.map(({ phase }) => phase).sort()).toEqual(["Running", "Skipped"]);
    expect(skipped?.skipDetails?.reason).toBe("ResourceBusy");
  });

  it("with different workflows: a finished run neither blocks the second one nor passes for its success", async () => {
    await world.executor();
    await world.execution("a");
    await world.execution("b", restart);
    expect(await world.status("b")).toMatchObject({ phase: "Skipped", skipDetails: { reason: "ResourceBusy" } });

    await world.report("True");
    await world.execution("c", restart);

    expect(await world.status("c")).toMatchObject({ phase: "Running" });
    expect((await world.status("c")).pipelineRunRef?.uid).not.toBe((await world.status("a")).pipelineRunRef?.uid);
  });

  it("of which one was skipped by a replica and admitted late by another: the target is given back", async () => {
    await world.executor();
    await world.execution("a");
    await world.execution("b", restart);
    await world.report("True");
    expect((await world.seen("b")).status?.conditions?.map(({ type }) => type)).toEqual(["Recorded"]);
    const record = await world.record();
    const since = new Date(world.clock.wallMs()).toISOString();
    const holder = {
      executionName: "b",
      executionNamespace: "default",
      workflowId: "restart",
      engine: "tekton",
      since,
    };
    const executionUid = (await world.seen("b")).metadata.uid ?? "";

    const status = { ...record.status, workflows: record.status?.workflows ?? [], holder: { ...holder, executionUid } };
    await world.client.update(remediationTargets, { ...record, status } as typeof record, { subresource: "status" });
    await world.settle();

    expect((await world.record()).status?.holder).toBeUndefined();
    expect(world.eventTypes("b")).toEqual(["execution.skipped", "execution.admitted", "target.freed"]);
  });

  it("one after the other: the second waits until the run of the first is deleted completely", async () => {
    await world.executor();
    await world.execution("a");
    await world.report("True");
    const { uid = "", name = "" } = (await world.run())?.metadata ?? {};
    const owner = { apiVersion: "tekton.dev/v1", kind: "PipelineRun", name, uid, blockOwnerDeletion: true };
    const left = { namespace: executionNamespace, name: `${name}-act` };
    await world.client.create(taskRuns, {
      metadata: { ...left, ownerReferences: [owner], finalizers: ["test/hold"] },
      spec: {},
    });

    await world.execution("b", restart);
    expect(await world.status("b")).toMatchObject({ phase: "Pending" });
    await world.client.patch(taskRuns, left, { merge: { metadata: { finalizers: null } } });
    await world.passTime(minute);

    // Tekton would have taken the TaskRun for one of the new run, with its success.
    expect(await world.status("b")).toMatchObject({ phase: "Running" });
    expect((await world.status("b")).pipelineRunRef?.uid).not.toBe(uid);
  });

  it.each(["Deployment", "deployments", "deploy", "deployment.apps"])("spelled %s are one target", async (kind) => {
    await world.executor();
    await world.execution("a", { targetResource: "payment/deployment/api" });

    await world.execution("b", { targetResource: `payment/${kind}/api` });

    expect(await world.status("b")).toMatchObject({ skipDetails: { reason: "ResourceBusy" } });
  });

  it.each([
    ["PipelineRun", "Job", restart, inJob],
    ["Job", "PipelineRun", inJob, restart],
  ] as const)("with different engines: while a %s acts, no %s is created", async (acting, _other, first, second) => {
    await world.workflow({ ...inJob.workflowRef });
    await world.executor({ engines: [tektonEngine(world.client), jobEngine(world.client)] });
    await world.execution("a", first);
    expect(await world.status("a")).toMatchObject({ phase: "Running" });

    await world.execution("b", second);

    expect(await world.status("b")).toMatchObject({ phase: "Skipped", skipDetails: { reason: "ResourceBusy" } });
    const inRuns = { namespace: executionNamespace };
    const lists = [await world.client.list(pipelineRuns, inRuns), await world.client.list(jobs, inRuns)];
    expect(lists.flatMap(({ items }) => items.map(({ kind }) => kind))).toEqual([acting]);
  });

  it("on different targets both run", async () => {
    await world.executor();
    await world.execution("a");
    await world.execution("b", { targetResource: "node/worker-2" });

    expect([(await world.status("a")).phase, (await world.status("b")).phase]).toEqual(["Running", "Running"]);
  });
});

describe("a restart", () => {
  it("during a run: the run is followed, and not created again", async () => {
    const first = await world.executor();
    await world.execution("a");
    const before = await world.run();
    await first.stop({ deadlineMs: 0 });

    await world.executor();
    expect((await world.run())?.metadata.uid).toBe(before?.metadata.uid);
    await world.report("True");

    expect(await world.status("a")).toMatchObject({ phase: "Completed" });
  });

  it("after a crash between creating a run and recording it: the execution adopts its run, and never skips itself", async () => {
    const stopsAfterCreatingRun: KubeClient = {
      ...world.client,
      async create(type, object, call) {
        const created = await world.client.create(type, object, call);
        return type.kind === pipelineRuns.kind ? new Promise<never>(() => {}) : created;
      },
    };
    await world.executor({ client: stopsAfterCreatingRun });
    await world.execution("a");
    const run = await world.run();
    expect(run).toBeDefined();
    expect(await world.status("a")).toMatchObject({ phase: "Pending" });

    await world.executor();
    await world.settle();

    expect(await world.status("a")).toMatchObject({ phase: "Running", pipelineRunRef: { uid: run?.metadata.uid } });
  });

  it("during the cooldown: the cooldown still counts from the end of the run", async () => {
    const first = await world.executor();
    await world.execution("a");
    await world.report("True");
    await first.stop({ deadlineMs: 0 });
    await world.passTime(4 * minute);

    await world.executor();
    await world.execution("b");
    expect(await world.status("b")).toMatchObject({ skipDetails: { cooldownRemaining: "1m" } });
    await world.passTime(minute);
    await world.execution("c");

    expect(await world.status("c")).toMatchObject({ phase: "Running" });
  });
});

describe("an execution that is deleted", () => {
  it("while it runs: its run is cancelled, then its target is freed, then it is deleted", async () => {
    await world.executor();
    await world.execution("a");
    await world.report("Unknown");

    await world.delete("a");
    expect((await world.run())?.spec.status).toBe("Cancelled");
    expect((await world.record()).status?.holder?.executionName).toBe("a");
    await world.report("False");

    expect(await world.exists("a")).toBe(false);
    expect(await world.run()).toBeUndefined();
    expect((await world.record()).status?.holder).toBeUndefined();
  });

  it("during its cooldown: the cooldown ends, and the next execution runs at once", async () => {
    await world.executor();
    await world.execution("a");
    await world.report("True");
    await world.delete("a");
    expect(await world.exists("a")).toBe(false);
    expect(await world.run()).toBeUndefined();

    await world.execution("b");

    expect(await world.status("b")).toMatchObject({ phase: "Running" });
  });

  it("after it failed while acting: the block is not lost", async () => {
    await world.executor();
    await world.execution("a");
    await world.report("Unknown");
    await world.deleteRun();
    await world.delete("a");
    expect(await world.exists("a")).toBe(false);

    await world.execution("b");

    expect(await world.status("b")).toMatchObject({ skipDetails: { reason: "PreviousExecutionFailed" } });
  });

  it("after it failed while acting can still be acknowledged, on the target's record", async () => {
    await world.executor();
    await world.execution("a");
    await world.report("Unknown");
    await world.deleteRun();
    await world.delete("a");

    await new TestCli(world.client).run("ack", "a", "--reason", "looked at it");
    await world.settle();
    await world.execution("b");

    expect(await world.status("b")).toMatchObject({ phase: "Running" });
    expect(world.eventTypes("a")).toContain("failure.acknowledged");
  });

  it("never deletes the run of a later one that has the same name", async () => {
    await world.executor();
    await world.execution("a");
    await world.report("True");
    await world.execution("b", restart);
    const running = await world.run();

    await world.delete("a");

    expect((await world.run())?.metadata.uid).toBe(running?.metadata.uid);
    expect(await world.status("b")).toMatchObject({ phase: "Running" });
  });
});

describe("the target record", () => {
  it("that cannot be read admits no execution", async () => {
    await world.executor();
    world.cluster.forbid("get", "remediationtargets");

    await world.execution("a");

    expect((await world.run())?.spec).toMatchObject({ status: "PipelineRunPending" });
  });

  it("that was deleted is rebuilt from the executions: holder, cooldown and blocks", async () => {
    await world.executor();
    await world.execution("failed", restart);
    await world.report("Unknown");
    await world.deleteRun();
    await world.execution("running");
    const { name = "" } = (await world.record()).metadata;

    await world.client.delete(remediationTargets, { namespace: executionNamespace, name });
    await world.execution("late", restart);

    expect((await world.record()).status?.holder?.executionName).toBe("running");
    expect(await world.status("late")).toMatchObject({ skipDetails: { reason: "ResourceBusy" } });
    await world.report("True");
    await world.execution("later", restart);
    expect(await world.status("later")).toMatchObject({ skipDetails: { reason: "PreviousExecutionFailed" } });
  });

  it("whose holder was removed by force is freed once its run has stopped, as a failure while acting", async () => {
    await world.executor();
    await world.execution("a");
    await world.report("Unknown");
    await world.client.patch(
      workflowExecutions,
      { namespace: "default", name: "a" },
      { merge: { metadata: { finalizers: null } } },
    );

    await world.delete("a");
    expect(await world.exists("a")).toBe(false);
    expect((await world.run())?.spec.status).toBe("Cancelled");
    await world.execution("b", restart);
    expect(await world.status("b")).toMatchObject({ skipDetails: { reason: "ResourceBusy" } });
    await world.report("False");
    await world.passTime(10_000);

    expect((await world.record()).status?.holder).toBeUndefined();
    await world.execution("c");
    expect(await world.status("c")).toMatchObject({ skipDetails: { reason: "PreviousExecutionFailed" } });
  });

  it("keeps the cooldown when the run was pruned", async () => {
    await world.executor();
    await world.execution("a");
    await world.report("True");
    await world.deleteRun();

    await world.execution("b");

    expect(await world.status("b")).toMatchObject({ skipDetails: { cause: "cooldown" } });
  });
});

describe("the name of a run", () => {
  it("taken by a foreign object is a failure that names it, and that object stays", async () => {
    await world.executor();
    await world.execution("a");
    const ours = await world.run();
    await world.report("True");
    await world.passTime(5 * minute);
    const { name = "", namespace = "" } = ours?.metadata ?? {};
    const type = { apiVersion: "tekton.dev/v1", kind: "PipelineRun", plural: "pipelineruns", namespaced: true };
    await world.client.create(type, {
      apiVersion: "tekton.dev/v1",
      kind: "PipelineRun",
      metadata: { name, namespace },
      spec: { pipelineRef: { name: "by-hand" } },
    } as never);

    await world.execution("b");

    expect(await world.status("b")).toMatchObject({
      phase: "Failed",
      failureDetails: { reason: "PipelineRunCreationFailed", wasExecutionFailure: false },
    });
    expect(await world.run()).toBeDefined();
  });
});

describe("a pause", () => {
  it("skips executions that it covers, and names the operator and the reason", async () => {
    await world.executor();
    await world.client.create(automationPauses, {
      apiVersion: automationPauses.apiVersion,
      kind: automationPauses.kind,
      metadata: { name: "freeze", namespace: "default" },
      spec: { scope: "Target", targetResource: "nodes/worker-1", reason: "release", requestedBy: "kim" },
    });
    await world.settle();

    await world.execution("a");
    await world.execution("b", { targetResource: "node/worker-2" });

    expect(await world.status("a")).toMatchObject({
      skipDetails: { reason: "Paused", message: expect.stringContaining("by kim (release)") },
    });
    expect(await world.status("b")).toMatchObject({ phase: "Running" });
  });
});
