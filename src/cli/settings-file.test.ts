import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findSettingsFile, isTrustedOwner, settingsCandidates } from "./settings-file.ts";

describe("the settings file", () => {
  it.each([
    ["given.yaml", { INTERLOCK_CONFIG: "env.yaml", HOME: "/h" }, ["given.yaml"]],
    [undefined, { INTERLOCK_CONFIG: "env.yaml", HOME: "/h" }, ["env.yaml"]],
    [undefined, { HOME: "/h" }, ["interlock.yaml", "/h/.config/interlock/config.yaml"]],
    [undefined, { HOME: "/h", XDG_CONFIG_HOME: "/x" }, ["interlock.yaml", "/x/interlock/config.yaml"]],
    [undefined, { INTERLOCK_CONFIG: "" }, ["interlock.yaml"]],
  ])("with --config %j and %j is the first of %j", (option, env, paths) => {
    expect(settingsCandidates(option, env).map(({ path }) => path)).toEqual(paths);
  });

  it.each([
    [1000, 1000, true],
    [0, 1000, true],
    [1001, 1000, false],
    [1001, 0, false],
    [1001, undefined, true],
  ])("of user %j is read unnamed by user %j: %j", (owner, user, expected) => {
    expect(isTrustedOwner(owner, user)).toBe(expected);
  });

  describe("on disk", () => {
    let home: string;
    beforeEach(async () => {
      home = await mkdtemp(join(tmpdir(), "interlock-home-"));
    });
    afterEach(() => rm(home, { recursive: true }));

    it("is found in the home directory", async () => {
      const path = join(home, ".config", "interlock", "config.yaml");
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, "log: { level: debug }");

      const found = await findSettingsFile(undefined, { HOME: home });

      expect(found).toEqual({ path, origin: "home directory", text: "log: { level: debug }" });
    });

    it("may be missing unless it is named", async () => {
      expect(await findSettingsFile(undefined, { HOME: home })).toBeUndefined();
      await expect(findSettingsFile(join(home, "a"), {})).rejects.toThrow(/--config .*\/a cannot be read \(ENOENT\)/);
      await expect(findSettingsFile(undefined, { INTERLOCK_CONFIG: join(home, "a") })).rejects.toThrow("ENOENT");
    });
  });
});
