import { describe, expect, it } from "vitest";
import { tektonEngine } from "../../src/engines/index.ts";
import type { KubeClient, Patch } from "../../src/kube/index.ts";
import { remediationTargets } from "../../src/resources/index.ts";
import { type Death, dyingClient } from "../doubles/dying-client.ts";
import { ExecutorWorld } from "./executor-world.ts";

const minute = 60_000;
const rebootSpec = {
  workflowRef: { workflowId: "reboot", version: "1", containerImage: "registry.invalid/cleanup:1" },
};

/** What happens to one execution while the first replica dies at some write, and what must be true in the end. */
const stories: readonly [string, (world: ExecutorWorld) => Promise<void>, (world: ExecutorWorld) => Promise<void>][] = [
  [
    "succeeds",
    async (world) => {
      await world.execution("a");
      await endRun(world, "True");
    },
    async (world) => {
      expect(await world.status("a")).toMatchObject({ phase: "Completed" });
      expect(world.eventTypes("a")).toEqual(wholeTrail("execution.completed"));
    },
  ],
  [
    "fails while acting",
    async (world) => {
      await world.execution("a");
      await endRun(world, "False");
    },
    async (world) => {
      expect(await world.status("a")).toMatchObject({ phase: "Failed" });
      expect(world.eventTypes("a")).toEqual(wholeTrail("execution.failed"));
    },
  ],
  [
    "is refused because of its spec",
    async (world) => {
      await world.forIncident("a", { workflowRef: { workflowId: "cleanup", containerImage: "x" } });
    },
    async (world) => {
      expect(await world.status("a")).toMatchObject({ phase: "Failed", consecutiveFailures: 1 });
      expect((await world.record()).status?.workflows).toMatchObject([{ consecutiveFailures: 1 }]);
    },
  ],
  [
    "is skipped for another one",
    async (world) => {
      await world.execution("holder", {
        workflowRef: { workflowId: "restart", containerImage: "registry.invalid/restart:1" },
      });
      await world.execution("a");
    },
    async (world) => {
      const phases = [(await world.status("holder")).phase, (await world.status("a")).phase].sort();
      expect(phases).toEqual(["Running", "Skipped"]);
    },
  ],
  [
    "differs from the catalog and was made by hand",
    async (world) => {
      await world.execution("a", { workflowRef: { workflowId: "cleanup", containerImage: "attacker.example/evil:1" } });
    },
    async (world) => {
      expect(await world.status("a")).toMatchObject({ phase: "Failed", failureDetails: { reason: "ValidationError" } });
      expect(await world.run()).toBeUndefined();
      expect((await world.client.list(remediationTargets)).items).toEqual([]);
    },
  ],
  [
    "requires an approval and has one",
    async (world) => {
      await world.approve("a-1", { workflowId: "reboot" });
      await world.execution("a", rebootSpec, { annotations: { "kubernaut.ai/approval": "a-1" } });
      await endRun(world, "True");
    },
    async (world) => {
      expect(await world.status("a")).toMatchObject({ phase: "Completed", approvalRef: { name: "a-1" } });
      await world.passTime(10 * minute);
      await world.execution("again", rebootSpec, { annotations: { "kubernaut.ai/approval": "a-1" } });
      expect(await world.status("again")).toMatchObject({ failureDetails: { reason: "ValidationError" } });
    },
  ],
  [
    "is deleted while it runs",
    async (world) => {
      await world.execution("a");
      await world.delete("a");
      await endRun(world, "False");
    },
    async (world) => {
      expect(await world.exists("a")).toBe(false);
      expect(await world.run()).toBeUndefined();
    },
  ],
  [
    "is deleted during its cooldown",
    async (world) => {
      await world.execution("a");
      await endRun(world, "True");
      await world.delete("a");
      await endRun(world, "True");
    },
    async (world) => {
      expect(await world.exists("a")).toBe(false);
      expect(await world.run()).toBeUndefined();
    },
  ],
];

describe.each(stories)("an execution that %s", (_name, story, check) => {
  it.each(["before", "after"] as const)("ends as it should if the process dies %s any of its writes", async (when) => {
    let write = 1;
    while (await tellWithDeath({ write, when }, story, check)) write++;
    // Otherwise no executor died, and nothing was proved.
    expect(write).toBeGreaterThan(3);
  });
});

/** False once the first replica gets through without reaching that write. */
async function tellWithDeath(
  death: Death,
  story: (world: ExecutorWorld) => Promise<void>,
  check: (world: ExecutorWorld) => Promise<void>,
): Promise<boolean> {
  const world = await ExecutorWorld.open();
  const starts: string[] = [];
  const watched = countingStarts(world.client, starts);
  const mortal = dyingClient(watched, death);
  await world.executor({ client: mortal, engines: [tektonEngine(mortal)] });
  await story(world);
  await world.executor({ client: watched, engines: [tektonEngine(watched)] });
  await endRunIfGoingOn(world, story);
  await world.passTime(2 * minute);

  try {
    await check(world);
    // Each run is started once, and there is never a second one for the execution.
    expect(new Set(starts).size).toBe(starts.length);
    await targetIsFreeOrRunning(world);
  } catch (error) {
    throw new Error(`died ${death.when} write ${death.write}`, { cause: error });
  } finally {
    await world.close();
  }
  return mortal.isDead;
}

/** The story may have wanted to end a run that was not there yet, because the one who makes it was dead. */
async function endRunIfGoingOn(world: ExecutorWorld, story: (world: ExecutorWorld) => Promise<void>): Promise<void> {
  if (!story.toString().includes("endRun")) return;
  await endRun(world, story.toString().includes('"False"') ? "False" : "True");
}

async function endRun(world: ExecutorWorld, outcome: "True" | "False"): Promise<void> {
  const run = await world.run();
  const isOver = JSON.stringify(run?.status ?? {}).includes("completionTime");
  if (!run || isOver || run.spec.status === "PipelineRunPending") return;
  await world.report(outcome);
}

async function targetIsFreeOrRunning(world: ExecutorWorld): Promise<void> {
  const { items } = await world.client.list(remediationTargets);
  const holder = items[0]?.status?.holder;
  if (holder) expect(await world.status(holder.executionName)).toMatchObject({ phase: "Running" });
}

function wholeTrail(end: string): readonly string[] {
  return ["execution.admitted", "run.created", "execution.started", end, "target.freed"];
}

/** Notes the uid of each run whose start the server accepted. */
function countingStarts(client: KubeClient, starts: string[]): KubeClient {
  return {
    ...client,
    async patch(type, ref, patch, call) {
      const outcome = await client.patch(type, ref, patch, call);
      if (outcome.kind === "updated" && isStart(patch)) starts.push(outcome.object.metadata.uid ?? "");
      return outcome;
    },
  };
}

function isStart(patch: Patch): boolean {
  return JSON.stringify(patch).includes('"spec":{"status":null}');
}
