import { describe, expect, it } from "vitest";
import { currentText } from "./current-text.ts";

describe("text in a file that is replaced", () => {
  it("is read again when it is no longer fresh", async () => {
    const { text, write } = world("one\n");

    const first = await text({ now: 0, refused: false });
    write("two");

    expect(first).toBe("one");
    expect(await text({ now: 4_999, refused: false })).toBe("one");
    expect(await text({ now: 5_000, refused: false })).toBe("two");
  });

  it("is read again at once when it is refused", async () => {
    const { text, write } = world("one");
    await text({ now: 0, refused: false });
    write("two");

    expect(await text({ now: 1, refused: true })).toBe("two");
  });

  it.each([
    ["missing", undefined, "ENOENT"],
    ["empty", " \n", "it is empty"],
  ])(
    "stays in use while the file is %s, which is reported once per period of freshness",
    async (_how, content, why) => {
      const { text, write, troubles } = world("one");
      await text({ now: 0, refused: false });
      write(content);

      const given = [];
      for (const now of [5_000, 5_001, 9_999]) given.push(await text({ now, refused: false }));

      expect(given).toEqual(["one", "one", "one"]);
      expect(troubles).toEqual([why]);
    },
  );

  it.each([
    [undefined, "ENOENT"],
    ["", "it is empty"],
  ])("that never existed is an error until it exists: %j", async (content, why) => {
    const { text, write, troubles } = world(content);

    for (const now of [0, 1]) await expect(text({ now, refused: false })).rejects.toThrow(why);
    write("one");

    expect(await text({ now: 2, refused: false })).toBe("one");
    expect(troubles).toEqual([why]);
  });
});

function world(content: string | undefined) {
  let stored = content;
  const troubles: string[] = [];
  const read = async () => stored ?? Promise.reject(Object.assign(new Error("ENOENT: /token"), { code: "ENOENT" }));
  return {
    text: currentText({ read, freshForMs: 5_000, onProblem: (problem) => troubles.push(problem) }),
    troubles,
    write(next: string | undefined) {
      stored = next;
    },
  };
}
