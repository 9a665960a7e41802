import { describe, expect, it } from "vitest";
import { type Clock, Pacer } from "./clock.ts";

describe("a pacer", () => {
  it("lets one caller go per timer, in the order in which they asked", async () => {
    const timers: (() => void)[] = [];
    const pacer = new Pacer(clockWith(timers));
    const gone: number[] = [];
    for (const i of [0, 1, 2]) void pacer.turn().then(() => gone.push(i));

    for (const expected of [[], [0], [0, 1], [0, 1, 2]]) {
      await resolvedPromises();
      expect(gone).toEqual(expected);
      expect(timers.length).toBe(expected.length < 3 ? 1 : 0);
      timers.shift()?.();
    }
  });
});

function clockWith(timers: (() => void)[]): Clock {
  return {
    now: () => 0,
    wallMs: () => 0,
    after: (_delayMs, wake) => {
      timers.push(wake);
      return { cancel() {}, setBackground() {} };
    },
  };
}

/** Every promise that is already resolved has called its listeners. */
function resolvedPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
