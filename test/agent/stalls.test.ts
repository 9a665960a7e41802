import { afterEach, expect, it } from "vitest";
import { type KubeClient, KubeError, kubeEvents } from "../../src/kube/index.ts";
import { codingTasks, findStall } from "../../src/resources/index.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { AgentWorld } from "./agent-world.ts";

let world: AgentWorld | undefined;

afterEach(async () => {
  await world?.[Symbol.asyncDispose]();
});

it("a task whose lock cannot be acquired has a condition and an Event with the error, and why shows it", async () => {
  const opened = await AgentWorld.open({ client: (client) => hurried(withoutLeases(client)) });
  world = opened;

  await opened.openMergeRequest();

  await expect
    .poll(async () => (await stalls(opened))[0], { timeout: 20_000, interval: 50 })
    .toMatchObject({
      reason: "Forbidden",
      error: expect.stringContaining("cannot create leases"),
    });
  await expect
    .poll(async () => (await opened.client.list(kubeEvents)).items.map(({ reason }) => reason))
    .toContain("Stalled");
  const [task] = await opened.tasks();
  const cli = new TestCli(opened.client);
  await cli.run("why", task?.metadata.name ?? "");
  expect(cli.read()).toMatch(/ stalled +Forbidden since .*cannot create leases/);
});

it("a stalled task that is deleted is no longer counted as stalled", async () => {
  const opened = await AgentWorld.open({ client: (client) => hurried(withoutLeases(client)) });
  world = opened;
  const stalled = () => opened.figure('agent_stalled_objects{reason="Forbidden"');
  await opened.openMergeRequest();
  await expect.poll(stalled, { timeout: 20_000, interval: 50 }).toBe(1);

  const [task] = await opened.tasks();
  await opened.client.delete(codingTasks, { name: task?.metadata.name ?? "", namespace: "kubernaut-system" });

  await expect.poll(stalled, { timeout: 20_000, interval: 50 }).toBe(0);
});

async function stalls(world: AgentWorld) {
  return (await world.tasks()).map(findStall);
}

function withoutLeases(client: KubeClient): KubeClient {
  return {
    ...client,
    async create(type, object, call) {
      if (type.kind === "Lease") throw new KubeError("forbidden", "cannot create leases");
      return client.create(type, object, call);
    },
  };
}

/** The API server's clock runs so fast that work has been failing for long after a moment. */
function hurried(client: KubeClient): KubeClient {
  const startMs = client.serverNowMs();
  return { ...client, serverNowMs: () => startMs + 100 * (client.serverNowMs() - startMs) };
}
