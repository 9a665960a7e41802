import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openExecutor, type Stage } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { jobs } from "../../src/engines/job/job.ts";
import { pipelineRuns } from "../../src/engines/tekton/pipeline-run.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { workflowExecutions } from "../../src/resources/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { ExecutorWorld } from "./executor-world.ts";

const minute = 60_000;
const cleanupRef = { workflowId: "cleanup", containerImage: "registry.invalid/cleanup:1" };
/** Differs from the catalog: it is refused before anything is done. */
const broken = { workflowRef: { workflowId: "cleanup", containerImage: "x" } } as const;

let world: ExecutorWorld;
let stage: Stage | undefined;
beforeEach(async () => {
  world = await ExecutorWorld.open();
});
afterEach(async () => {
  void stage?.close();
  await world.close();
});

/** An executor with these lines below `execution:`, and more sections. */
async function open(lines: readonly string[] = [], more: readonly string[] = [], client: KubeClient = world.client) {
  const usual = ["engines: tekton, job", "engine: tekton"];
  const own = usual.filter((line) => !lines.some((other) => other.split(":")[0] === line.split(":")[0]));
  const text = [
    "gateway:",
    "  namespace: default",
    "execution:",
    ...[...own, ...lines].map((line) => `  ${line}`),
    ...more,
  ].join("\n");
  const loaded = loadConfig({ yaml: { path: "interlock.yaml", text }, env: {} });
  if (loaded.kind !== "loaded") throw new Error(loaded.problems.join("\n"));
  const { ledger, clock, log } = world;
  const tools = { ledger, clock, random: systemRandom(), log, metrics: promMetrics() };
  stage = await openExecutor({ loaded, client, directory: "/nowhere", ...tools });
  await world.settle();
}

