import { describe, expect, it } from "vitest";
import { ManualClock } from "../../test/doubles/manual-clock.ts";
import { type KubeClient, KubeError, type KubeObject, type ObjectRef, type ResourceType } from "../kube/index.ts";
import { builtInKinds, fixedKinds } from "../resources/index.ts";
import { factsReader } from "./facts.ts";

const deployment = { targetResource: { kind: "Deployment", name: "api", namespace: "payment" } };

describe("the facts behind an incident", () => {
  it("are those of the object that the signal named and of its top-level owner", async () => {
    const read = reader(async (type, { namespace, name }) => object(`${namespace}/${type.plural}/${name}`));

    const facts = await read(deployment, "payment/pod/api-1");

    expect(facts.object).toMatchObject({ kind: "read", facts: { labels: { is: "payment/pods/api-1" } } });
    expect(facts.owner).toMatchObject({ kind: "read", facts: { labels: { is: "payment/deployments/api" } } });
  });

  it("are read once if both are the same object", async () => {
    let reads = 0;
    const read = reader(async () => {
      reads++;
      return object("x");
    });

    await read(deployment, "payment/deployment/api");

    expect(reads).toBe(1);
  });

  it.each<[string, () => Promise<KubeObject | undefined>, string]>([
    ["missing", async () => undefined, "(payment/deployment/api) does not exist"],
    [
      "forbidden",
      async () => {
        throw new KubeError("forbidden", "cannot get deployments");
      },
      "may not be read: cannot get deployments; grant get on deployments to the orchestrator",
    ],
    [
      "out of order",
      async () => {
        throw new KubeError("unavailable", "no answer");
      },
      "cannot be read: no answer",
    ],
  ])("are explained where an object is %s", async (_what, get, problem) => {
    const { owner } = await reader(get)(deployment, undefined);

    expect(owner).toEqual({ kind: "unreadable", problem: expect.stringContaining(problem) });
  });

  it("are unreadable after the timeout", async () => {
    const clock = new ManualClock();
    const read = reader(
      (_type, _ref, call) =>
        new Promise((_, reject) => call?.signal?.addEventListener("abort", () => reject(new Error("aborted")))),
      { clock },
    );

    const reading = read(deployment, undefined);
    await clock.advance(2_000);

    expect((await reading).owner).toEqual({
      kind: "unreadable",
      problem: "(payment/deployment/api) was not read within 2s",
    });
  });

  it("are not read beyond the limit of a minute, and again afterwards", async () => {
    const clock = new ManualClock();
    const read = reader(async () => object("x"), { clock, readsPerMinute: 1 });
    const other = { targetResource: { ...deployment.targetResource, name: "other" } };

    await read(deployment, undefined);
    const beyond = await read(other, undefined);
    await clock.advance(60_000);
    const later = await read(other, undefined);

    expect(beyond.owner).toEqual({
      kind: "unreadable",
      problem: "was not read: 1 objects were read in the last minute",
    });
    expect(later.owner.kind).toBe("read");
  });
});

type Get = (type: ResourceType, ref: ObjectRef, call?: { signal?: AbortSignal }) => Promise<KubeObject | undefined>;

function reader(get: Get, { clock = new ManualClock(), readsPerMinute = 10 } = {}) {
  const client = { get } as unknown as KubeClient;
  const read = factsReader({ client, kinds: fixedKinds(builtInKinds), clock, timeoutMs: 2_000, readsPerMinute });
  const { signal } = new AbortController();
  return (incident: typeof deployment, subject: string | undefined) => read(incident, subject, signal);
}

function object(is: string): KubeObject {
  return { apiVersion: "v1", kind: "X", metadata: { labels: { is } } };
}
