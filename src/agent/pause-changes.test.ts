import { beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../test/doubles/manual-clock.ts";
import { testCluster } from "../../test/doubles/test-cluster.ts";
import { informer, type KubeClient } from "../kube/index.ts";
import { type AutomationPause, automationPauses, installCrds } from "../resources/index.ts";
import { systemRandom } from "../time/index.ts";
import { pauseChanges } from "./pause-changes.ts";

const minute = 60_000;

describe("the keys of open tasks", () => {
  let clock: ManualClock;
  let client: KubeClient;
  let added: string[];
  beforeEach(async () => {
    clock = new ManualClock();
    const random = systemRandom();
    client = testCluster({ clock, random, namespaces: ["default"] }).client();
    await installCrds(client);
    const stop = new AbortController();
    const pauses = informer({ client, clock, random, type: automationPauses, signal: stop.signal, problem: () => {} });
    await pauses.synced;
    added = [];
    const source = pauseChanges(pauses, { clock, nowMs: () => client.serverNowMs(), keys: () => ["a", "b"] });
    source.feed((key) => added.push(key));
  });

  it("are added in order when a pause begins, is ended, and is deleted", async () => {
    const made = await pauseMade();
    expect(await addedKeys()).toEqual(["a", "b"]);

    const status = { endedAt: iso(), endedBy: "kim", endReason: "done" };
    await client.update(automationPauses, { ...made, status }, { subresource: "status" });
    expect(await addedKeys()).toEqual(["a", "b"]);

    await client.delete(automationPauses, { namespace: "default", name: "one" });
    expect(await addedKeys()).toEqual([]);
    await pauseMade();
    await client.delete(automationPauses, { namespace: "default", name: "one" });
    expect(await addedKeys()).toEqual(["a", "b", "a", "b"]);
  });

  it("are added when a pause ends, each at its time", async () => {
    await pauseMade({ name: "long", untilInMs: 9 * minute });
    await pauseMade({ name: "short", untilInMs: 2 * minute });
    await addedKeys();

    await clock.advance(2 * minute - 1);
    expect(await addedKeys()).toEqual([]);
    await clock.advance(1);
    expect(await addedKeys()).toEqual(["a", "b"]);
    await clock.advance(7 * minute - 1);
    expect(await addedKeys()).toEqual([]);
    await clock.advance(1);
    expect(await addedKeys()).toEqual(["a", "b"]);
  });

  async function pauseMade({ name = "one", untilInMs }: { name?: string; untilInMs?: number } = {}) {
    const until = untilInMs === undefined ? {} : { until: iso(untilInMs) };
    const outcome = await client.create(automationPauses, {
      ...{ apiVersion: automationPauses.apiVersion, kind: automationPauses.kind },
      metadata: { name, namespace: "default" },
      spec: { scope: "All", reason: "upgrade", requestedBy: "kim", ...until },
    } as AutomationPause);
    if (outcome.kind !== "created") throw new Error(outcome.kind);
    return outcome.object;
  }

  function iso(inMs = 0): string {
    return new Date(client.serverNowMs() + inMs).toISOString();
  }

  /** The keys that were added since the last call, after the watch has delivered everything. */
  async function addedKeys(): Promise<readonly string[]> {
    await clock.advance(0);
    return added.splice(0);
  }
});
