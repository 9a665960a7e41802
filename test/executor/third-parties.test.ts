import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { jobEngine, type Pod, tektonEngine } from "../../src/engines/index.ts";
import { pods } from "../../src/engines/pods.ts";
import type { KubeClient, KubeObject, ResourceType, WatchEvent } from "../../src/kube/index.ts";
import {
  annotationKeys,
  executionNamespace,
  findStall,
  type RemediationTarget,
  remediationTargets,
  type WorkflowExecution,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { type Death, dyingClient } from "../doubles/dying-client.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { ExecutorWorld } from "./executor-world.ts";

const { runs } = tektonEngine({} as KubeClient);
const namespaces = { apiVersion: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
const restart = { workflowRef: { workflowId: "restart", containerImage: "registry.invalid/restart:1" } };

let world: ExecutorWorld;
beforeEach(async () => {
  world = await ExecutorWorld.open();
});
afterEach(() => world.close());

describe("an execution that is deleted after it was decided to start its run", () => {
  it("does not have its run started, because it is read again before that", async () => {
    let isDecided = false;
    const client: KubeClient = {
      ...world.client,
      get: async (type, ref, options) => {
        // The decision is recorded right before the execution is read from the server for the last time.
        const hasStarted = world.ledger.events().some((event) => event.type === "execution.started");
        if (type.kind === workflowExecutions.kind && hasStarted && !isDecided) {
          isDecided = true;
          await world.client.delete(workflowExecutions, { namespace: "default", name: "a" });
        }
        return world.client.get(type, ref, options);
      },
    };
    const startable = { ...tektonEngine(client) };
    const started: string[] = [];
    const { start } = startable;
    startable.start = (run) => {
      started.push(run.metadata.name ?? "");
      return start(run);
    };
    await world.executor({ client, engines: [startable] });

    await world.execution("a");

    expect(isDecided).toBe(true);
    expect(started).toEqual([]);
    expect(await world.run()).toHaveProperty("spec.status", "Cancelled");
  });
});

describe("a replica that receives changes of runs late", () => {
  it("does not treat its run as deleted because of a cached earlier run of that name", async () => {
    const late = deafReplica(runs);
    await world.executor(late);
    await world.executor();
    await world.execution("first");
    await world.report("True");
    late.isDeaf = true;

    await world.execution("second", restart);

    expect(await world.status("second")).toMatchObject({ phase: "Running" });
    expect((await world.record()).status?.holder?.executionName).toBe("second");
  });
});

describe("two replicas, one of which receives changes late", () => {
  it("of runs, do not undo each other's status", async () => {
    const late = deafReplica(runs);
    await world.executor(late);
    await world.executor();
    await world.execution("a");
    late.isDeaf = true;
    late.writes = 0;

    await world.report("Unknown", {
      message: "Tasks Completed: 1 (Failed: 0, Cancelled 0), Incomplete: 1, Skipped: 0",
    });

    expect(await world.status("a")).toMatchObject({ pipelineRunStatus: { completedTasks: 1 } });
    expect(late.writes).toBeLessThan(3);
  });

  it("of executions, admit a skipped execution at most once more", async () => {
    const late = deafReplica(workflowExecutions);
    await world.executor(late);
    await world.execution("holder", restart);
    late.watches = ({ status }) => status?.phase !== "Skipped";
    await world.executor();
    await world.execution("a");
    expect(await world.status("a")).toMatchObject({ phase: "Skipped" });

    await world.report("True");
    late.writes = 0;
    await admitUnheard(await world.seen("a"));
    await world.passTime(60_000);

    expect((await world.record()).status?.holder).toBeUndefined();
    expect(late.writes).toBeLessThan(5);
  });
});

describe("an execution that was skipped on one replica and admitted on another", () => {
  it.each(["before", "after"] as const)(
    "releases the target, and the ledger records both, if the process dies %s any of its writes",
    async (when) => {
      let write = 1;
      while (await giveBackWithDeath({ write, when })) write++;
      expect(write).toBeGreaterThan(3);
    },
  );
});

describe("an execution that is gone", () => {
  it("and is admitted again by a replica that was paused frees the target: its success is counted once", async () => {
    await world.executor();
    await world.execution("a");
    await world.report("True");
    const gone = await world.seen("a");
    await world.delete("a");

    await admitUnheard(gone);
    await world.passTime(10_000);

    const { holder, workflows } = (await world.record()).status ?? {};
    expect(holder).toBeUndefined();
    expect(workflows).toMatchObject([{ recentEnds: [{ executionName: "a", outcome: "Success" }] }]);
  });
});

describe("a target record that is deleted", () => {
  it("and rebuilt while an execution is being deleted has no cooldown of that execution", async () => {
    await world.executor();
    await world.execution("a");
    await world.report("True");
    const { finalizers = [] } = (await world.seen("a")).metadata;
    const merge = { metadata: { finalizers: [...finalizers, "example.com/keep"] } };
    await world.client.patch(workflowExecutions, { namespace: "default", name: "a" }, { merge });
    await world.delete("a");

    await deleteRecord();
    await world.execution("b");

    expect(await world.exists("a")).toBe(true);
    expect(await world.status("b")).toMatchObject({ phase: "Running" });
  });

  it("before the run of its holder is started has that run cancelled before its first step", async () => {
    let isDeleted = false;
    await world.executor(
      replicaClient({
        async create(type, object, call) {
          if (type.kind === runs.kind && !isDeleted) {
            isDeleted = true;
            await forgetHolder();
          }
          return world.client.create(type, object, call);
        },
      }),
    );

    await world.execution("a");
    expect((await world.run())?.spec.status).toBe("Cancelled");
    await world.report("False");

    expect(await world.status("a")).toMatchObject({
      phase: "Failed",
      failureDetails: { reason: "Cancelled", wasExecutionFailure: false },
    });
  });

  it("during the run of an execution that was removed by force keeps the target held until the run has stopped", async () => {
    const first = await world.executor();
    await world.execution("a");
    await world.report("Unknown");
    await first.stop({ deadlineMs: 0 });
    await removeByForce("a");
    await deleteRecord();

    await world.execution("b", restart);
    await world.executor();

    expect((await world.record()).status?.holder?.executionName).toBe("a");
    expect(await world.status("b")).toMatchObject({ skipDetails: { reason: "ResourceBusy" } });
    expect((await world.run())?.spec.status).toBe("Cancelled");
    await world.report("False");
    await world.passTime(10_000);
    expect((await world.record()).status?.holder).toBeUndefined();
  });

  it("and is being rebuilt is not taken for complete because of an earlier acknowledgement", async () => {
    await world.executor();
    await world.execution("failed", restart);
    await world.report("Unknown");
    await world.deleteRun();
    await world.execution("running");
    await recreateEmpty();

    await world.annotate("failed", { [annotationKeys.acknowledge]: "looked at it" });

    const { status } = await world.record();
    expect(status?.holder?.executionName).toBe("running");
    expect(status?.workflows?.find(({ workflowId }) => workflowId === "restart")?.ack?.reason).toBe("looked at it");
  });

  it("does not prevent the deletion of the run of an execution that was removed by force", async () => {
    const first = await world.executor();
    await world.execution("a");
    await world.report("Unknown");
    await first.stop({ deadlineMs: 0 });
    await removeByForce("a");
    await deleteRecord();

    await world.executor();
    expect((await world.run())?.spec.status).toBe("Cancelled");
    await world.report("False");
    await world.passTime(10_000);

    expect(await world.run()).toBeUndefined();
  });
});

describe("a running execution whose engine is not configured any more", () => {
  beforeEach(async () => {
    const first = await world.executor();
    await world.execution("a");
    await world.report("Unknown");
    await first.stop({ deadlineMs: 0 });
  });

  it("keeps its target, and is stalled until the engine is configured again", async () => {
    const second = await world.executor({ engines: [jobEngine(world.client)] });
    await world.passTime(10_000);

    expect((await world.status("a")).phase).toBe("Running");
    expect((await world.record()).status?.holder?.executionName).toBe("a");
    expect(findStall(await world.seen("a"))?.error).toContain("the engine tekton of the run is not configured here");

    await second.stop({ deadlineMs: 0 });
    await world.executor();
    await world.report("True");
    expect((await world.status("a")).phase).toBe("Completed");
  });

  it("keeps its target when it is removed by force", async () => {
    await removeByForce("a");

    await world.executor({ engines: [jobEngine(world.client)] });
    await world.passTime(10_000);

    expect((await world.record()).status?.holder?.executionName).toBe("a");
    expect(findStall(await world.record())?.error).toContain("the engine tekton of the run is not configured here");
  });
});

describe("an execution that is removed by force", () => {
  it("while its run is being started has the run cancelled, and not deleted", async () => {
    let isStarted = false;
    const paused = replicaClient({
      patch: (type, ...rest) => (type.kind === runs.kind ? new Promise(() => {}) : world.client.patch(type, ...rest)),
    });
    const first = await world.executor(paused);
    await world.execution("a");
    void first.stop({ deadlineMs: 0 });
    await world.passTime(2_000);
    await removeByForce("a");
    await world.executor(
      replicaClient({
        async delete(type, ref, options, call) {
          if (type.kind === runs.kind && !isStarted) {
            isStarted = true;
            await world.client.patch(type, ref, { merge: { spec: { status: null } } });
          }
          return world.client.delete(type, ref, options, call);
        },
      }),
    );
    await world.passTime(2_000);

    expect((await world.run())?.spec.status).toBe("Cancelled");
  });

  it("is freed in the ledger, even if the first append failed", async () => {
    let isFull = true;
    await world.executor({
      ledger: {
        ...world.ledger,
        async append(event) {
          if (isFull && event.type === "target.freed") throw new Error("the disk is full");
          await world.ledger.append(event);
        },
      },
    });
    await world.execution("a");
    await world.report("Unknown");
    await removeByForce("a");
    await world.report("False");
    await world.passTime(2_000);
    expect((await world.record()).status?.holder).toBeUndefined();
    isFull = false;
    await world.passTime(60_000);

    expect(world.eventTypes("a")).toContain("target.freed");
  });
});

describe("a run that is deleted while its pods still run", () => {
  it.each([
    ["of an execution", async () => {}],
    ["of an execution that is removed by force", () => removeByForce("a")],
  ])("%s holds the target until they have ended", async (_whose, before) => {
    await world.executor();
    await world.execution("a");
    await world.report("Unknown");
    const { namespace = "", labels = {} } = (await world.run())?.metadata ?? {};
    const pod = { namespace, name: "a-step" };
    await world.client.create(pods, { metadata: { ...pod, labels } } as Pod);
    await world.client.patch(pods, pod, { merge: { status: { phase: "Running" } } }, { subresource: "status" });
    await before();

    await world.deleteRun();
    await world.passTime(60_000);
    await world.execution("early", restart);
    expect(await world.status("early")).toMatchObject({ skipDetails: { reason: "ResourceBusy" } });
    await world.client.delete(pods, pod);
    await world.passTime(10_000);

    await world.execution("late", restart);
    expect(await world.status("late")).toMatchObject({ phase: "Running" });
  });
});

describe("pods that have not ended although their run has", () => {
  it.each([
    ["was deleted", () => world.deleteRun()],
    ["failed", () => world.report("False")],
  ])("are named by the execution whose target they hold, when the run %s", async (_what, end) => {
    await world.executor();
    await world.execution("a");
    await world.report("Unknown");
    const { namespace = "", labels = {}, uid = "" } = (await world.run())?.metadata ?? {};
    const metadata = { name: "a-step", namespace, labels: { ...labels, "tekton.dev/pipelineRunUID": uid } };
    await world.client.create(pods, { metadata } as Pod);
    const cli = new TestCli(world.client);

    await end();
    await world.passTime(60_000);
    await cli.run("why", "a");

    expect(cli.read()).toContain("the run has ended, but not its pods a-step: the target is held until they end");
    await world.client.delete(pods, metadata);
    await world.passTime(1_000);
    expect(await world.status("a")).toMatchObject({ phase: "Failed" });
  });
});

describe("a failed run whose pods must not be read", () => {
  it("holds its target, and the execution is stalled, until they may be read", async () => {
    await world.executor();
    await world.execution("a");
    await world.report("Unknown");
    world.cluster.forbid("list", "pods");

    await world.report("False");
    await world.passTime(10_000);

    expect((await world.record()).status?.holder?.executionName).toBe("a");
    expect(findStall(await world.seen("a"))).toMatchObject({ reason: "Forbidden" });
    world.cluster.allow("list", "pods");
    await world.passTime(60_000);
    expect(await world.status("a")).toMatchObject({ phase: "Failed" });
  });
});

describe("a finished run that finalizers keep", () => {
  it("lets the next execution fail, which names them, and frees the target", async () => {
    await world.executor();
    await world.execution("a");
    const { name = "", namespace = "" } = (await world.run())?.metadata ?? {};
    const finalizers = ["chains.tekton.dev/pipelinerun"];
    await world.client.patch(runs, { name, namespace }, { merge: { metadata: { finalizers } } });
    await world.report("True");

    await world.execution("b", restart);
    await world.passTime(5 * 60_000);

    expect(await world.status("b")).toMatchObject({
      phase: "Failed",
      failureDetails: {
        reason: "PipelineRunCreationFailed",
        message: expect.stringContaining("its finalizers keep it: chains.tekton.dev/pipelinerun"),
        wasExecutionFailure: false,
      },
    });
    expect((await world.record()).status?.holder).toBeUndefined();
  });
});

describe("an engine whose clock is wrong", () => {
  it("by an hour, ahead and then behind, causes no failure to be covered by an earlier acknowledgement", async () => {
    const hour = 3_600_000;
    await world.executor();
    await world.execution("first");
    await world.report("Unknown", { clockErrorMs: hour });
    await failWhileActing({ clockErrorMs: hour });
    await world.annotate("first", { [annotationKeys.acknowledge]: "checked" });
    await world.passTime(60_000);
    await world.execution("second");
    await world.report("Unknown", { clockErrorMs: -hour });
    await failWhileActing({ clockErrorMs: -hour });

    await world.passTime(60_000);
    await world.execution("third");

    expect(await world.status("third")).toMatchObject({ skipDetails: { reason: "PreviousExecutionFailed" } });
  });
});

describe("the namespace of executions", () => {
  it("is not kept from its end by executions in it, whose notices it does not accept any more", async () => {
    await world.client.create(namespaces, { metadata: { name: "team" } } as KubeObject);
    await world.executor();
    await world.execution("a", {}, { namespace: "team" });
    await world.report("Unknown");

    await world.client.delete(namespaces, { name: "team" });
    await world.settle();
    expect((await world.run())?.spec.status).toBe("Cancelled");
    await world.report("False");
    await world.passTime(60_000);

    expect(await world.client.get(namespaces, { name: "team" })).toBeUndefined();
    expect((await world.record()).status?.holder).toBeUndefined();
    const types = world.ledger.events().map(({ type }) => type);
    expect(types.filter((type) => type === "execution.failed" || type === "execution.deleted")).toHaveLength(2);
  });
});

/** What one replica is given: its own way to the server, changed as `changes` say. */
function replicaClient(changes: Partial<KubeClient>) {
  const client = { ...world.client, ...changes };
  return { client, engines: [tektonEngine(client)] };
}

/** A replica whose watch of one kind, or of some of its objects, can be cut. */
function deafReplica(deafTo: ResourceType) {
  const ears = { isDeaf: false, writes: 0, watches: (_execution: WorkflowExecution): boolean => true };
  async function* passOn<T>(events: AsyncIterable<WatchEvent<T>>): AsyncIterable<WatchEvent<T>> {
    for await (const event of events) {
      const isUnheard = event.type !== "BOOKMARK" && !ears.watches(event.object as unknown as WorkflowExecution);
      if (ears.isDeaf || isUnheard) await new Promise(() => {});
      yield event;
    }
  }
  const replica = replicaClient({
    watch(type, query, call) {
      const events = world.client.watch(type, query, call);
      return type.kind === deafTo.kind ? passOn(events) : events;
    },
    update(type, ...rest) {
      // A war between replicas would never let the test go on.
      return ++ears.writes > 50 ? new Promise(() => {}) : world.client.update(type, ...rest);
    },
  });
  return Object.assign(ears, replica);
}

/** False once the replica gets through without reaching that write. */
/** A run fails without its TaskRuns, so it is unknown what it did. */
async function failWhileActing({ clockErrorMs }: { readonly clockErrorMs: number }): Promise<void> {
  const run = await world.run();
  if (!run) throw new Error("there is no run");
  const childReferences = [{ kind: "TaskRun", name: "gone", pipelineTaskName: "step" }];
  await world.client.update(runs, { ...run, status: { ...run.status, childReferences } } as KubeObject, {
    subresource: "status",
  });
  await world.report("False", { clockErrorMs });
}

async function giveBackWithDeath(death: Death): Promise<boolean> {
  world = await ExecutorWorld.open();
  const first = await world.executor();
  await world.execution("holder", restart);
  await world.execution("a");
  await world.report("True");
  await first.stop({ deadlineMs: 0 });
  await admitUnheard(await world.seen("a"));

  const mortal = dyingClient(world.client, death);
  await world.executor({ client: mortal, engines: [tektonEngine(mortal)] });
  await world.executor();
  await world.passTime(60_000);

  expect((await world.record()).status?.holder).toBeUndefined();
  expect([...world.eventTypes("a")].sort()).toEqual(["execution.admitted", "execution.skipped", "target.freed"]);
  return mortal.isDead;
}

/** What a replica does that was paused since it saw the execution Pending and the target free. */
async function admitUnheard({ metadata, spec }: WorkflowExecution): Promise<void> {
  const record = await world.record();
  const holder = {
    executionUid: metadata.uid ?? "",
    executionName: metadata.name ?? "",
    executionNamespace: "default",
    workflowId: spec.workflowRef.workflowId,
    engine: "tekton" as const,
    since: new Date(world.clock.wallMs()).toISOString(),
  };
  const next: RemediationTarget = { ...record, status: { ...record.status, holder } };
  await world.client.update(remediationTargets, next, { subresource: "status" });
}

/** Deletes the record and makes it again as a replica would that knows of no run yet. */
async function forgetHolder(): Promise<void> {
  const next: RemediationTarget = { ...(await recreateEmpty()), status: { workflows: [] } };
  await world.client.update(remediationTargets, next, { subresource: "status" });
}

/** Deletes the record, and goes as far as a replica that is paused half-way through making it again. */
async function recreateEmpty(): Promise<RemediationTarget> {
  const { apiVersion, kind, metadata, spec } = await world.record();
  const { name = "", namespace = "", labels = {} } = metadata;
  await deleteRecord();
  const empty: RemediationTarget = { apiVersion, kind, metadata: { name, namespace, labels }, spec } as never;
  const outcome = await world.client.create(remediationTargets, empty);
  if (outcome.kind !== "created") throw new Error("the record is still there");
  return outcome.object;
}

async function deleteRecord(): Promise<void> {
  const { name = "" } = (await world.record()).metadata;
  await world.client.delete(remediationTargets, { namespace: executionNamespace, name });
}

async function removeByForce(name: string): Promise<void> {
  const ref = { namespace: "default", name };
  await world.client.patch<WorkflowExecution>(workflowExecutions, ref, { merge: { metadata: { finalizers: null } } });
  await world.delete(name);
}
