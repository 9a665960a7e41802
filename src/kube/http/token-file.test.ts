import { describe, expect, it } from "vitest";
import { tokenFile } from "./token-file.ts";

describe("a token in a file", () => {
  it("is read again after a minute", async () => {
    const { token, write } = world("one\n");

    const first = await token({ now: 0, refused: false });
    write("two");

    expect(first).toBe("one");
    expect(await token({ now: 59_999, refused: false })).toBe("one");
    expect(await token({ now: 60_000, refused: false })).toBe("two");
  });

  it("is read again at once when the server refuses it", async () => {
    const { token, write } = world("one");
    await token({ now: 0, refused: false });
    write("two");

    expect(await token({ now: 1, refused: true })).toBe("two");
  });

  it("stays in use while the file is missing", async () => {
    const { token, write } = world("one");
    await token({ now: 0, refused: false });
    write(undefined);

    expect(await token({ now: 60_000, refused: false })).toBe("one");
  });

  it("that was never there makes calls unavailable", async () => {
    const { token } = world(undefined);

    await expect(token({ now: 0, refused: false })).rejects.toMatchObject({
      code: "unavailable",
      message: "the token file /token cannot be read",
    });
  });
});

function world(content: string | undefined) {
  let stored = content;
  const readFile = async () => stored ?? Promise.reject(new Error("ENOENT"));
  return {
    token: tokenFile("/token", readFile),
    write(next: string | undefined) {
      stored = next;
    },
  };
}
