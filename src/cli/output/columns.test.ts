import { expect, it } from "vitest";
import { columnLines, tableWidth } from "./columns.ts";

it("a table may have more rows than a call may have arguments", () => {
  const rows = Array.from({ length: 200_000 }, (_, i) => [`row-${i}`, "x"]);

  expect(columnLines(["Name", "X"], rows)).toHaveLength(200_001);
  expect(tableWidth(rows)).toBe("row-199999".length + 3 + 1);
});
