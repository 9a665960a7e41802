import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveApi } from "../../src/apiserver/http/serve.ts";
import { keyOf } from "../../src/coordination/key.ts";
import { kubernetesLocks } from "../../src/coordination/kubernetes/kubernetes-locks.ts";
import { httpClient } from "../../src/kube/http/http-client.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { volatileStore } from "../doubles/volatile-store.ts";

const clock = systemClock();
const random = systemRandom();
const tokens = { admin: "admin", readOnly: "reader" };
const key = keyOf("target", "a");

let url: string;
let close = async () => {};
beforeAll(async () => {
  const served = await serveApi({ store: volatileStore(), clock, random, tokens, acceptPlainTokens: true });
  url = served.url;
  close = served.close;
});
afterAll(() => close());

describe("locks over HTTP", () => {
  it("pass to the next waiting process, with a larger fence", async () => {
    await using one = open("one");
    await using two = open("two");
    const first = await one.acquire(key, { ttlMs: 30_000 });

    const waiting = two.acquire(key, { ttlMs: 30_000, waitMs: 15_000 });
    const early = await Promise.race([waiting, new Promise((resolve) => setTimeout(() => resolve("waits"), 300))]);
    await first.release();
    const second = await waiting;

    expect(early).toBe("waits");
    expect(second.fence).toBeGreaterThan(first.fence);
    await second.release();
  });

  it("name the missing permission when the token may only read", async () => {
    await using locks = open("reader", tokens.readOnly);

    await expect(locks.acquire(key, { waitMs: 5_000 })).rejects.toThrow(
      /cannot (create|update) resource "leases" in API group "coordination.k8s.io" in the namespace "default"/,
    );
  });
});

function open(who: string, token = tokens.admin) {
  const client = httpClient({ connection: { url, credentials: { token } }, clock, random });
  const locks = kubernetesLocks({ client, clock, random, namespace: "default", prefix: "test-lock-", who });
  return Object.assign(locks, { [Symbol.asyncDispose]: () => locks.close() });
}
