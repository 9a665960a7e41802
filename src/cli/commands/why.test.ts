import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { TestCli } from "../../../test/doubles/test-cli.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { withHolder } from "../../policy/index.ts";
import {
  automationPauses,
  installCrds,
  parseTarget,
  type RemediationTarget,
  remediationTargets,
  remediationWorkflows,
  targetHash,
} from "../../resources/index.ts";
import { systemRandom } from "../../time/index.ts";

describe("interlock why", () => {
  it("reports for every workflow of the catalog whether it may act on a target now", async () => {
    const world = await cluster();

    const text = await world.why("node/worker-1");

    expect(text).toContain("cleanup on node/worker-1: may run now");
    expect(text).toContain("2  no other execution holds the target");
  });

  it("omits workflows that are for other kinds", async () => {
    const world = await cluster();
    await world.addWorkflow("scale", ["deployment"]);

    expect(await world.why("node/worker-1")).not.toContain("scale");
    expect(await world.why("web/statefulset/db")).toContain("cleanup on web/statefulset/db: may run now");
  });

  it("prints the checks of those that may not run now, and a line for each that may", async () => {
    const world = await cluster();
    await world.addWorkflow("reboot", ["node"]);
    await world.client.create(automationPauses, {
      ...kindOf(automationPauses),
      metadata: { name: "freeze", namespace: "default" },
      spec: { scope: "Workflow", workflowId: "cleanup", reason: "release", requestedBy: "kim" },
    });

    const text = await world.why("node/worker-1");

    expect(text.split("automation is not paused")).toHaveLength(2);
    expect(text).toMatch(
      /cleanup on node\/worker-1: not now, Paused\n[\s\S]+\n\nreboot on node\/worker-1: may run now\n {2}all checks of one: interlock why node\/worker-1 --workflow reboot$/,
    );
  });

  it("names the holder, in whatever spelling the target is asked for", async () => {
    const world = await cluster();
    await world.hold();

    const text = await world.why("nodes/worker-1", "--workflow", "cleanup");

    expect(text).toContain("not now, ResourceBusy");
    expect(text).toContain("held by execution wfe-b");
    expect(text).toContain("next: wait for it, or read its output: interlock logs wfe-b");
  });

  it("names the pause, who asked for it and why", async () => {
    const world = await cluster();
    await world.client.create(automationPauses, {
      ...kindOf(automationPauses),
      metadata: { name: "freeze", namespace: "default" },
      spec: { scope: "All", reason: "release", requestedBy: "kim" },
    });

    expect(await world.why("node/worker-1")).toContain("paused: freeze by kim (release)");
  });

  it("prints the same as JSON", async () => {
    const world = await cluster();
    await world.hold();

    const { target, now } = JSON.parse(await world.why("node/worker-1", "--output", "json"));

    expect(target).toBe("node/worker-1");
    expect(now).toMatchObject([{ decision: { verdict: "block", reason: "ResourceBusy" } }]);
    expect(now[0].decision.checks).toHaveLength(9);
  });

  it.each([
    [["widget/one"], "widget"],
    [["wfe-nobody"], "there is no incident, execution or task wfe-nobody"],
    [[], "missing required argument 'subject'"],
  ])("called with %j reports what is wrong", async (args, problem) => {
    const world = await cluster();

    await expect(world.why(...args)).rejects.toThrow(problem);
  });
});

async function cluster() {
  const client = testCluster({ clock: new ManualClock(), random: systemRandom() }).client();
  await installCrds(client);
  await client.create(remediationWorkflows, {
    ...kindOf(remediationWorkflows),
    metadata: { name: "cleanup-1", namespace: "default" },
    spec: { workflowId: "cleanup", version: "1", description: "Cleans up.", containerImage: "x", pipeline: "workflow" },
  });
  return {
    client,
    async addWorkflow(workflowId: string, targetKinds: readonly string[]): Promise<void> {
      const spec = { version: "1", description: "Acts.", containerImage: "x", pipeline: "workflow" };
      await client.create(remediationWorkflows, {
        ...kindOf(remediationWorkflows),
        metadata: { name: `${workflowId}-1`, namespace: "default" },
        spec: { workflowId, ...spec, targetKinds },
      });
    },
    async hold() {
      const metadata = { name: targetHash(target()), namespace: "default" };
      const record = { ...kindOf(remediationTargets), metadata, spec: { targetResource: "node/worker-1" } };
      const made = await client.create<RemediationTarget>(remediationTargets, record);
      if (made.kind === "created") {
        await client.update(
          remediationTargets,
          { ...made.object, status: withHolder({}, holder) },
          { subresource: "status" },
        );
      }
    },
    async why(...args: readonly string[]) {
      const cli = new TestCli(client, { catalogIn: "default", recordsIn: "default" });
      await cli.run("why", ...args);
      return cli.read();
    },
  };
}

const holder = {
  executionUid: "b",
  executionName: "wfe-b",
  executionNamespace: "default",
  workflowId: "restart",
  engine: "job" as const,
  since: "2026-03-01T12:00:00.000Z",
};

function kindOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }) {
  return { apiVersion, kind };
}

function target() {
  const read = parseTarget("node/worker-1");
  if (read.kind === "problem") throw new Error(read.problem);
  return read.target;
}
