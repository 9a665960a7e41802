import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock, systemRandom } from "../../../time/index.ts";
import { openDataDirectory } from "./data-directory.ts";

describe("the data directory", () => {
  let path: string;

  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "interlock-data-"));
  });

  afterEach(async () => {
    await rm(path, { recursive: true });
  });

  it("keeps its id when it is opened again", async () => {
    const first = await open();
    await first.release();

    const second = await open();
    await second.release();

    expect(second.id).toBe(first.id);
  });

  it("is not opened under a new id when its id cannot be read", async () => {
    await symlink("id", join(path, "id"));

    await expect(open()).rejects.toMatchObject({ code: "ELOOP" });
  });

  function open() {
    const { signal } = new AbortController();
    return openDataDirectory({ path, clock: systemClock(), random: systemRandom(), signal, waiting() {} });
  }
});
