import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tektonEngine } from "../../src/engines/index.ts";
import { taskRuns, tektonLabels } from "../../src/engines/tekton/pipeline-run.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { defaultPolicy } from "../../src/policy/index.ts";
import {
  cancelAnnotations,
  executionNamespace,
  remediationTargets,
  remediationWorkflows,
} from "../../src/resources/index.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { ExecutorWorld } from "./executor-world.ts";

const retention = { retentionMs: 168 * 3_600_000, targetRetentionMs: 720 * 3_600_000 };

const minute = 60_000;
const cleanup = { workflowId: "cleanup", containerImage: "registry.invalid/cleanup:1" };
const reboot = { workflowId: "reboot", version: "1", containerImage: "registry.invalid/cleanup:1" };
const approvedBy = (name: string) => ({ annotations: { "kubernaut.ai/approval": name } });

let world: ExecutorWorld;
beforeEach(async () => {
  world = await ExecutorWorld.open();
});
afterEach(() => world.close());

describe("an execution that differs from the catalog", () => {
  it.each([
    ["containerImage", { containerImage: "attacker.example/evil:1" }, '"registry.invalid/cleanup:1"'],
    ["serviceAccountName", { serviceAccountName: "cluster-admin-sa" }, "none"],
    ["engine", { engine: "job" as const }, '"tekton"'],
  ])("in %s fails with ValidationError before anything is created", async (field, difference, right) => {
    await world.executor();

    await world.execution("evil", { workflowRef: { ...cleanup, ...difference } });

    const { phase, failureDetails } = await world.status("evil");
    expect(phase).toBe("Failed");
    expect(failureDetails).toMatchObject({ reason: "ValidationError", wasExecutionFailure: false });
    expect(failureDetails?.message).toContain(
      `workflowRef.${field} is "${Object.values(difference)[0]}", but ${right} in the catalog`,
    );
    await nothingWasCreated();
  });

  it.each([
    ["an unknown version", { version: "9" }, "workflow cleanup has no version 9 in the catalog, only 1"],
    ["an unknown workflow", { workflowId: "unlisted" }, "workflow unlisted is not in the catalog"],
  ])("in that it names %s fails with ValidationError", async (_what, difference, message) => {
    await world.executor();

    await world.execution("evil", { workflowRef: { ...cleanup, ...difference } });

    expect((await world.status("evil")).failureDetails).toMatchObject({ reason: "ValidationError" });
    expect((await world.status("evil")).failureDetails?.message).toContain(message);
    await nothingWasCreated();
  });

  it("does not count as a failure, so that executions created by hand cannot block a workflow", async () => {
    await world.executor();

    for (let i = 0; i < 6; i++)
      await world.execution(`evil-${i}`, { workflowRef: { ...cleanup, containerImage: "x" } });
    await world.execution("honest");

    expect((await world.status("evil-5")).consecutiveFailures).toBeUndefined();
    expect(await world.status("honest")).toMatchObject({ phase: "Running" });
  });

  it("does not count as a failure if it claims an incident and is not in the namespace of incidents", async () => {
    await world.executor({
      settings: { ...defaultPolicy, runTtlMs: 60 * minute, ...retention, incidentsNamespace: "kubernaut-system" },
    });

    await world.forIncident("evil", { workflowRef: { ...cleanup, containerImage: "x" } });

    expect(await world.status("evil")).toMatchObject({ phase: "Failed" });
    expect((await world.status("evil")).consecutiveFailures).toBeUndefined();
  });

  it("is reported by why as not in the catalog", async () => {
    await world.executor();
    await world.execution("evil", { workflowRef: { ...cleanup, containerImage: "attacker.example/evil:1" } });
    const cli = new TestCli(world.client, { events: () => world.ledger.events() });

    await cli.run("why", "evil");

    const text = cli.read();
    expect(text).not.toContain("is in the catalog");
    expect(text).toContain('workflowRef.containerImage is "attacker.example/evil:1"');
  });
});

