import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tektonEngine } from "../../src/engines/index.ts";
import { type KubeClient, KubeError, kubeEvents } from "../../src/kube/index.ts";
import { usualManifests } from "../../src/manifests/index.ts";
import { findStall, notificationRequests, workflowExecutions } from "../../src/resources/index.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { ExecutorWorld } from "./executor-world.ts";

const webhookDown = 'Internal error occurred: failed calling webhook "webhook.pipeline.tekton.dev": connection refused';

describe("an execution whose run cannot be created", () => {
  let world: ExecutorWorld;
  let faults: Faults;

  beforeEach(async () => {
    world = await ExecutorWorld.open();
    faults = { createsRuns: new KubeError("unavailable", webhookDown) };
    await startWith(world, faults);
    await world.execution("a");
  });
  afterEach(() => world.close());

  it("has a condition with the error, the start of the failures and the next attempt", async () => {
    const startedAt = world.clock.wallMs();

    await world.passTime(10_000);

    const stall = findStall(await world.seen("a"));
    expect(stall).toMatchObject({ reason: "WebhookFailed", error: expect.stringContaining(webhookDown) });
    expect(stall?.sinceMs).toBeGreaterThanOrEqual(startedAt - 1_000);
    expect(stall?.sinceMs).toBeLessThanOrEqual(startedAt + 1_000);
    expect(stall?.nextAttemptMs).toBeGreaterThan(world.clock.wallMs());
    expect((await world.status("a")).phase).toBe("Pending");
  });

  it("is explained by why, which does not name the execution as its own conflict", async () => {
    await world.passTime(10_000);
    const cli = new TestCli(world.client);

    await cli.run("why", "a");

    const printed = cli.read();
    expect(printed).toContain("a is Pending\n  stalled, WebhookFailed since");
    expect(printed).toContain(webhookDown);
    expect(printed).toContain("next attempt at");
    expect(printed).not.toContain("ResourceBusy");
  });

  it("is reported by status with the command that explains it, and exit status 1", async () => {
    await world.passTime(10_000);
    const cli = new TestCli(world.client);

    expect(await cli.run("status")).toBe(1);

    const printed = cli.read();
    expect(printed).toContain("problem: 1 execution stalled, the first is a: WebhookFailed since");
    expect(printed).toContain(webhookDown);
    expect(printed).toContain("next: interlock why a");
  });

  it("has an Event, and after 2 minutes one notice for all that fail for the same reason", async () => {
    await world.execution("b", { targetResource: "node/worker-2" });
    await world.passTime(60_000);
    const { items: events } = await world.client.list(kubeEvents, { namespace: "default" });
    expect(events.filter(({ reason }) => reason === "Stalled").map((event) => event.involvedObject.name)).toEqual([
      "a",
      "b",
    ]);
    expect(await notices(world)).toEqual([]);

    await world.passTime(600_000);

    const [notice, ...others] = await notices(world);
    expect(others).toEqual([]);
    expect(notice?.spec.message).toContain("2 executions");
    expect(notice?.spec.message).toContain(webhookDown);
    expect(notice?.spec.context?.entries?.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  it("is written at most once for each step of the backoff", async () => {
    let writes = 0;
    faults.beforeStatusUpdate = () => writes++;

    await world.passTime(600_000);

    // 200 ms, doubled each time: from 6 seconds on, up to the limit of 5 minutes.
    expect(writes).toBeGreaterThanOrEqual(5);
    expect(writes).toBeLessThanOrEqual(9);
  });

  it("runs, and is no longer reported as stalled, once runs can be created again", async () => {
    await world.passTime(10_000);
    faults.createsRuns = undefined;

    await world.passTime(60_000);

    expect((await world.status("a")).phase).toBe("Running");
    expect(findStall(await world.seen("a"))).toBeUndefined();
  });

  it("is shown by interlock get and by the metrics", async () => {
    await world.passTime(10_000);

    expect(await world.metrics.text()).toContain('executor_stalled_objects{reason="WebhookFailed"} 1');
    expect(workflowExecutions.columns.map(({ name }) => name)).toContain("Stalled");
  });
});

describe("a running execution whose run cannot be read", () => {
  it("keeps its phase, and is no longer reported as stalled after the first attempt that succeeds", async () => {
    const world = await ExecutorWorld.open();
    const faults: Faults = {};
    await startWith(world, faults);
    await world.execution("a");
    faults.readsRuns = new KubeError("forbidden", "cannot get pipelineruns");
    await world.report("Unknown", { message: "1 of 2 tasks" });
    await world.passTime(20_000);
    expect(findStall(await world.seen("a"))).toMatchObject({ reason: "Forbidden" });

    faults.readsRuns = undefined;
    await world.passTime(60_000);

    expect((await world.status("a")).phase).toBe("Running");
    expect(findStall(await world.seen("a"))).toBeUndefined();
    await world.close();
  });
});

describe("an API server that refuses to write statuses", () => {
  it("is reported by readiness, metrics and log, because a condition cannot be written", async () => {
    const world = await ExecutorWorld.open();
    const faults: Faults = { writesStatus: new KubeError("forbidden", "cannot update workflowexecutions/status") };
    const executor = await startWith(world, faults);
    await world.execution("a");

    await world.passTime(130_000);

    expect(executor.problem).toContain("cannot update workflowexecutions/status");
    expect(await world.metrics.text()).toContain("executor_stalls_unrecorded 1");
    expect(await notices(world)).toHaveLength(1);
    faults.writesStatus = undefined;
    await world.passTime(300_000);
    expect(executor.problem).toBeUndefined();
    await world.close();
  });
});

interface Faults {
  createsRuns?: KubeError | undefined;
  readsRuns?: KubeError | undefined;
  writesStatus?: KubeError | undefined;
  beforeStatusUpdate?: () => void;
}

/** An executor whose writes fail according to `faults`. */
function startWith(world: ExecutorWorld, faults: Faults) {
  const permitted = permittedClient(world.client, "executor", { ...usualManifests.places, incidents: "default" });
  const client: KubeClient = {
    ...permitted,
    async get(type, ref, call) {
      if (type.kind === "PipelineRun" && faults.readsRuns) throw faults.readsRuns;
      return permitted.get(type, ref, call);
    },
    async create(type, object, call) {
      if (type.kind === "PipelineRun" && faults.createsRuns) throw faults.createsRuns;
      return permitted.create(type, object, call);
    },
    async update(type, object, call) {
      if (type.kind === "WorkflowExecution" && faults.writesStatus) throw faults.writesStatus;
      if (type.kind === "WorkflowExecution") faults.beforeStatusUpdate?.();
      return permitted.update(type, object, call);
    },
  };
  return world.executor({ client, engines: [tektonEngine(client)] });
}

async function notices({ client }: ExecutorWorld) {
  const { items } = await client.list(notificationRequests);
  return items.filter(({ spec }) => spec.eventType === "WorkStalled");
}
