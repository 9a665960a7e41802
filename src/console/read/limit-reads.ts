import { type RowKind, type RowPage, rowKinds } from "../wire.ts";
import type { ReadContext } from "./read-context.ts";

/**
 * The context of a caller who may list only these kinds. The console reads rows and the ledger with its own rights, so rows of other
 * kinds are left out here, and the ledger, which is about all kinds, is for callers who may list all of them.
 */
export function limitReads(context: ReadContext, readableKinds: readonly RowKind[]): ReadContext {
  if (rowKinds.every((kind) => readableKinds.includes(kind))) return context;
  const { projection } = context;
  return {
    ...context,
    projection: {
      row: (kind, key) => projection.row(kind, key),
      page: async (kind, request) => (readableKinds.includes(kind) ? projection.page(kind, request) : noRows),
    },
    readEvents: async () => undefined,
    openLedger: async () => undefined,
  };
}

const noRows: RowPage = { version: "", total: 0, rows: [] };