describe("the catalog", () => {
  it("in another namespace is ignored", async () => {
    await world.executor();
    await world.workflow({ workflowId: "cleanup", containerImage: "attacker.example/evil:1" }, "default");
    await world.workflow({ workflowId: "evil", containerImage: "attacker.example/evil:1" }, "default");

    await world.execution("first", { workflowRef: { ...cleanup, containerImage: "attacker.example/evil:1" } });
    await world.execution("second", { workflowRef: { workflowId: "evil", containerImage: "attacker.example/evil:1" } });

    expect((await world.status("first")).failureDetails?.reason).toBe("ValidationError");
    expect((await world.status("second")).failureDetails?.reason).toBe("ValidationError");
  });

  it("determines workload, engine, service account and timeout that the execution does not set", async () => {
    await world.executor();
    await world.workflow({ workflowId: "drain", serviceAccountName: "drainer", timeout: "7m", pipeline: "drain" });

    await world.execution("first", { workflowRef: { ...cleanup, workflowId: "drain" } });

    const spec = JSON.stringify((await world.run())?.spec);
    expect(spec).toContain('"serviceAccountName":"drainer"');
    expect(spec).toContain('"pipeline":"7m"');
    expect(spec).toContain('{"name":"name","value":"drain"}');
  });

  it("is read from the server for an entry that the cache does not have yet", async () => {
    await world.executor({ client: withDeafCatalogWatch(world.client) });
    await world.workflow({ workflowId: "new" });

    await world.execution("first", { workflowRef: { ...cleanup, workflowId: "new" } });

    expect(await world.status("first")).toMatchObject({ phase: "Running" });
  });

  it("does not run a removed entry, even if the cache still has it", async () => {
    await world.executor({ client: withDeafCatalogWatch(world.client) });
    await world.removeWorkflow();

    await world.execution("first");

    expect((await world.status("first")).failureDetails?.message).toContain("is not in the catalog");
    await nothingWasCreated();
  });

  it.each([
    ["removed", () => world.removeWorkflow()],
    ["replaced by one with the same image", () => world.replaceWorkflow({ workflowId: "cleanup", timeout: "9h" })],
  ])("whose entry is %s between admission and run creates no run", async (_what, change) => {
    const tekton = tektonEngine(world.client);
    let changes = 0;
    const prepareAfterChange: typeof tekton.prepare = async (order, signal) => {
      if (changes++ === 0) {
        await change();
        throw new Error("the connection broke, and everything is looked at again");
      }
      return tekton.prepare(order, signal);
    };
    await world.executor({ engines: [{ ...tekton, prepare: prepareAfterChange }] });

    await world.execution("first");
    await world.passTime(minute);

    expect(await world.status("first")).toMatchObject({
      phase: "Failed",
      failureDetails: {
        reason: "ConfigurationError",
        message: "the catalog entry that admitted it was removed or replaced",
      },
    });
    expect(await world.run()).toBeUndefined();
    expect((await world.record()).status?.holder).toBeUndefined();
  });

  it("does not affect a running execution when it changes", async () => {
    await world.executor();
    await world.execution("first");
    await world.report("Unknown");

    await world.replaceWorkflow({ workflowId: "cleanup", containerImage: "registry.invalid/cleanup:2", engine: "job" });
    await world.passTime(minute);
    expect(await world.status("first")).toMatchObject({ phase: "Running" });
    await world.report("True");

    expect(await world.status("first")).toMatchObject({ phase: "Completed" });
  });
});

