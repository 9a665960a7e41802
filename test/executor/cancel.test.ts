import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { jobEngine, tektonEngine } from "../../src/engines/index.ts";
import { jobs } from "../../src/engines/job/job.ts";
import type { Executor } from "../../src/executor/index.ts";
import {
  annotationKeys,
  cancelAnnotations,
  executionNamespace,
  notificationRequests,
} from "../../src/resources/index.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { ExecutorWorld } from "./executor-world.ts";

const request = cancelAnnotations({ by: "kim", reason: "wrong node", blocks: false });
const blocking = cancelAnnotations({ by: "kim", reason: "wrong node", blocks: true });

let world: ExecutorWorld;

beforeEach(async () => {
  world = await ExecutorWorld.open();
});
afterEach(() => world.close());

describe("an execution that an operator cancels while it runs", () => {
  let first: Executor;

  beforeEach(async () => {
    first = await world.executor();
    await world.execution("a");
    await world.report("Unknown");
  });

  it("has its run stopped, keeps the target until the run has ended, and records who cancelled it", async () => {
    await world.annotate("a", request);
    expect((await world.run())?.spec).toMatchObject({ status: "Cancelled" });
    expect((await world.status("a")).phase).toBe("Running");

    await world.report("False");

    const { phase, failureDetails } = await world.status("a");
    expect(phase).toBe("Failed");
    expect(failureDetails).toMatchObject({
      reason: "Cancelled",
      message: "Cancelled by kim: wrong node",
      requiresManualReview: false,
      cancellation: { by: "kim", verified: false, reason: "wrong node", blocks: false },
    });
    expect(failureDetails?.naturalLanguageSummary).toContain("Cancelled by kim: wrong node.");
    expect(world.eventTypes("a")).toEqual(
      expect.arrayContaining(["execution.cancelled", "run.cancelled", "execution.failed", "target.freed"]),
    );
    expect(world.ledger.events().find(({ type }) => type === "execution.cancelled")?.facts).toMatchObject({
      by: "kim",
      reason: "wrong node",
      verified: false,
      blocks: false,
    });
  });

  it("sends no notice, and does not block the next execution", async () => {
    await world.annotate("a", request);
    await world.report("False");

    await world.execution("b");

    expect((await world.client.list(notificationRequests)).items).toEqual([]);
    expect((await world.status("b")).phase).toBe("Running");
  });

  it("blocks the next execution on request, until an operator acknowledges", async () => {
    await world.annotate("a", blocking);
    await world.report("False");

    await world.execution("b");

    expect((await world.status("a")).failureDetails).toMatchObject({ requiresManualReview: true });
    expect((await world.status("b")).skipDetails).toMatchObject({ reason: "PreviousExecutionFailed" });
  });

  it("completes if its run succeeds before it is stopped", async () => {
    await world.report("True");

    await world.annotate("a", request);

    expect((await world.status("a")).phase).toBe("Completed");
  });

  it("is stopped by another replica if its replica dies between the request and the stop", async () => {
    await first.stop({ deadlineMs: 0 });
    await world.annotate("a", request);
    expect((await world.run())?.spec).not.toHaveProperty("status");

    await world.executor();
    await world.executor();
    await world.report("False");

    expect((await world.status("a")).failureDetails?.message).toBe("Cancelled by kim: wrong node");
    expect((await world.record()).status?.holder).toBeUndefined();
  });
});

describe("an execution that an operator cancels before its run was started", () => {
  it("leaves no history: no failure is counted, and the target is free", async () => {
    await world.execution("a", {}, { annotations: request });
    await world.executor();

    const { phase, failureDetails, nextAllowedExecution } = await world.status("a");
    expect([phase, failureDetails?.reason, failureDetails?.wasExecutionFailure]).toEqual([
      "Failed",
      "Cancelled",
      false,
    ]);
    expect(nextAllowedExecution).toBeUndefined();
    expect(await world.run()).toBeUndefined();
    await world.execution("b");
    expect((await world.status("b")).phase).toBe("Running");
  });

  it("blocks on request", async () => {
    await world.execution("a", {}, { annotations: blocking });
    await world.executor();

    await world.execution("b");

    expect((await world.status("b")).skipDetails).toMatchObject({ reason: "PreviousExecutionFailed" });
  });
});

describe("a Job that an operator cancels", () => {
  it("is stopped, too", async () => {
    await world.workflow({ workflowId: "in-a-job", containerImage: "x", engine: "job" });
    await world.executor({ engines: [tektonEngine(world.client), jobEngine(world.client)] });
    await world.execution("a", { workflowRef: { workflowId: "in-a-job", containerImage: "x", engine: "job" } });
    expect((await world.status("a")).phase).toBe("Running");

    await world.annotate("a", request);

    const [job] = (await world.client.list(jobs, { namespace: executionNamespace })).items;
    expect(job?.metadata.annotations).toMatchObject({
      "kubernaut.ai/cancelled": "true",
      "kubernaut.ai/cancel-reason": "Requested",
    });
  });
});

describe("the name of the user who cancels", () => {
  it("is verified where the shipped policy was in force before the execution was created", async () => {
    const createdMs = world.clock.wallMs();
    await world.executor({ acknowledgersKnownSince: async () => createdMs - 120_000 });
    await world.execution("a");
    await world.annotate("a", request);
    await world.report("False");

    expect((await world.status("a")).failureDetails?.cancellation?.verified).toBe(true);
  });
});

describe("interlock cancel", () => {
  it("cancels an execution in the caller's name", async () => {
    await world.executor();
    await world.execution("a");
    const cli = new TestCli(world.client);

    expect(await cli.run("cancel", "a", "--reason", "wrong node")).toBe(0);
    await world.settle();

    expect(cli.read()).toContain("a is being cancelled");
    await world.report("False");
    expect((await world.status("a")).failureDetails?.message).toMatch(/^Cancelled by kim.*: wrong node$/);
  });

  it("reports that an execution that has ended cannot be cancelled", async () => {
    await world.executor();
    await world.execution("a");
    await world.report("True");
    const cli = new TestCli(world.client);

    expect(await cli.run("cancel", "a", "--reason", "wrong node")).toBe(0);

    expect(cli.read()).toBe("a has ended already, Completed: there is nothing to cancel");
    expect((await world.seen("a")).metadata.annotations ?? {}).not.toHaveProperty("kubernaut.ai/cancel-requested");
  });
});

it("the ledger has who wanted a run and why, whether it was admitted or skipped", async () => {
  await world.executor();
  const annotations = { [annotationKeys.requestedBy]: "kim", [annotationKeys.requestReason]: "disk is full" };

  await world.execution("first", {}, { annotations });
  await world.execution("second", {}, { annotations });

  const facts = world.ledger
    .events()
    .filter(({ type }) => type === "execution.admitted" || type === "execution.skipped")
    .map(({ facts }) => [facts["requested_by"], facts["request_reason"]]);
  expect(facts).toEqual([
    ["kim", "disk is full"],
    ["kim", "disk is full"],
  ]);
});
