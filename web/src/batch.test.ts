import { describe, expect, it } from "vitest";
import type { ApprovalRow } from "../../src/console/wire.ts";
import { ApiError } from "./api.ts";
import { type BatchItem, batchCommands, performBatch } from "./batch.ts";

describe("a batch", () => {
  it("performs each item once, in order, and reports its progress", async () => {
    const performed: string[] = [];
    const progress: number[] = [];

    const refused = await performBatch(
      items("a", "b", "c"),
      async ({ key }) => performed.push(key),
      (done) => progress.push(done),
    );

    expect(refused).toEqual([]);
    expect(performed).toEqual(["key of a", "key of b", "key of c"]);
    expect(progress).toEqual([0, 1, 2]);
  });

  it.each([404, 409, 422])("continues after an item is refused with %i", async (status) => {
    const { performed, refused } = await performWith(status);

    expect(performed).toEqual(["n/a", "n/b", "n/c"]);
    expect(refused).toEqual(["n/b"]);
  });

  it.each([0, 401, 403, 429, 503])("ends with %i and returns all items that were not performed", async (status) => {
    const { performed, refused } = await performWith(status);

    expect(performed).toEqual(["n/a", "n/b"]);
    expect(refused).toEqual(["n/b", "n/c"]);
  });

  async function performWith(status: number) {
    const performed: string[] = [];
    const refused = await performBatch(
      items("a", "b", "c"),
      async ({ row }) => {
        performed.push(row.key);
        if (row.key === "n/b") throw new ApiError({ type: "about:blank", title: "", status, detail: "refused" });
      },
      () => undefined,
    );
    return { performed, refused: refused.map(({ item }) => item.row.key) };
  }
});

describe("a batch as command lines", () => {
  it("has one line for each namespace", () => {
    const rows = ["payment/a", "shop/b", "payment/c"].map((key) => ({ key, name: key.slice(-1) }) as ApprovalRow);

    expect(batchCommands("reject", rows, "not during the sale")).toEqual([
      "interlock reject a c -n payment --reason 'not during the sale'",
      "interlock reject b -n shop --reason 'not during the sale'",
    ]);
  });
});

function items(...names: readonly string[]): readonly BatchItem[] {
  return names.map((name) => ({ row: { key: `n/${name}` } as ApprovalRow, key: `key of ${name}` }));
}
