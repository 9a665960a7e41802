import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ancestorProblem, openOwnDirectory, ownershipProblem } from "./own-directory.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "own-directory-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("a directory of our own", () => {
  it("is created if it is missing, so that others cannot write to it", async () => {
    const path = join(root, "a", "work");

    expect(await openOwnDirectory(path, "agent.workDir")).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o711);
  });

  it("is used if it exists", async () => {
    await openOwnDirectory(join(root, "work"), "agent.workDir");
    writeFileSync(join(root, "work", "file"), "");

    expect(await openOwnDirectory(join(root, "work"), "agent.workDir")).toBe(join(root, "work"));
  });

  it.each([
    ["a symbolic link to a directory", () => symlinkSync(root, join(root, "work")), "is a symbolic link; fix: remove"],
    ["a dangling symbolic link", () => symlinkSync("nowhere", join(root, "work")), "is a symbolic link"],
    ["a file", () => writeFileSync(join(root, "work"), ""), "is not a directory"],
    [
      "writable by its group",
      () => make(0o770),
      "(mode 0770); fix: make sure that you trust its contents and run chmod",
    ],
    ["writable by everyone, even if it is sticky", () => make(0o1777), "can be changed by other users (mode 1777)"],
  ])("is refused if it is %s", async (_what, prepare, message) => {
    prepare();

    await expect(openOwnDirectory(join(root, "work"), "agent.workDir")).rejects.toMatchObject({
      code: "unsafe",
      message: expect.stringContaining(message),
    });
  });

  it.runIf(process.getuid?.() === 0)("is refused if another user owns it", async () => {
    make(0o700);
    chownSync(join(root, "work"), 4711, 4711);

    await expect(openOwnDirectory(join(root, "work"), "agent.workDir")).rejects.toThrow(
      `agent.workDir ${root}/work belongs to user 4711, and this process runs as user 0; fix:`,
    );
  });

  it("is refused below a directory in which all users can replace it", async () => {
    mkdirSync(join(root, "open"));
    chmodSync(join(root, "open"), 0o777);

    await expect(openOwnDirectory(join(root, "open", "a", "work"), "agent.workDir")).rejects.toThrow(
      `${root}/open/a/work is below ${root}/open, which can be changed by all users; fix: change that, or set agent.workDir`,
    );
  });

  it.runIf(process.getuid?.() === 0)("is refused below a directory of another user", async () => {
    make(0o700);
    chownSync(join(root, "work"), 4711, 4711);

    await expect(openOwnDirectory(join(root, "work", "coder"), "agent.workDir")).rejects.toThrow(
      `is below ${root}/work, which belongs to user 4711`,
    );
  });

  it.each([
    [1000, 1000, 0o40775, undefined],
    [1000, 0, 0o41777, undefined],
    [1000, 65_534, 0o40755, undefined],
    [0, 0, 0o40755, undefined],
    [0, 1000, 0o40755, "belongs to user 1000"],
    [1000, 1001, 0o41777, "belongs to user 1001"],
    [1000, 0, 0o40777, "can be changed by all users"],
    [undefined, 1001, 0o40755, undefined],
  ])("as user %s, below a directory of %i with mode %o: %s", (us, uid, mode, problem) => {
    expect(ancestorProblem({ uid, mode }, us)).toBe(problem);
  });

  it.each([
    [1000, 1000, 0o40700, undefined],
    [1000, 1001, 0o40700, "belongs to user 1001"],
    [0, 1000, 0o40755, "belongs to user 1000"],
    [1000, 1000, 0o40775, "can be changed by other users"],
    [1000, 1000, 0o40757, "can be changed by other users"],
  ])("as user %i: owner %i and mode %o: %s", (us, uid, mode, problem) => {
    const found = { uid, mode, isDirectory: () => true, isSymbolicLink: () => false };

    const what = ownershipProblem(found, us)?.what;

    if (problem === undefined) expect(what).toBeUndefined();
    else expect(what).toContain(problem);
  });
});

function make(mode: number) {
  mkdirSync(join(root, "work"));
  chmodSync(join(root, "work"), mode);
}
