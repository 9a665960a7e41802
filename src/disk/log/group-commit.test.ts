import { describe, expect, it } from "vitest";
import { GroupCommit } from "./group-commit.ts";

describe("a group commit", () => {
  it("writes entries together that are added in one turn, or while a write is under way", async () => {
    const { commit, writes, finish } = held();

    const first = [commit.add("a", 1), commit.add("b", 1)];
    await turn();
    const second = [commit.add("c", 1), commit.add("d", 1), commit.add("e", 1)];
    finish();
    await Promise.all(first);
    await turn();
    finish();
    await Promise.all(second);

    expect(writes).toEqual([
      ["a", "b"],
      ["c", "d", "e"],
    ]);
  });

  it("writes no more together than the maximum, except for a single larger entry", async () => {
    const writes: string[][] = [];
    const commit = new GroupCommit<string>({
      write: async (entries) => void writes.push([...entries]),
      failed: (cause) => cause,
      maxBatchSize: 10,
    });

    await Promise.all([commit.add("a", 5), commit.add("b", 5), commit.add("c", 1), commit.add("huge", 100)]);

    expect(writes).toEqual([["a", "b"], ["c"], ["huge"]]);
  });

  it("rejects every waiting entry when a write fails, and writes later ones", async () => {
    const { commit, writes, finish, fail } = held();
    const failing = commit.add("a", 1);
    await turn();
    const waiting = commit.add("b", 1);
    const outcomes = Promise.allSettled([failing, waiting]);

    fail(new Error("ENOSPC"));
    const reasons = (await outcomes).map((outcome) => outcome.status === "rejected" && outcome.reason.message);
    const later = commit.add("c", 1);
    await turn();
    finish();
    await later;

    expect(reasons).toEqual(["wrapped ENOSPC", "wrapped ENOSPC"]);
    expect(writes).toEqual([["a"], ["c"]]);
    expect(commit.waitingSize).toBe(0);
  });

  it("counts the size of the entries whose write has not begun", async () => {
    const { commit, finish } = held();
    const first = commit.add("a", 3);
    await turn();
    const second = commit.add("b", 4);

    expect(commit.waitingSize).toBe(4);

    finish();
    await first;
    await turn();
    finish();
    await second;
    expect(commit.waitingSize).toBe(0);
  });

  it("is idle when everything was written or rejected", async () => {
    const { commit, writes, finish } = held();
    await commit.idle();
    void commit.add("a", 1);
    let isIdle = false;
    const idle = commit.idle().then(() => {
      isIdle = true;
    });
    await turn();

    expect(isIdle).toBe(false);
    finish();
    await idle;
    expect(writes).toEqual([["a"]]);
  });
});

/** A commit whose writes end when the test resolves them. */
function held() {
  const writes: string[][] = [];
  let finish = () => {};
  let fail: (error: Error) => void = () => {};
  const commit = new GroupCommit<string>({
    write(entries) {
      writes.push([...entries]);
      return new Promise((resolve, reject) => {
        finish = resolve;
        fail = reject;
      });
    },
    failed: (cause) => new Error(`wrapped ${cause.message}`),
  });
  return { commit, writes, finish: () => finish(), fail: (error: Error) => fail(error) };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
