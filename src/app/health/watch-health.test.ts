import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { type KubeClient, KubeError, leases, type WatchEvent } from "../../kube/index.ts";
import { describeWatch, type WatchState, watchHealth } from "./watch-health.ts";

const second = 1_000;
const now = 1_000 * second;

describe("a watch", () => {
  it.each<[string, Partial<WatchState>, string | undefined]>([
    ["is fresh while events or bookmarks arrive", { heardAt: now - 60 * second }, undefined],
    ["is fresh while short failures are retried", { failure: failure(20, 1) }, undefined],
    ["fails after 30 seconds of errors", { failure: failure(40, 1) }, "failing for 40 s: 403"],
    ["is fresh when the last error is older than a retry", { failure: failure(400, 90) }, undefined],
    ["is silent after 4 minutes without a bookmark", { heardAt: now - 241 * second }, "nothing received for 241 s"],
    ["that is not in use is not silent", { open: 0, endedAt: 0, heardAt: 0 }, undefined],
  ])("%s", (_name, state, expected) => {
    expect(describeWatch({ open: 1, endedAt: 0, heardAt: now, failure: undefined, ...state }, now)).toBe(expected);
  });

  function failure(sinceS: number, lastS: number) {
    return { message: "403", since: now - sinceS * second, at: now - lastS * second };
  }
});

describe("the watches of a client", () => {
  it("are reported while they keep failing, and not after they work again", async () => {
    const clock = new ManualClock();
    let error: Error | undefined = new KubeError("forbidden", "leases is forbidden");
    const { client, problems } = watchHealth(
      clientWith(() => error),
      clock,
    );
    await watchOnce(client);
    await clock.advance(40 * second);
    await watchOnce(client);

    expect(problems()).toEqual(["watch of leases in locks: failing for 40 s: leases is forbidden"]);

    error = undefined;
    await watchOnce(client);

    expect(problems()).toEqual([]);
  });

  it("are not reported when the server requires a new list, or the caller aborts", async () => {
    const clock = new ManualClock();
    const { client, problems } = watchHealth(
      clientWith(() => new KubeError("gone", "too old")),
      clock,
    );
    await watchOnce(client);
    await clock.advance(40 * second);
    await watchOnce(client);

    expect(problems()).toEqual([]);
  });

  it("are not silent while the server accepts them, even if it has nothing to send", async () => {
    const clock = new ManualClock();
    const { client, problems } = watchHealth(silentClient, clock);
    for (let opened = 0; opened < 10; opened++) {
      await watchFor(90 * second, client, clock);
      expect(problems()).toEqual([]);
    }
  });

  it("are silent if the server no longer accepts them", async () => {
    const clock = new ManualClock();
    const { client, problems } = watchHealth(silentClient, clock);
    for (let opened = 0; opened < 10; opened++) await watchFor(30 * second, client, clock);

    expect(problems()).toEqual(["watch of leases in locks: nothing received for 300 s"]);
  });

  it("include lists that are refused, because an informer lists first", async () => {
    const clock = new ManualClock();
    const { client, problems } = watchHealth(
      clientWith(() => new KubeError("forbidden", "no list")),
      clock,
    );
    await expect(client.list(leases)).rejects.toThrow("no list");
    await clock.advance(31 * second);
    await expect(client.list(leases)).rejects.toThrow("no list");

    expect(problems()).toEqual(["list of leases: failing for 31 s: no list"]);
  });
});

/** Its watches are open until they are aborted, and no event comes. */
const silentClient = {
  async *watch(_type: unknown, _query: unknown, { signal }: { readonly signal: AbortSignal }) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  },
} as unknown as KubeClient;

async function watchFor(ms: number, client: KubeClient, clock: ManualClock): Promise<void> {
  const stop = new AbortController();
  const query = { namespace: "locks", resourceVersion: "1" };
  const watching = (async () => {
    for await (const _event of client.watch(leases, query, { signal: stop.signal })) break;
  })();
  await clock.advance(ms);
  stop.abort();
  await watching;
}

async function watchOnce(client: KubeClient): Promise<void> {
  try {
    for await (const _event of client.watch(leases, { namespace: "locks", resourceVersion: "1" })) break;
  } catch {
    // The health is under test, not the caller.
  }
}

function clientWith(problem: () => Error | undefined): KubeClient {
  return {
    async list() {
      const error = problem();
      if (error) throw error;
      return { items: [], resourceVersion: "1" };
    },
    async *watch(): AsyncIterable<WatchEvent<never>> {
      const error = problem();
      if (error) throw error;
      yield { type: "BOOKMARK", resourceVersion: "2" };
    },
  } as Partial<KubeClient> as KubeClient;
}
