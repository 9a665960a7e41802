import { describe, expect, it } from "vitest";
import type { Finding } from "../coder/coder.ts";
import type { Changes, FileChange } from "../gitlab/gitlab.ts";
import { findPosition } from "./positions.ts";

const refs = { baseSha: "b", startSha: "s", headSha: "h" };

// New lines 10-13 and 31-33 are shown; three lines come in at the top, and one goes further down.
const diff = `@@ -10,3 +10,5 @@ function first() {
 ten
-eleven
+eleven!
+twelve
+--- a/looks/like/a/header
 twelve before
@@ -30,3 +32,2 @@ @@ -1 +1 @@ in a heading
 thirty
--- removed, and looks like a header
 thirty-two
\\ No newline at end of file
`;

describe("a finding is placed", () => {
  it.each<[string, number, Finding["side"], object | undefined]>([
    ["on a shown line that did not change, by both numbers", 10, "new", { oldLine: 10, newLine: 10 }],
    ["on an added line, by its new number", 11, "new", { newLine: 11 }],
    ["on another added line", 12, "new", { newLine: 12 }],
    ["on an added line that looks like a header", 13, "new", { newLine: 13 }],
    ["on a removed line, by its old number", 11, "old", { oldLine: 11 }],
    ["on the line after them", 14, "new", { oldLine: 12, newLine: 14 }],
    ["on that line by its old number", 12, "old", { oldLine: 12, newLine: 14 }],
    ["in the second hunk", 32, "new", { oldLine: 30, newLine: 32 }],
    ["on a removed line that looks like a header", 31, "old", { oldLine: 31 }],
    ["on the last line", 33, "new", { oldLine: 32, newLine: 33 }],
    ["above the first hunk", 3, "new", { oldLine: 3, newLine: 3 }],
    ["between hunks", 20, "new", { oldLine: 18, newLine: 20 }],
    ["between hunks by the old number", 18, "old", { oldLine: 18, newLine: 20 }],
    ["nowhere after the last hunk, where the line may not exist", 34, "new", undefined],
    ["nowhere on line 0", 0, "new", undefined],
  ])("%s", (_, line, side, numbers) => {
    const position = findPosition(finding({ line, side }), changes({ diff }));

    expect(position).toEqual(numbers && { ...refs, oldPath: "a.ts", newPath: "a.ts", ...numbers });
  });

  it("with the old path of a renamed file, whichever path the finding has", () => {
    const renamed = changes({ oldPath: "old.ts", newPath: "new.ts", diff });

    for (const [path, side] of [
      ["new.ts", "new"],
      ["old.ts", "old"],
      ["new.ts", "old"],
    ] as const) {
      const position = findPosition(finding({ path, side, line: 10 }), renamed);
      expect(position).toEqual({ ...refs, oldPath: "old.ts", newPath: "new.ts", oldLine: 10, newLine: 10 });
    }
  });

  it("in a new file by new numbers, and in a deleted one by old numbers", () => {
    const added = changes({ diff: "@@ -0,0 +1,2 @@\n+one\n+two\n" });
    const deleted = changes({ diff: "@@ -1,2 +0,0 @@\n-one\n-two\n" });

    expect(findPosition(finding({ line: 2 }), added)).toMatchObject({ newLine: 2 });
    expect(findPosition(finding({ line: 2 }), added)).not.toHaveProperty("oldLine");
    expect(findPosition(finding({ line: 2, side: "old" }), deleted)).toMatchObject({ oldLine: 2 });
    expect(findPosition(finding({ line: 2, side: "new" }), deleted)).toBeUndefined();
  });

  it("next to hunks that only remove or only add", () => {
    const removing = changes({ diff: "@@ -5,2 +4,0 @@\n-five\n-six\n@@ -9 +7 @@\n-nine\n+nine!\n" });

    expect(findPosition(finding({ line: 4 }), removing)).toMatchObject({ oldLine: 4, newLine: 4 });
    expect(findPosition(finding({ line: 5 }), removing)).toMatchObject({ oldLine: 7, newLine: 5 });
    expect(findPosition(finding({ line: 7 }), removing)).toMatchObject({ newLine: 7 });
  });

  it("nowhere in a file that did not change, or that GitLab does not display", () => {
    expect(findPosition(finding({ path: "b.ts" }), changes({ diff }))).toBeUndefined();
    expect(findPosition(finding({ line: 1 }), changes({ diff: "" }))).toBeUndefined();
  });
});

function finding(some: Partial<Finding>): Finding {
  return { path: "a.ts", line: 10, side: "new", severity: "info", message: "m", ...some };
}

function changes(some: Partial<FileChange>): Changes {
  return {
    refs,
    createdAt: "2026-11-15T06:00:00Z",
    files: [{ oldPath: "a.ts", newPath: "a.ts", diff: "", ...some }],
  };
}
