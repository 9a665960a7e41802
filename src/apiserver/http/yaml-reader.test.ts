import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../time/index.ts";
import { YamlReader } from "./yaml-reader.ts";

describe("a YAML body", () => {
  let reader: YamlReader;
  const open = (limits = {}) => {
    const usual = { maxLength: 1_000_000, timeoutMs: 60_000, maxWaiting: 8, ...limits };
    reader = new YamlReader({ clock: systemClock(), limits: usual });
    return reader;
  };
  afterEach(() => reader.close());

  it("is read as the equivalent JSON", async () => {
    const text = "a: 1\nb: [true, ~, 'x', 9007199254740993]\nc: &c {d: e}\nf: *c\n";

    expect(await open().read(text)).toEqual({
      a: 1,
      b: [true, null, "x", 9007199254740993n],
      c: { d: "e" },
      f: { d: "e" },
    });
  });

  it("that takes longer than its time limit is aborted, while the main thread goes on, and the next one is read", async () => {
    const timers = firedByHand();
    reader = new YamlReader({ clock: timers.clock, limits: { maxLength: 2_000_000, timeoutMs: 1, maxWaiting: 8 } });

    const slow = reader.read("- a\n".repeat(400_000)).catch((error: unknown) => error);
    const next = reader.read("a: b");
    timers.fire();

    expect(await slow).toMatchObject({ status: { code: 413 } });
    expect(await next).toEqual({ a: "b" });
  });

  it.each([
    ["larger than its limit", "a".repeat(1_000_001), 413],
    ["an alias bomb", `a: &a [x]\n${Array.from({ length: 200 }, (_, i) => `k${i}: *a`).join("\n")}`, undefined],
    ["nested too deeply", "[".repeat(200_000), undefined],
    ["nested too deeply in blocks", "- ".repeat(50_000), undefined],
    ["nested more deeply than JSON may be", `${"[".repeat(500)}${"]".repeat(500)}`, undefined],
    ["a prototype", "__proto__: {a: b}", undefined],
    ["no YAML", "a: [", undefined],
  ])("that is %s is rejected", async (_what, text, code) => {
    const error = await open()
      .read(text)
      .catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(Error);
    if (code !== undefined) expect(error).toMatchObject({ status: { code } });
    else expect(error).toMatchObject({ name: "JsonSyntaxError" });
  });

  it("is rejected with 503 while too many wait", async () => {
    const { read } = bound(open({ maxWaiting: 1 }));

    const outcomes = await Promise.allSettled([read("a: 1"), read("a: 2"), read("a: 3")]);

    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(outcomes[2]).toMatchObject({ reason: { status: { code: 503 } } });
  });
});

function bound(reader: YamlReader) {
  return { read: (text: string) => reader.read(text) };
}

/** A clock whose latest timer ends when the test fires it. */
function firedByHand() {
  let latest = () => {};
  const after = (_ms: number, callback: () => void) => {
    latest = callback;
    return { cancel: () => {}, setBackground: () => {} };
  };
  return { clock: { ...systemClock(), after }, fire: () => latest() };
}