describe("a workflow that requires an approval", () => {
  it.each([
    ["without an approval", undefined, "refers to none"],
    ["with an approval that does not exist", "missing", "there is no approval missing"],
    ["with an approval that is not decided", "open", "is not decided yet"],
    ["with an approval that was rejected", "rejected", "is Rejected"],
    ["with an approval that was decided too late", "late", "was decided after"],
    ["with an approval of another workflow", "other-workflow", "is for workflow restart"],
    ["with an approval of another version", "other-version", "is for version 2"],
    ["with an approval of another target", "other-target", "is for node/worker-2"],
    ["with an approval of other parameters", "other-parameters", "is for other parameters"],
    ["with an approval that its author could write", "elsewhere", "there is no approval elsewhere"],
  ])("is not admitted %s, regardless of the execution's creator", async (_what, approval, message) => {
    await world.executor();
    await world.approve("open", { decision: "none" });
    await world.approve("rejected", { decision: "Rejected" });
    await world.approve("late", { decidedLateMs: 3_600_001 });
    await world.approve("other-workflow", { workflowId: "restart" });
    await world.approve("other-version", { version: "2" });
    await world.approve("other-target", { target: "node/worker-2" });
    await world.approve("other-parameters", { parameters: { keep: "3" } });
    await world.approve("elsewhere", { namespace: executionNamespace });

    await world.execution("first", { workflowRef: reboot }, approval === undefined ? {} : approvedBy(approval));

    expect((await world.status("first")).failureDetails).toMatchObject({ reason: "ValidationError" });
    expect((await world.status("first")).failureDetails?.message).toContain(message);
    expect((await world.status("first")).failureDetails?.message).toContain(
      "interlock run reboot --target node/worker-1",
    );
    await nothingWasCreated();
  });

  it("is not admitted without one in an older version that did not require it", async () => {
    await world.executor();
    await world.workflow({ workflowId: "reboot", version: "0.9" });

    await world.execution("first", { workflowRef: { ...reboot, version: "0.9" } });

    expect((await world.status("first")).failureDetails).toMatchObject({ reason: "ValidationError" });
    expect((await world.status("first")).failureDetails?.message).toContain("workflow reboot requires an approval");
    await nothingWasCreated();
  });

  it("is admitted with its approval, once, and the ledger and the status name who approved", async () => {
    await world.executor();
    await world.approve("a-1");

    await world.execution("first", { workflowRef: reboot }, approvedBy("a-1"));
    await world.report("True");
    await world.passTime(10 * minute);
    await world.execution("again", { workflowRef: reboot }, approvedBy("a-1"));

    expect(await world.status("first")).toMatchObject({ phase: "Completed", approvalRef: { decidedBy: "kim" } });
    expect(factsOf("first", "execution.admitted")).toMatchObject({ approval: "a-1", approved_by: "kim" });
    expect((await world.status("again")).failureDetails?.message).toContain("a-1 was used by default/first");
  });

  it("keeps its approval when the execution is skipped, because nothing ran", async () => {
    await world.executor();
    await world.approve("a-1");
    await world.execution("holder");

    await world.execution("early", { workflowRef: reboot }, approvedBy("a-1"));
    await world.report("True");
    await world.execution("later", { workflowRef: reboot }, approvedBy("a-1"));

    expect(await world.status("early")).toMatchObject({ skipDetails: { reason: "ResourceBusy" } });
    expect(await world.status("later")).toMatchObject({ phase: "Running" });
  });

  it("has used its approval if it is cancelled after the start of its run, even if no step has begun", async () => {
    await world.executor();
    await world.approve("a-1");
    await world.execution("first", { workflowRef: reboot }, approvedBy("a-1"));

    await world.annotate("first", cancelAnnotations({ by: "kim", reason: "wrong node", blocks: false }));
    await world.report("False");
    await world.execution("again", { workflowRef: reboot }, approvedBy("a-1"));

    expect((await world.status("first")).failureDetails).toMatchObject({ wasExecutionFailure: false });
    expect((await world.status("again")).failureDetails?.message).toContain("a-1 was used by default/first");
  });

  it("whose record was deleted still has the used approvals", async () => {
    await world.executor();
    await world.approve("a-1");
    await world.execution("first", { workflowRef: reboot }, approvedBy("a-1"));
    await world.report("True");

    const { name = "", namespace = "" } = (await world.record()).metadata;
    await world.client.delete(remediationTargets, { name, namespace });
    await world.passTime(10 * minute);
    await world.execution("again", { workflowRef: reboot }, approvedBy("a-1"));

    expect((await world.status("again")).failureDetails?.message ?? "").toContain("was used by default/first");
  });

  it("runs once if two executions on two replicas name the same approval", async () => {
    await world.executor();
    await world.executor();
    await world.approve("a-1");

    await Promise.all([
      world.execution("a", { workflowRef: reboot }, approvedBy("a-1")),
      world.execution("b", { workflowRef: reboot }, approvedBy("a-1")),
    ]);

    const phases = [(await world.status("a")).phase, (await world.status("b")).phase].sort();
    expect(phases).toEqual(["Running", "Skipped"]);
  });
});

