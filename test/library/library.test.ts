import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import {
  type Claims,
  type Clock,
  CoordinationError,
  keyOf,
  type Lease,
  type Locks,
  type OpenLocksOptions,
  once,
  openClaims,
  openLocks,
  openWatermarks,
  type Random,
  runAsLeader,
  type Watermarks,
} from "../../src/library/index.ts";
import { type ApiServer, startApiServer } from "../services/api-server.ts";
import { freePort } from "../services/free-port.ts";
import { type RedisService, startRedis } from "../services/redis.ts";

let redis: RedisService;
let server: ApiServer;
beforeAll(async () => {
  // A server that keeps everything has nothing to wait for after its start.
  redis = await startRedis({ persistence: "always" });
  server = await startApiServer();
});
afterAll(async () => {
  await redis.stop();
  await server.stop();
});

const addresses = {
  "memory:": () => "memory:",
  "redis:": () => redis.url,
  "kubernetes:": () => `kubernetes:default?kubeconfig=${server.kubeconfigFile}`,
};

describe.each(Object.entries(addresses))("the library at %s", (name, address) => {
  it("locks a key for one caller at a time", async () => {
    const locks = await openLocks(address());
    const key = keyOf("library", name);

    const fences = await Promise.all(
      [1, 2].map(() =>
        locks.run(key, async (lease) => {
          lease.assertHeld();
          expect(locks.load().held).toBe(1);
          return lease.fence;
        }),
      ),
    );

    expect(fences[0]).not.toBe(fences[1]);
    await locks.close();
    await expect(locks.acquire(key)).rejects.toMatchObject({ code: "closed" });
  });

  it("runs work once for each claim", async () => {
    const claims = await openClaims(address());
    const key = keyOf("library", name, "claim");
    let runs = 0;
    const work = async () => `run ${++runs}`;

    const first = await once(claims, key, { effect: "idempotent" }, work);
    const second = await once(claims, key, { effect: "idempotent" }, work);

    expect([first.kind, second.kind, runs]).toEqual(["ran", "done", 1]);
    await claims.close();
  });

  it("moves a watermark over finished items", async () => {
    const watermarks = await openWatermarks(address());
    const serverDate = new Date("2026-11-16T12:00:00Z");
    const options = { from: "now", serverDate, overlapMs: 0 } as const;
    const watermark = await watermarks.open(keyOf("library", name, "notes"), options);

    const at = "2026-11-16T12:00:01.000Z";
    const outcome = await watermark.advance(
      [{ id: "1", updatedAt: at, finished: true }],
      new Date("2026-11-16T12:05:00Z"),
    );

    expect(outcome.kind).toBe("advanced");
    await watermarks.close();
  });

  it("lets one candidate lead, with the clock of the machine", async () => {
    const locks = await openLocks(address());
    const stop = new AbortController();
    let leases: readonly Lease[] = [];

    await runAsLeader(
      locks,
      keyOf("library", name, "leader"),
      async (lease) => {
        leases = [...leases, lease];
        stop.abort();
      },
      { signal: stop.signal },
    );

    expect(leases.length).toBe(1);
    await locks.close();
  });
});

describe("opening a backend", () => {
  it.each([openLocks, openClaims, openWatermarks])(
    "that does not exist is refused with the addresses to write: %o",
    async (open) => {
      await expect(open("etcd://127.0.0.1:2379")).rejects.toThrow(
        'unknown backend "etcd"; write memory:, redis://HOST:6379',
      );
    },
  );

  it("that cannot be reached fails with what to do, and leaves nothing open", async () => {
    const address = `redis://127.0.0.1:${await freePort()}`;

    for (const open of [openLocks, openClaims, openWatermarks]) {
      const failure: unknown = await open(address).catch((error) => error);
      expect(failure).toBeInstanceOf(CoordinationError);
      expect((failure as Error).message).toMatch(/^Redis cannot be used \(.*\); start it, or correct its address$/);
    }
  });

  it("uses the clock and the chance that it is given", async () => {
    const ids = ["a", "b", "c", "d", "e", "f"];
    const random: Random = { fraction: () => 0.5, id: () => ids.shift() ?? "z" };

    const locks = await openLocks("memory:", { random });
    await using lease = await locks.acquire(keyOf("x"));

    expect(lease.holder).toContain("a");
  });
});

describe("the types of the library", () => {
  it("need an address alone", () => {
    expectTypeOf(openLocks).parameter(0).toEqualTypeOf<string>();
    expectTypeOf(openLocks).parameter(1).toEqualTypeOf<OpenLocksOptions | undefined>();
    expectTypeOf(openLocks).returns.resolves.toEqualTypeOf<Locks>();
    expectTypeOf(openClaims).returns.resolves.toEqualTypeOf<Claims>();
    expectTypeOf(openWatermarks).returns.resolves.toEqualTypeOf<Watermarks>();
  });

  it("let tests replace clock and chance", () => {
    expectTypeOf<OpenLocksOptions["clock"]>().toEqualTypeOf<Clock | undefined>();
    expectTypeOf<OpenLocksOptions["random"]>().toEqualTypeOf<Random | undefined>();
  });

  it("take keys that keyOf made, not any text", () => {
    expectTypeOf<string>().not.toExtend<Parameters<Locks["acquire"]>[0]>();
    expectTypeOf(keyOf("a")).toEqualTypeOf<Parameters<Locks["acquire"]>[0]>();
  });
});
