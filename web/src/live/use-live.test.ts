import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Changes, IncidentRow } from "../../../src/console/wire.ts";
import { ApiError } from "../api.ts";
import type { subscribe } from "./live.ts";
import { type LiveSource, openLive } from "./use-live.ts";

type Listener = Parameters<typeof subscribe>[0];

/** A value that is the list of everything that was read and merged. */
type Log = readonly string[];

describe("a live value", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is read, and follows changes", async () => {
    const { live, listener, settle } = start();
    await settle("read 1");

    listener.onChanges(change("a"));

    expect(live.state.value.value).toEqual(["read 1", "a"]);
  });

  it("keeps a change that arrives while it is read", async () => {
    const { live, listener, settle } = start();

    listener.onChanges(change("a"));
    await settle("read 1");

    expect(live.state.value.value).toEqual(["read 1", "a"]);
  });

  it("is read again when changes were lost, and shows the earlier value meanwhile", async () => {
    const { live, listener, settle } = start();
    await settle("read 1");

    listener.onReset();
    expect(live.state.value.value).toEqual(["read 1"]);
    await settle("read 2");

    expect(live.state.value.value).toEqual(["read 2"]);
  });

  it("is read once more after many changes that it cannot merge, and at most once a second", async () => {
    const { live, listener, settle, reads } = start();
    await settle("read 1");

    for (let count = 0; count < 10; count++) listener.onChanges(change("inexact"));
    await vi.advanceTimersByTimeAsync(100);
    expect(reads()).toBe(2);
    await settle("read 2");
    listener.onChanges(change("inexact"));
    await vi.advanceTimersByTimeAsync(900);
    expect(reads()).toBe(2);
    await vi.advanceTimersByTimeAsync(100);

    expect(reads()).toBe(3);
    expect(live.state.value.value).toEqual(["read 2", "inexact"]);
  });

  it("keeps the earlier value when it cannot be read again, and shows the reason", async () => {
    const { live, listener, settle, fail } = start();
    await settle("read 1");

    listener.onReset();
    await fail(503);

    expect(live.state.value).toMatchObject({ value: ["read 1"], problem: { status: 503 } });
  });

  it("is read again while the server does not respond or is not ready", async () => {
    const { live, settle, fail, reads } = start();
    await fail(503);
    await vi.advanceTimersByTimeAsync(2_000);
    await fail(0);
    await vi.advanceTimersByTimeAsync(2_000);
    await settle("read 3");

    expect(live.state.value).toEqual({ value: ["read 3"], problem: undefined });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reads()).toBe(3);
  });

  it("is not read again when the server refused it, or after its end", async () => {
    const refused = start();
    await refused.fail(403);
    const ended = start();
    await ended.fail(503);
    ended.end();

    await vi.advanceTimersByTimeAsync(60_000);

    expect([refused.reads(), ended.reads()]).toEqual([1, 1]);
  });

  it("keeps a change that arrives before a failed correction is repeated", async () => {
    const { live, listener, settle, fail } = start({ correct: true });
    await settle("read 1");
    listener.onChanges(change("inexact"));
    await vi.advanceTimersByTimeAsync(100);
    await fail(503);

    listener.onChanges(change("a"));
    await vi.advanceTimersByTimeAsync(2_000);
    await settle("correction");

    expect(live.state.value.value).toEqual(["read 1", "inexact", "a", "correction"]);
  });

  it("is read as a whole when changes were lost, although a correction is due", async () => {
    const { live, listener, settle } = start({ correct: true });
    await settle("read 1");

    listener.onChanges(change("inexact"));
    listener.onReset();
    await vi.advanceTimersByTimeAsync(100);
    await settle("aborted");
    await settle("read 3");

    expect(live.state.value.value).toEqual(["read 3"]);
  });

  it("keeps a page that arrives while it is corrected", async () => {
    const { live, listener, settle } = start({ correct: true });
    await settle("read 1");
    live.loadMore();
    listener.onChanges(change("inexact"));
    await vi.advanceTimersByTimeAsync(100);

    await settle("page 2");
    await settle("correction");

    expect(live.state.value.value).toEqual(["read 1", "inexact", "page 2", "correction"]);
  });

  it("reads one page at a time, and none after its end", async () => {
    const { live, settle, end, reads, signals } = start();
    await settle("read 1");

    live.loadMore();
    live.loadMore();
    expect(reads()).toBe(2);
    end();

    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
  });

  it("does not change after its end", async () => {
    const { live, end, settle } = start();

    end();
    await settle("read 1");

    expect(live.state.value.value).toBeUndefined();
  });
});

function start({ correct = false } = {}) {
  const waiting: { readonly resolve: (log: Log) => void; readonly reject: (error: unknown) => void }[] = [];
  const signals: AbortSignal[] = [];
  let listener: Listener | undefined;
  const read = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<Log>((resolve, reject) => waiting.push({ resolve, reject }));
  };
  const append = async (signal: AbortSignal) => {
    const more = await read(signal);
    return (log: Log) => [...log, ...more];
  };
  const source: LiveSource<Log> = {
    read,
    readMore: (_log, signal) => append(signal),
    ...(correct && { correct: append }),
    merge: (log, { changed }) => {
      const names = changed.map(({ name }) => name);
      return { value: [...log, ...names], isExact: !names.includes("inexact") };
    },
  };
  const live = openLive(source, (added) => {
    listener = added;
    return () => undefined;
  });
  const end = live.start();
  if (!listener) throw new Error("the value follows no changes");
  return {
    live,
    listener,
    end,
    signals,
    reads: () => signals.length,
    settle: async (text: string) => {
      waiting.shift()?.resolve([text]);
      await vi.advanceTimersByTimeAsync(0);
    },
    fail: async (status: number) => {
      waiting.shift()?.reject(new ApiError({ type: "about:blank", title: "", status, detail: "no" }));
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

function change(name: string): Changes {
  return { changed: [{ kind: "incidents", name } as IncidentRow], removed: [] };
}
