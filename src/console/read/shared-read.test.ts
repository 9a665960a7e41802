import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { SharedRead } from "./shared-read.ts";

describe("a read that is shared", () => {
  it("is under way once, for all callers, and reused for ten times as long as it took", async () => {
    const { clock, shared, reads, finish } = slowRead();
    const together = [shared.get(clock, reads.begin), shared.get(clock, reads.begin)];
    await clock.advance(2_000);
    finish("first");
    expect(await Promise.all(together)).toEqual(["first", "first"]);

    await clock.advance(19_999);
    expect(await shared.get(clock, reads.begin)).toBe("first");
    await clock.advance(1);
    const next = shared.get(clock, reads.begin);
    finish("second");

    expect(await next).toBe("second");
    expect(reads.count).toBe(2);
  });

  it("is reused for five seconds if it was fast", async () => {
    const { clock, shared, reads, finish } = slowRead();
    const first = shared.get(clock, reads.begin);
    finish("first");
    await first;

    await clock.advance(4_999);
    await shared.get(clock, reads.begin);
    expect(reads.count).toBe(1);
    await clock.advance(1);
    void shared.get(clock, reads.begin);

    expect(reads.count).toBe(2);
  });

  it("is repeated after a failure", async () => {
    const { clock, shared, reads } = slowRead();
    await expect(shared.get(clock, () => Promise.reject(new Error("outage")))).rejects.toThrow("outage");

    void shared.get(clock, reads.begin);

    expect(reads.count).toBe(1);
  });
});

function slowRead() {
  const clock = new ManualClock();
  const shared = new SharedRead<string>();
  let finish: (result: string) => void = () => {};
  const reads = {
    count: 0,
    begin: () =>
      new Promise<string>((resolve) => {
        reads.count++;
        finish = resolve;
      }),
  };
  return { clock, shared, reads, finish: (result: string) => finish(result) };
}
