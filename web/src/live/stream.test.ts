import { describe, expect, it } from "vitest";
import { followStream } from "./stream.ts";

describe("followStream", () => {
  it("reads lists again at its first opening, and continues behind the last event after an interruption", async () => {
    const { log } = await follow([
      'id: 4\nevent: changes\ndata: {"changed":[],"removed":[]}\n\n',
      'id: 5\nevent: beat\ndata: {"serverTime":"a","currentAt":"b"}\n\n',
    ]);

    expect(log).toEqual(["open undefined", "reset", "changes", "sleep 250", "open 4", "beat", "sleep 250"]);
  });

  it("reads lists again when the server no longer has the changes", async () => {
    const { log } = await follow(["id: 4\nevent: reset\ndata: {}\n\n"]);

    expect(log).toEqual(["open undefined", "reset", "reset", "sleep 250"]);
  });

  it("waits longer after each refused attempt, up to a limit", async () => {
    const { log } = await follow(Array.from({ length: 7 }, () => new Error("refused")));

    expect(log.filter((entry) => entry.startsWith("sleep"))).toEqual(
      [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000].map((ms) => `sleep ${ms}`),
    );
  });
});

/** Follows a stream whose connections have these bodies, until all are used. */
async function follow(bodies: readonly (string | Error)[]) {
  const log: string[] = [];
  const controller = new AbortController();
  const waiting = [...bodies];
  await followStream({
    open: async (lastId) => {
      log.push(`open ${lastId}`);
      const body = waiting.shift();
      if (body instanceof Error) throw body;
      return new Blob([body ?? ""]).stream();
    },
    onChanges: () => log.push("changes"),
    onReset: () => log.push("reset"),
    onBeat: () => log.push("beat"),
    onError: () => undefined,
    sleep: async (ms) => {
      log.push(`sleep ${ms}`);
      if (waiting.length === 0) controller.abort();
    },
    signal: controller.signal,
  });
  return { log };
}
