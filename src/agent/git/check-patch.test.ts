import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkPatch } from "./parse-patch.ts";
import type { PatchLimits } from "./workshop.ts";

const one = "1".repeat(40);
const two = "2".repeat(40);
const change = `index ${one}..${two} 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@ heading\n one\n-two\n+2\n`;
const good = `diff --git a/a.txt b/a.txt\n${change}`;

describe("a patch from another process", () => {
  it("is accepted if git wrote it", () => {
    const created = `diff --git a/n b/n\nnew file mode 100755\nindex ${one}..${two}\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n`;
    const emptied = `diff --git a/e b/e\nnew file mode 100644\nindex ${one}..${two}\n`;
    const binary = `diff --git a/b b/b\nindex ${one}..${two} 100644\nGIT binary patch\nliteral 4\nLcmZQzWMT#Y01f~L\n\nliteral 0\nHcmV?d00001\n\n`;
    const mode = "diff --git a/m b/m\nold mode 100644\nnew mode 100755\n";

    expect(check(good + created + emptied + binary + mode)).toMatchObject({
      kind: "patch",
      patch: { base: one, files: ["a.txt", "n", "e", "b", "m"] },
    });
  });

  it("is an empty change if it is empty", () => {
    expect(check("")).toEqual({ kind: "nothing" });
  });

  it("has unquoted file names", () => {
    const name = '"a/\\303\\244 \\"x\\".txt" "b/\\303\\244 \\"x\\".txt"';
    const text = `diff --git ${name}\nold mode 100644\nnew mode 100755\n`;

    expect(check(text)).toMatchObject({ patch: { files: ['ä "x".txt'] } });
  });

  it.each([
    [
      "Symlink",
      `diff --git a/l b/l\nnew file mode 120000\nindex ${one}..${two}\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n`,
    ],
    ["Symlink", `diff --git a/l b/l\nindex ${one}..${two} 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n+/etc\n`],
    [
      "Submodule",
      `diff --git a/s b/s\nnew file mode 160000\nindex ${one}..${two}\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+x\n`,
    ],
    ["BadMode", "diff --git a/m b/m\nold mode 100644\nnew mode 104755\n"],
    ["BadPath", "diff --git a/../m b/../m\nold mode 100644\nnew mode 100755\n"],
    ["BadPath", "diff --git a//etc/m b//etc/m\nold mode 100644\nnew mode 100755\n"],
    ["BadPath", "diff --git a/x/.Git/config b/x/.Git/config\nold mode 100644\nnew mode 100755\n"],
    ["BadPath", 'diff --git "a/a\\nb" "b/a\\nb"\nold mode 100644\nnew mode 100755\n'],
    ["BadPath", 'diff --git "a/\\377" "b/\\377"\nold mode 100644\nnew mode 100755\n'],
    ["ProtectedPath", "diff --git a/CI/x b/CI/x\nold mode 100644\nnew mode 100755\n"],
    [
      "TooManyFiles",
      ["1", "2", "3", "4"].map((n) => `diff --git a/${n} b/${n}\nold mode 100644\nnew mode 100755\n`).join(""),
    ],
    [
      "TooLarge",
      good +
        `diff --git a/b b/b\nindex ${one}..${two} 100644\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-a\n+${"b".repeat(2_000)}\n`,
    ],
    ["Unreadable", good.trimEnd()],
    ["Unreadable", `From: somebody\n${good}`],
    ["Unreadable", `${good}trailing\n`],
    ["Unreadable", `${good}--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n`],
    ["Unreadable", `${good}diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n`],
    ["Unreadable", good.replace("-1,2 +1,2", "-1,1 +1,1")],
    ["Unreadable", good.replace("-1,2 +1,2", "-1,3 +1,3")],
    ["Unreadable", good.replace(" 100644", "")],
    ["Unreadable", `diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n`],
    ["Unreadable", `diff --git a/b b/b\nindex ${one}..${two} 100644\nBinary files a/b and b/b differ\n`],
  ])("is refused as %s: %j", (reason, text) => {
    expect(check(text)).toMatchObject({ kind: "refused", reason });
  });

  it("is checked whatever its bytes are", () => {
    const pieces = fc.constantFrom(...good.split(/(?<=\n)/), "\n", "\\ No newline at end of file\n", "@@ -1 +1 @@\n");

    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 12 }), (parts) => {
        expect(["patch", "nothing", "refused"]).toContain(check(parts.join("")).kind);
      }),
    );
  });
});

function check(text: string) {
  const limits: PatchLimits = {
    maxBytes: 2_000,
    maxFiles: 3 + (text.includes("GIT binary") ? 2 : 0),
    protectedPaths: ["/ci/"],
  };
  return checkPatch({ base: one, bytes: Buffer.from(text) }, limits);
}
