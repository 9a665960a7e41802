import type { RemediationTarget } from "../../resources/index.ts";
import type { TargetRow } from "../wire.ts";
import { fitRow } from "./fit-row.ts";
import { field, rowBase, rowKey } from "./row-base.ts";

export function toTargetRow(record: RemediationTarget): TargetRow {
  const holder = record.status?.holder;
  return fitRow({
    kind: "targets",
    ...rowBase(record),
    target: record.spec.targetResource,
    ...field("holder", holder && rowKey({ namespace: holder.executionNamespace, name: holder.executionName })),
    ...field("fence", holder && record.metadata.resourceVersion),
    ...field("heldSince", holder?.since),
    waiting: 0,
  });
}
