import { describe, expect, it } from "vitest";
import { kubernetesBackend } from "../../../test/coordination/claims-backends.ts";
import type { Verb } from "../../../test/doubles/checked-client.ts";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { leases } from "../../kube/index.ts";
import { systemRandom } from "../../time/index.ts";
import { claimsContract } from "../claims/claims.contract.ts";
import type { Claims, NewClaim } from "../claims/claims.ts";
import { type Key, keyName, keyOf } from "../key.ts";
import { kubernetesClaims } from "./kubernetes-claims.ts";

claimsContract("kubernetes", kubernetesBackend);

const namespace = "interlock";
const key = keyOf("review", "gitlab.example.com", 42);
const ref = { namespace, name: `claim-${keyName(key)}` };

describe("a claim in Kubernetes", () => {
  it("is a Lease with its key, holder and state in clear text", async () => {
    const { claims, client } = setUp();
    const claim = await fresh(claims, key, { leaseMs: 1_500, payloadHash: "sha256-aa" });

    const working = await client.get(leases, ref);
    await claim.complete("merged");
    const done = await client.get(leases, ref);

    expect(working).toMatchObject({
      metadata: {
        labels: { "app.kubernetes.io/managed-by": "interlock", "kubernaut.ai/kind": "claim" },
        annotations: {
          "kubernaut.ai/key": "review:gitlab.example.com:42",
          "kubernaut.ai/holder": "agent/pod-1/17",
          "kubernaut.ai/state": "claimed",
          "kubernaut.ai/payload-hash": "sha256-aa",
        },
      },
      spec: { holderIdentity: claim.holder, leaseDurationSeconds: 2, leaseTransitions: 1 },
    });
    expect(done?.metadata.annotations).toMatchObject({
      "kubernaut.ai/state": "done",
      "kubernaut.ai/result": "merged",
      "kubernaut.ai/settled-at": "2023-11-14T22:13:21.000Z",
      "kubernaut.ai/until": "2023-11-14T23:13:21.000Z",
    });
  });

  it("has the version of the claiming write as its fence", async () => {
    const { claims, client } = setUp();

    const claim = await fresh(claims, key);

    expect(String(claim.fence)).toBe((await client.get(leases, ref))?.metadata.resourceVersion);
  });

  it("ends by its own lease, although the Lease counts whole seconds", async () => {
    const { claims } = setUp();

    const claim = await fresh(claims, key, { leaseMs: 500 });

    expect(claim.remainingMs()).toBeLessThan(500);
  });

  it("shows a new time at each renewal, even when the server's clock stands still", async () => {
    const { claims, client, clock } = setUp({ serverNowMs: () => 1_700_000_000_000 });
    await fresh(claims, key, { leaseMs: 3_000 });
    const times = new Set<string | undefined>();

    for (let i = 0; i < 5; i++) {
      times.add((await client.get(leases, ref))?.spec?.renewTime);
      await clock.advance(1_000);
    }

    expect(times.size).toBe(5);
  });

  it("survives edits of its Lease by other clients", async () => {
    const { claims, client, clock } = setUp();
    const claim = await fresh(claims, key, { leaseMs: 1_000 });
    await client.patch(leases, ref, { merge: { metadata: { annotations: { "example.com/note": "hello" } } } });

    await clock.advance(5_000);
    const outcome = await claim.complete();

    expect(outcome).toEqual({ completed: true });
    expect((await client.get(leases, ref))?.metadata.annotations).toMatchObject({ "example.com/note": "hello" });
  });

  it("is free after a while when its Lease was damaged", async () => {
    const { claims, client, clock } = setUp();
    await client.create(leases, { metadata: { ...ref, annotations: { "kubernaut.ai/key": key } } });

    expect((await claims.claim(key)).state).toBe("in-flight");
    await clock.advance(31_000);

    expect((await claims.claim(key)).state).toBe("new");
  });

  it("is a collision if the Lease belongs to another key", async () => {
    const { claims, client } = setUp();
    await client.create(leases, { metadata: { ...ref, annotations: { "kubernaut.ai/key": "another" } } });

    await expect(claims.claim(key)).rejects.toMatchObject({
      code: "collision",
      message: expect.stringContaining("another"),
    });
  });

  it.each<[Verb, (claims: Claims) => Promise<unknown>]>([
    ["create", (claims) => claims.claim(key)],
    ["get", (claims) => claims.claim(key).then(() => claims.claim(key))],
    ["update", async (claims) => (await fresh(claims, key)).complete()],
    ["delete", async (claims) => (await fresh(claims, key)).fail({ retryAfterMs: 0 })],
  ])("without the right to %s is an error that names the verb", async (verb, attempt) => {
    const { claims, cluster, again } = setUp();
    if (verb === "get") await fresh(again(), key);
    cluster.forbid(verb, "leases");

    await expect(attempt(claims)).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining(`cannot ${verb} resource "leases"`),
    });
  });

  it("takes one request to claim and one to complete", async () => {
    const { claims, requests } = setUp();

    await (await fresh(claims, key)).complete();

    expect(requests).toEqual(["create", "update"]);
  });
});

function setUp({ serverNowMs }: { readonly serverNowMs?: () => number } = {}) {
  const clock = new ManualClock();
  const random = systemRandom();
  const cluster = testCluster({ clock, random, namespaces: [namespace] });
  const requests: string[] = [];
  const client = cluster.client();
  const counting = new Proxy(client, {
    get: (target, name: keyof typeof client) =>
      name === "serverNowMs"
        ? (serverNowMs ?? (() => target.serverNowMs()))
        : (...args: never[]) => {
            requests.push(name);
            return (target[name] as (...given: never[]) => unknown)(...args);
          },
  });
  const again = () => kubernetesClaims({ client: counting, namespace, clock, random, who: "agent/pod-1/17" });
  return { clock, cluster, client, requests, again, claims: again() };
}

async function fresh(claims: Claims, of: Key, options?: Parameters<Claims["claim"]>[1]): Promise<NewClaim> {
  const claim = await claims.claim(of, options);
  if (claim.state !== "new") throw new Error(`${of} is ${claim.state}`);
  return claim;
}
