import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { tokenFile } from "./connection.ts";

describe("a token in a file", () => {
  it("is read again after a minute", async () => {
    const { token, write, clock } = setUp("one\n");

    const first = await token({ clock });
    write("two");

    expect(first).toBe("one");
    await clock.advance(59_999);
    expect(await token({ clock })).toBe("one");
    await clock.advance(1);
    expect(await token({ clock })).toBe("two");
  });

  it("is read again at once when the server refuses it", async () => {
    const { token, write, clock } = setUp("one");
    const refused = { token: await token({ clock }) };
    write("two");

    expect(await token({ clock, refused })).toBe("two");
  });

  it("stays in use while the file is missing", async () => {
    const { token, write, clock } = setUp("one");
    await token({ clock });
    write(undefined);
    await clock.advance(60_000);

    expect(await token({ clock })).toBe("one");
  });

  it("that never existed makes calls unavailable", async () => {
    const { token, clock } = setUp(undefined);

    await expect(token({ clock })).rejects.toMatchObject({
      code: "unavailable",
      message: "the token file /token cannot be read",
    });
  });
});

function setUp(content: string | undefined) {
  let stored = content;
  const readFile = async () => stored ?? Promise.reject(new Error("ENOENT"));
  return {
    clock: new ManualClock(),
    token: tokenFile("/token", readFile),
    write(next: string | undefined) {
      stored = next;
    },
  };
}
