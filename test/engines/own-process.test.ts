import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEmbeddedApi } from "../../src/app/embedded-api.ts";
import { type Engine, jobEngine, tektonEngine } from "../../src/engines/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { startControllers } from "../doubles/controllers-process.ts";
import { recordingLogger } from "../doubles/recording-logger.ts";
import { runOrder } from "./run-order.ts";
import { newWitness } from "./witness.ts";

describe("controllers in a process of their own", () => {
  const witness = newWitness();
  const image = runOrder().workflow.containerImage;
  const does = { do: "command", argv: witness.command("succeed") } as const;
  let client: KubeClient;
  let close = async () => {};

  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), "interlock-own-process-"));
    const listen = { host: "127.0.0.1", port: 0 };
    const api = await startEmbeddedApi({
      ...{ directory, listen, clock: systemClock(), random: systemRandom(), log: recordingLogger() },
    });
    const bundles = { [image]: { tasks: [{ name: "remediate", steps: [{ name: "run", does }] }] } };
    const doubles = await startControllers(api.kubeconfigFile, { bundles, images: { [image]: does } });
    client = api.client;
    close = async () => {
      await doubles.stop();
      await api.close();
      await rm(directory, { recursive: true });
      witness.remove();
    };
  });
  afterAll(() => close());

  it.each([
    ["tekton", tektonEngine],
    ["job", jobEngine],
  ])("carry out what %s orders", async (uid, makeEngine) => {
    const engine = makeEngine(client);
    const order = runOrder({ execution: { uid, name: uid, namespace: "payment" } });

    const state = await runOnce(engine, order);

    expect(state).toMatchObject({ kind: "succeeded", progress: { completedTasks: 1, totalTasks: 1 } });
    expect((await witness.read()).filter(({ executionUid }) => executionUid === uid)).toHaveLength(1);
  });

  async function runOnce(engine: Engine, order: ReturnType<typeof runOrder>) {
    const prepared = await engine.prepare(order);
    if (prepared.kind !== "prepared") throw new Error(prepared.message);
    const { resourceVersion } = await client.list(engine.runs, { namespace: order.namespace });
    await client.create(engine.runs, prepared.run);
    for await (const event of client.watch(engine.runs, { namespace: order.namespace, resourceVersion })) {
      if (event.type === "BOOKMARK" || event.type === "DELETED") continue;
      const state = engine.stateOf(event.object);
      if (state.kind === "succeeded" || state.kind === "failed") return state;
      const ref = { namespace: order.namespace, name: order.name };
      // A conflict is another write of the controller, which this watch brings too.
      if (state.kind === "suspended") await client.patch(engine.runs, ref, engine.start(event.object));
    }
    throw new Error("the watch ended");
  }
});
