import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KubeClient } from "../../src/kube/index.ts";
import {
  customResourceDefinitions,
  type KindsCache,
  remediationTargets,
  watchKinds,
} from "../../src/resources/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { applyCertificates, deleteCertificates } from "../doubles/certificate-definition.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { ExecutorWorld } from "./executor-world.ts";

const targetResource = "default/certificates.cert-manager.io/shop";
const target = "default/certificate.cert-manager.io/shop";

let world: ExecutorWorld;
let stop: AbortController;
beforeEach(async () => {
  world = await ExecutorWorld.open();
  stop = new AbortController();
});
afterEach(async () => {
  await world.close();
  stop.abort();
});

describe("an execution on a custom kind", () => {
  it("fails before any action while the kind is unknown, and the message contains the fix", async () => {
    await world.executor({ kinds: watched() });

    await world.execution("a", { targetResource });

    const { phase, failureDetails } = await world.status("a");
    expect(phase).toBe("Failed");
    expect(failureDetails).toMatchObject({ reason: "ValidationError", wasExecutionFailure: false });
    expect(failureDetails?.message).toContain("certificates.cert-manager.io");
    expect(failureDetails?.message).toContain("apply its CustomResourceDefinition, or declare the kind");
  });

  it("runs after its definition was applied, without a restart; the one that failed stays failed", async () => {
    await world.executor({ kinds: watched() });
    await world.execution("before", { targetResource });

    await applyCertificates(world.client);
    await world.passTime(1_000);
    await world.execution("after", { targetResource });
    await world.report("True", { target });

    expect((await world.status("after")).phase).toBe("Completed");
    expect((await world.status("before")).phase).toBe("Failed");
  });

  it("runs although the watch has not delivered its definition yet", async () => {
    const client = withoutEvents(permittedClient(world.client, "executor"));
    await world.executor({ kinds: watched(client) });

    await applyCertificates(world.client);
    await world.execution("a", { targetResource });
    await world.report("True", { target });

    expect((await world.status("a")).phase).toBe("Completed");
  });

  it.each([
    ["Completed", "True"],
    ["Failed", "False"],
  ] as const)(
    "ends as %s, and frees its target, although its definition is deleted while it runs",
    async (phase, result) => {
      await applyCertificates(world.client);
      await world.executor({ kinds: watched() });
      await world.execution("a", { targetResource });
      await world.report("Unknown", { target });

      await deleteCertificates(world.client);
      await world.passTime(60_000);
      expect((await world.status("a")).phase).toBe("Running");
      expect((await world.record(target)).status?.holder?.executionName).toBe("a");

      await world.report(result, { target });

      expect((await world.status("a")).phase).toBe(phase);
      expect((await world.record(target)).status?.holder).toBeUndefined();
    },
  );

  it("is found by its run if its record is deleted, too, while its kind is unknown", async () => {
    await applyCertificates(world.client);
    await world.executor({ kinds: watched() });
    await world.execution("a", { targetResource });
    await world.report("Unknown", { target });

    await deleteCertificates(world.client);
    await world.passTime(1_000);
    const { name = "", namespace = "" } = (await world.record(target)).metadata;
    await world.client.delete(remediationTargets, { name, namespace });
    await world.settle();
    await world.report("True", { target });

    expect((await world.status("a")).phase).toBe("Completed");
    expect((await world.record(target)).status?.holder).toBeUndefined();
  });

  it("has its run stopped, and its target freed, if it is deleted after its kind is gone", async () => {
    await applyCertificates(world.client);
    await world.executor({ kinds: watched() });
    await world.execution("a", { targetResource });
    await world.report("Unknown", { target });
    await deleteCertificates(world.client);
    await world.passTime(1_000);

    await world.delete("a");
    await world.report("False", { target });
    await world.passTime(60_000);

    expect(await world.exists("a")).toBe(false);
    expect(await world.run(target)).toBeUndefined();
    expect((await world.record(target)).status?.holder).toBeUndefined();
  });

  it("is not decided before the definitions are read", async () => {
    await applyCertificates(world.client);
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const slow: KubeClient = {
      ...world.client,
      list: (async (...call: Parameters<KubeClient["list"]>) => {
        if (call[0].kind === customResourceDefinitions.kind) await opened;
        return world.client.list(...call);
      }) as KubeClient["list"],
    };
    await world.executor({ kinds: watched(slow) });
    await world.execution("a", { targetResource });
    expect((await world.status("a")).phase).toBeUndefined();

    open();
    await world.settle();

    expect((await world.status("a")).phase).toBe("Running");
  });
});

function watched(client: KubeClient = permittedClient(world.client, "executor")): KindsCache {
  const { clock } = world;
  return watchKinds({ client, declared: [], clock, random: systemRandom(), signal: stop.signal, problem: () => {} });
}

/** A client whose watch on definitions brings nothing. */
function withoutEvents(client: KubeClient): KubeClient {
  return {
    ...client,
    async *watch(type, query, call) {
      for await (const event of client.watch(type, query, call)) {
        if (type.kind !== customResourceDefinitions.kind) yield event;
      }
    },
  };
}
