import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { canEnter, findClosedAncestor } from "./find-closed-ancestor.ts";
import type { Isolation } from "./isolated-command.ts";

const user = { uid: 65_534, gid: 65_534 };
const inNamespaces: Isolation = { namespaces: "root", user, network: false };
const asUserAlone: Isolation = { namespaces: undefined, user, network: true };

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "closed-ancestor-"));
  chmodSync(root, 0o711);
  mkdirSync(join(root, "data", "coder"), { recursive: true });
  chmodSync(join(root, "data"), 0o700);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("the path to the work directory", () => {
  it("is closed to another user by a private data directory", async () => {
    expect(await findClosedAncestor(join(root, "data", "coder"), asUserAlone, [join(root, "data")])).toBe(
      join(root, "data"),
    );
  });

  it("is open where that directory is replaced", async () => {
    expect(await findClosedAncestor(join(root, "data", "coder"), inNamespaces, [join(root, "data")])).toBeUndefined();
  });

  it("is closed by a private directory above the one that is replaced", async () => {
    chmodSync(root, 0o700);

    expect(await findClosedAncestor(join(root, "data", "coder"), inNamespaces, [join(root, "data")])).toBe(root);
  });

  it("is open to our own user", async () => {
    const own: Isolation = { namespaces: "user", user: undefined, network: false };

    expect(await findClosedAncestor(join(root, "data", "coder"), own, [])).toBeUndefined();
  });
});

describe("a directory", () => {
  it.each([
    [{ uid: 0, gid: 0, mode: 0o700 }, false],
    [{ uid: 0, gid: 0, mode: 0o711 }, true],
    [{ uid: 0, gid: 65_534, mode: 0o701 }, false],
    [{ uid: 0, gid: 65_534, mode: 0o710 }, true],
    [{ uid: 65_534, gid: 0, mode: 0o100 }, true],
    [{ uid: 65_534, gid: 0, mode: 0o077 }, false],
  ])("%o can be entered by user 65534: %s", (found, expected) => {
    expect(canEnter(found, user)).toBe(expected);
  });
});
