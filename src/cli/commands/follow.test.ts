import { beforeEach, describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { TestCli } from "../../../test/doubles/test-cli.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import type { KubeClient } from "../../kube/index.ts";
import { installCrds, workflowExecutions } from "../../resources/index.ts";
import { systemRandom } from "../../time/index.ts";
import { noProgress } from "../output/progress.ts";
import { follow } from "./follow.ts";

const ref = { name: "clean-1", namespace: "default" };
let clock: ManualClock;
let client: KubeClient;
let cli: TestCli;
beforeEach(async () => {
  clock = new ManualClock();
  client = testCluster({ clock, random: systemRandom(), namespaces: ["default"] }).client();
  await installCrds(client);
  cli = new TestCli(client);
});

describe("following an execution", () => {
  it("prints the outcome, and no hint if the execution is admitted soon", async () => {
    const { status } = await begin();

    await skip();

    expect(await status).toBe(3);
    expect(cli.read()).toBe("skipped, Paused: release 4");
  });

  it("prints a hint if the execution is not admitted", async () => {
    const { status } = await begin();

    await clock.advance(5_000);

    expect(cli.read()).toBe("still waiting to be admitted; see: interlock status");
    await skip();
    expect(await status).toBe(3);
  });

  it("prints why it is not admitted, and then how it ends", async () => {
    const { status } = await begin();
    const stalled = { type: "Stalled", status: "True", reason: "Error", lastTransitionTime: "2026-11-15T12:00:00Z" };

    await write({ phase: "Pending", conditions: [{ ...stalled, message: "the disk is full" }] });
    await write({ conditions: [{ ...stalled, status: "False", message: "" }] });
    await skip();

    expect(await status).toBe(3);
    expect(cli.read().split("\n")).toEqual([
      "waiting to be admitted: Error since 2026-11-15T12:00:00.000Z: the disk is full",
      "skipped, Paused: release 4",
    ]);
  });

  it("shows the elapsed time until the execution ends", async () => {
    const shown: string[] = [];
    const progress = { ...noProgress, show: (text: string) => void shown.push(text), clear: () => void shown.push("") };
    const { status } = await begin({ ...cli.terminal, progress });

    await clock.advance(2_000);
    await skip();
    await status;
    await clock.advance(2_000);

    expect(shown).toEqual(["waiting to be admitted; 1s so far", "waiting to be admitted; 2s so far", ""]);
  });
});

/** An execution that waits, and that `follow` follows. */
async function begin(terminal = cli.terminal): Promise<{ readonly status: Promise<number> }> {
  const { apiVersion, kind } = workflowExecutions;
  const workflowRef = { workflowId: "clean", version: "1", containerImage: "clean" };
  const spec = { workflowRef, targetResource: "node/worker-1" };
  const created = await client.create(workflowExecutions, { apiVersion, kind, metadata: ref, spec });
  if (created.kind !== "created") throw new Error("it was there before");
  const status = follow(created.object, { client, terminal, clock });
  await settle();
  return { status };
}

async function skip() {
  const skipDetails = { reason: "Paused", message: "release 4", skippedAt: "2026-11-15T12:00:00Z" };
  await write({ phase: "Pending" });
  await write({ phase: "Skipped", skipDetails });
}

async function write(status: object) {
  await client.patch(workflowExecutions, ref, { merge: { status } }, { subresource: "status" });
  await settle();
}
