import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { volatileStore } from "../../../test/doubles/volatile-store.ts";
import type { KubeClient } from "../../kube/client.ts";
import { leases } from "../../kube/lease.ts";
import { systemClock, systemRandom } from "../../time/index.ts";
import { embeddedClient } from "../embedded-client.ts";
import { LabelIndex } from "./label-index.ts";
import { openApi } from "./open-api.ts";

const namespace = "default";

describe("a list by the value of a label", () => {
  it("equals the filtered list of all objects, in the same order, after any change", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step(), { maxLength: 30 }), async (steps) => {
        const client = await fresh();
        for (const [i, one] of steps.entries()) {
          // The index is made in the middle of the changes.
          if (i === 5) await byLabel(client, "a");
          await one(client);
        }

        for (const value of ["a", "b", ""]) {
          const all = (await client.list(leases, { namespace })).items;
          const wanted = all.filter(({ metadata }) => metadata.labels?.["team"] === value);
          expect(await byLabel(client, value)).toEqual(wanted);
        }
      }),
    );
  });

  it("does not go through all objects", async () => {
    const store = volatileStore();
    const client = embeddedClient(await openApi({ store, clock: systemClock(), random: systemRandom() }));
    for (let i = 0; i < 50; i++) await client.create(leases, lease(`n${i}`, { team: `t${i}` }));
    await byLabel(client, "t1");
    let listed = 0;
    const list = store.list.bind(store);
    store.list = (...query) => {
      listed++;
      return list(...query);
    };

    expect((await byLabel(client, "t7")).map(({ metadata }) => metadata.name)).toEqual(["n7"]);
    expect(listed).toBe(0);
  });

  it("works without an index when the maximum number of indexes exists", () => {
    const index = new LabelIndex(volatileStore());

    const found = Array.from({ length: 40 }, (_, i) => index.find("pods", `key${i}`, "a"));

    expect(found.filter((one) => one === undefined)).toHaveLength(8);
  });
});

type Step = (client: KubeClient) => Promise<unknown>;

function step(): fc.Arbitrary<Step> {
  const name = fc.constantFrom("x", "y", "z");
  const value = fc.constantFrom("a", "b", "", null);
  const labels = (team: string | null) => ({ ...(team === null ? {} : { team }), other: "o" });
  return fc.oneof(
    fc.tuple(name, value).map(
      ([one, team]): Step =>
        (client) =>
          client.create(leases, lease(one, labels(team))),
    ),
    fc.tuple(name, value).map(
      ([one, team]): Step =>
        (client) => {
          return client.patch(leases, { namespace, name: one }, { merge: { metadata: { labels: { team } } } });
        },
    ),
    name.map(
      (one): Step =>
        (client) =>
          client.delete(leases, { namespace, name: one }),
    ),
  );
}

async function fresh(): Promise<KubeClient> {
  return embeddedClient(await openApi({ store: volatileStore(), clock: systemClock(), random: systemRandom() }));
}

async function byLabel(client: KubeClient, value: string) {
  return (await client.list(leases, { namespace, labelSelector: `team=${value}` })).items;
}

function lease(name: string, labels: Record<string, string>) {
  return { metadata: { namespace, name, labels } };
}