describe("the setting", () => {
  it("execution.engine is the engine of workflows that name none", async () => {
    await open(["engine: job"]);

    await world.execution("first");

    expect((await world.client.list(jobs)).items).toHaveLength(1);
    expect(await world.run()).toBeUndefined();
  });

  it("execution.engines are the engines that an execution can use", async () => {
    await open(["engines: tekton"]);

    await world.workflow({ workflowId: "by-job", engine: "job" });
    await world.execution("first", {
      workflowRef: { workflowId: "by-job", containerImage: "registry.invalid/cleanup:1" },
    });

    expect(await world.status("first")).toMatchObject({
      phase: "Failed",
      failureDetails: { reason: "ValidationError", message: "engine job is not set up here: there is tekton" },
    });
  });

  it("execution.allowOutsideCatalog runs a workflow that is not in the catalog, as its execution describes it", async () => {
    await open(["allowOutsideCatalog: true"]);
    const workflowRef = { workflowId: "unlisted", containerImage: "registry.invalid/unlisted:1" };

    await world.execution("first", { workflowRef: { ...workflowRef, serviceAccountName: "cleaner" } });
    await world.execution("second", { workflowRef: { ...cleanupRef, containerImage: "x" }, targetResource: "node/b" });

    const [run, ...others] = (await world.client.list(pipelineRuns)).items;
    expect(JSON.stringify(run?.spec.pipelineRef)).toContain("registry.invalid/unlisted:1");
    expect(run?.spec.taskRunTemplate?.serviceAccountName).toBe("cleaner");
    // A workflow of the catalog runs as its entry states.
    expect(others).toEqual([]);
    expect(await world.status("second")).toMatchObject({ failureDetails: { reason: "ValidationError" } });
  });

  it("execution.catalogNamespace is where the catalog is", async () => {
    await open(["catalogNamespace: default"]);
    await world.workflow({ workflowId: "listed" }, "default");

    await world.execution("first");
    await world.execution("second", { workflowRef: { ...cleanupRef, workflowId: "listed" } });

    expect(await world.status("first")).toMatchObject({ failureDetails: { reason: "ValidationError" } });
    expect(await world.status("second")).toMatchObject({ phase: "Running" });
  });

  it("execution.namespace is where runs are", async () => {
    await open(["namespace: kubernaut-system"]);

    await world.execution("first");

    expect((await world.client.list(pipelineRuns, { namespace: "kubernaut-system" })).items).toHaveLength(1);
  });

  it("execution.serviceAccount and execution.timeout are in the run", async () => {
    await open(["serviceAccount: cleaner", "timeout: 7m"]);
    const account = { apiVersion: "v1", kind: "ServiceAccount", plural: "serviceaccounts", namespaced: true } as const;
    const metadata = { name: "cleaner", namespace: "kubernaut-workflows" };
    await world.client.create(account, { apiVersion: "v1", kind: "ServiceAccount", metadata });

    await world.execution("first");

    const [run] = (await world.client.list(pipelineRuns)).items;
    expect(run?.spec.taskRunTemplate?.serviceAccountName).toBe("cleaner");
    expect(JSON.stringify(run?.spec.timeouts)).toContain("7m");
  });

  it("execution.runTtl is how long the run of a failed execution is kept", async () => {
    await open(["runTtl: 20m"], ["resource_locking:", "  cooldown_period: 1s"]);
    await world.execution("first");
    await world.report("False");

    await world.passTime(19 * minute);
    expect(await world.run()).toBeDefined();
    await world.passTime(2 * minute);

    expect(await world.run()).toBeUndefined();
  });

  it("execution.retention is how long an execution of a user is kept; its end stays in the ledger", async () => {
    await open(["retention: 6h"]);
    await world.execution("first");
    await world.execution("skipped");
    await world.forIncident("of-incident", { targetResource: "node/worker-2" });
    await world.report("True");
    await world.report("True", { target: "node/worker-2" });
    expect(await world.status("skipped")).toMatchObject({ phase: "Skipped" });

    await world.passTime(6 * 60 * minute - minute);
    expect([await world.exists("first"), await world.exists("skipped")]).toEqual([true, true]);
    await world.passTime(2 * minute);

    expect([await world.exists("first"), await world.exists("skipped")]).toEqual([false, false]);
    expect(await world.exists("of-incident")).toBe(true);
    expect(world.eventTypes("first")).toContain("execution.deleted");
    expect((await world.record()).status?.workflows?.[0]?.recentEnds).toHaveLength(1);
  });

  it("execution.retention never ends a cooldown", async () => {
    await world.replaceWorkflow({ cooldown: "9h" });
    await open(["retention: 1m"]);
    await world.execution("first");
    await world.report("True");

    await world.passTime(9 * 60 * minute - minute);
    expect(await world.exists("first")).toBe(true);
    await world.execution("again");
    expect(await world.status("again")).toMatchObject({ phase: "Skipped" });
    await world.passTime(2 * minute);

    expect(await world.exists("first")).toBe(false);
  });

  it("execution.retention keeps an execution that failed while acting until it is acknowledged", async () => {
    await open(["retention: 1h"]);
    await world.execution("first");
    await world.deleteRun();
    expect(await world.status("first")).toMatchObject({ failureDetails: { wasExecutionFailure: true } });

    await world.passTime(50 * 60 * minute);
    expect(await world.exists("first")).toBe(true);
    await world.annotate("first", {
      "kubernaut.ai/acknowledge": "looked at it",
      "kubernaut.ai/acknowledged-by": "kim",
    });

    expect(await world.exists("first")).toBe(false);
    expect((await world.record()).status?.workflows?.[0]?.ack).toMatchObject({ by: "kim" });
  });

  it("execution.targetRetention is how long the record of an idle target is kept", async () => {
    await open(["retention: 1h", "targetRetention: 30h"]);
    await world.execution("first");
    await world.report("True");

    await world.passTime(29 * 60 * minute);
    expect(await world.record()).toBeDefined();
    await world.passTime(25 * 60 * minute);
    await expect(world.record()).rejects.toThrow("there is no RemediationTarget");

    await world.execution("second");
    expect(await world.status("second")).toMatchObject({ phase: "Running" });
    expect((await world.record()).status?.holder).toMatchObject({ executionName: "second" });
  });

  it("execution.targetRetention keeps a record while its target has executions", async () => {
    await open(["targetRetention: 1h"]);
    await world.execution("first");
    await world.report("True");

    await world.passTime(100 * 60 * minute);

    expect(await world.exists("first")).toBe(true);
    expect(await world.record()).toBeDefined();
  });

  it("resource_locking.cooldown_period is the time before the same workflow runs again", async () => {
    await open([], ["resource_locking:", "  cooldown_period: 9m"]);
    await world.execution("first");
    await world.report("True");

    await world.passTime(9 * minute - 1_000);
    await world.execution("early");
    await world.passTime(1_000);
    await world.execution("again");

    expect(await world.status("early")).toMatchObject({ phase: "Skipped" });
    expect(await world.status("again")).toMatchObject({ phase: "Running" });
  });

  it.each([
    [["backoff:", "  base: 3m"], [3]],
    [
      ["backoff:", "  max: 90s"],
      [1, 1.5],
    ],
    [
      ["backoff:", "  maxExponent: 1"],
      [1, 2, 2],
    ],
  ])("execution.%j makes failures before acting wait so many minutes: %j", async (lines, minutes) => {
    await open(lines);

    const waits = [];
    for (const [i, wait] of minutes.entries()) {
      await world.forIncident(`try-${i}`, broken);
      waits.push(await waitAfter(`try-${i}`));
      await world.passTime(wait * minute);
    }

    expect(waits).toEqual(minutes.map((wait) => wait * minute));
  });

  it("execution.backoff.jitter makes backoffs differ", async () => {
    await open(["backoff:", "  jitter: 0.5"]);
    const targets = Array.from({ length: 8 }, (_, i) => `node/worker-${i}`);

    const waits = new Set<number>();
    for (const [i, targetResource] of targets.entries()) {
      await world.forIncident(`try-${i}`, { ...broken, targetResource });
      waits.add(await waitAfter(`try-${i}`));
    }

    expect(waits.size).toBeGreaterThan(1);
  });

  it("execution.maxConsecutiveFailures is the number of failures that blocks", async () => {
    await open(["maxConsecutiveFailures: 2"]);
    for (const name of ["one", "two"]) {
      await world.forIncident(name, broken);
      await world.passTime(10 * minute);
    }

    await world.execution("three");

    expect(await world.status("three")).toMatchObject({
      phase: "Skipped",
      skipDetails: { reason: "ExhaustedRetries" },
    });
  });

  it("execution.observe records decisions and starts nothing", async () => {
    await open(["observe: true"]);

    await world.execution("first");

    expect(await world.run()).toBeUndefined();
    expect((await world.status("first")).phase).not.toBe("Running");
  });

  it("execution.observeTargets starts nothing on those targets, with the reason of each", async () => {
    await open(["observeTargets: node/worker-1=hardware test"]);

    await world.execution("first");
    await world.execution("second", { targetResource: "node/worker-2" });

    const { skipDetails } = (await world.status("first")) as { skipDetails?: { reason: string; message: string } };
    expect(skipDetails?.reason).toBe("ObserveOnly");
    expect(skipDetails?.message).toContain("node/worker-1 is only observed, because hardware test");
    expect(await world.status("second")).toMatchObject({ phase: "Running" });
  });

  it("execution.concurrency is the maximum number of executions reconciled at a time", async () => {
    let atOnce = 0;
    let most = 0;
    const patch: KubeClient["patch"] = async (type, ...rest) => {
      if (type.plural !== workflowExecutions.plural) return world.client.patch(type, ...rest);
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => world.clock.after(10, () => resolve(undefined)));
      atOnce--;
      return world.client.patch(type, ...rest);
    };
    await open(["concurrency: 2"], [], { ...world.client, patch });

    for (let i = 0; i < 5; i++) await world.execution(`e-${i}`, { targetResource: `node/worker-${i}` });
    for (let i = 0; i < 10; i++) await world.passTime(10);

    expect(most).toBe(2);
  });
});

async function waitAfter(name: string): Promise<number> {
  const { nextAllowedExecution = "", completionTime = "" } = await world.status(name);
  return Date.parse(nextAllowedExecution) - Date.parse(completionTime);
}
