import { describe, expect, it } from "vitest";
import { CommandError } from "./command.ts";
import { forEachName } from "./for-each-name.ts";

describe("a command with several names", () => {
  const errors: unknown[] = [];
  const cli = { terminal: { printError: (line: unknown) => errors.push(line) } } as never;

  it("goes on after a name that fails, prints its error and exits with 1", async () => {
    const done: string[] = [];

    const status = await forEachName(["a", "b", "c"], cli, async (name) => {
      if (name === "b") throw new CommandError("there is no b");
      done.push(name);
    });

    expect(status).toBe(1);
    expect(done).toEqual(["a", "c"]);
    expect(errors).toEqual(["error: there is no b"]);
  });

  it("exits with 0 when all succeed", async () => {
    expect(await forEachName(["a", "b"], cli, async () => {})).toBe(0);
  });

  it("stops at an error that would meet the others as well", async () => {
    const done: string[] = [];
    const failed = forEachName(["a", "b"], cli, async (name) => {
      done.push(name);
      throw new Error("no API server");
    });

    await expect(failed).rejects.toThrow("no API server");
    expect(done).toEqual(["a"]);
  });
});