describe("the ledger row of a run", () => {
  it("contains engine, image and service account, and the digests once they are known", async () => {
    await world.executor();
    await world.workflow({ workflowId: "drain", serviceAccountName: "drainer" });
    await world.execution("first", { workflowRef: { ...cleanup, workflowId: "drain" } });
    const digest = `registry.invalid/tools@sha256:${"a".repeat(64)}`;
    const { metadata } = (await world.run()) ?? {};
    const labels = { [tektonLabels.pipelineRunUid]: metadata?.uid ?? "" };
    const task = { name: "task", namespace: executionNamespace };
    await world.client.create(taskRuns, { metadata: { ...task, labels }, spec: {} });
    const status = { steps: [{ name: "run", imageID: digest }] };
    await world.client.patch(taskRuns, task, { merge: { status } }, { subresource: "status" });

    await world.report("True");

    const ran = { engine: "tekton", image: "registry.invalid/cleanup:1", service_account: "drainer" };
    expect(factsOf("first", "run.created")).toMatchObject(ran);
    expect(factsOf("first", "execution.started")).toMatchObject(ran);
    expect(factsOf("first", "execution.completed")).toMatchObject({ ...ran, image_digests: [digest] });
  });

  it("contains no secret parameter, even if the engine repeats one", async () => {
    await world.executor();
    const properties = {
      pin: { type: "string", secret: true },
      apiToken: { type: "string" },
      mode: { type: "string" },
    };
    await world.workflow({ workflowId: "rotate", parameters: { properties } as never });
    const parameters = { pin: "hunter22", apiToken: "tok-12345", mode: "quick" };
    await world.execution("first", { workflowRef: { ...cleanup, workflowId: "rotate" }, parameters });

    await world.report("False", { message: "rotate --pin hunter22 --token tok-12345 --mode quick failed" });

    const recorded = JSON.stringify(world.ledger.events());
    expect(recorded).not.toContain("hunter22");
    expect(recorded).not.toContain("tok-12345");
    expect(recorded).toContain("rotate --pin [redacted] --token [redacted] --mode quick failed");
  });
});

async function nothingWasCreated() {
  expect(await world.run()).toBeUndefined();
  const { items } = await world.client.list(remediationTargets);
  expect(items.flatMap(({ status }) => status?.holder ?? [])).toEqual([]);
}

function factsOf(name: string, type: string) {
  return world.ledger.events().find((event) => event.type === type && event.facts["execution"] === `default/${name}`)
    ?.facts;
}

/** Its view of the catalog stays as it was when it began. */
function withDeafCatalogWatch(client: KubeClient): KubeClient {
  return {
    ...client,
    watch(type, query, call) {
      if (type.plural !== remediationWorkflows.plural) return client.watch(type, query, call);
      return (async function* () {
        await new Promise<void>((resolve) => call?.signal?.addEventListener("abort", () => resolve()));
      })();
    },
  };
}
