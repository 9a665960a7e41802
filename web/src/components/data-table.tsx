import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ProblemDocument } from "../../../src/console/wire.ts";
import { formatCount } from "../format.ts";
import { ProblemNotice } from "./problem-notice.tsx";
import { useWindowRows } from "./use-window-rows.ts";

export interface Column<R> {
  readonly title: string;
  readonly cell: (row: R) => ComponentChildren;
  /** Of the table's width; columns without one share the rest. */
  readonly width?: string;
  /** At phone width a row has two lines: these columns, and the others are left out. */
  readonly onPhone?: "first line" | "second line";
  readonly align?: "end";
}

/** The rows of a table, as far as they are loaded. */
export interface TableRows<R> {
  readonly rows: readonly R[];
  /** Of all rows, loaded or not; absent if it is not known. */
  readonly total?: number;
  readonly isComplete: boolean;
  /** True until the first rows are there. */
  readonly isLoading: boolean;
  readonly problem: ProblemDocument | undefined;
  /** Reads the next page, if there is one and it is not being read. */
  readonly loadMore?: () => void;
}

export interface TableRow {
  /** Unique in its table. */
  readonly key: string;
}

interface DataTableProps<R extends TableRow> {
  /** Read out by screen readers. */
  readonly caption: string;
  readonly list: TableRows<R>;
  readonly columns: readonly Column<R>[];
  /** Shown if there is no row. */
  readonly empty: ComponentChildren;
}

const phoneQuery = globalThis.matchMedia?.("(max-width: 720px)");

/** Whether the page has the width of a phone. The style sheets use the same limit. */
const isPhone = signal(phoneQuery?.matches ?? false);

phoneQuery?.addEventListener("change", ({ matches }) => {
  isPhone.value = matches;
});

const rowHeight = { desktop: 40, phone: 64 };

/** Rows that scroll with the page. Only those near the visible part are in the document, whatever their number. */
export function DataTable<R extends TableRow>({ caption, list, columns, empty }: DataTableProps<R>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const height = isPhone.value ? rowHeight.phone : rowHeight.desktop;
  const { items, before, after } = useWindowRows(list.rows.length, height, body);
  const { loadMore, isComplete } = list;
  const isNearEnd = (items.at(-1)?.index ?? 0) >= list.rows.length - 50;
  // Also after a scroll that changes neither: the page before may not have been read.
  useEffect(() => {
    if (isNearEnd && !isComplete) loadMore?.();
  });

  if (list.isLoading) return <Loading />;
  const problem = list.problem && <ProblemNotice problem={list.problem} />;
  if (list.rows.length === 0) return <>{problem ?? empty}</>;
  return (
    <>
      {problem}
      <table class="rows" aria-rowcount={list.total === undefined ? -1 : list.total + 1}>
        <caption class="visually-hidden">{caption}</caption>
        <colgroup>
          {columns.map(({ title, width }) => (
            <col key={title} style={width ? { width } : {}} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map(({ title, align }) => (
              <th key={title} scope="col" data-align={align}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {before > 0 && <Spacer height={before} span={columns.length} />}
          {items.map(({ index }) => {
            const row = list.rows[index];
            return row && <DataRow key={row.key} row={row} columns={columns} index={index} />;
          })}
          {after > 0 && <Spacer height={after} span={columns.length} />}
        </tbody>
      </table>
      <p class="table-foot muted" role="status">
        {countText(list)}
      </p>
    </>
  );
}

function countText<R>({ rows, total = Number.NaN, isComplete }: TableRows<R>): string {
  if (isComplete || rows.length >= total) return `${formatCount(Math.max(rows.length, total || 0))} in total`;
  return `${formatCount(rows.length)}${Number.isNaN(total) ? "" : ` of ${formatCount(total)}`} loaded`;
}

interface DataRowProps<R> {
  readonly row: R;
  readonly columns: readonly Column<R>[];
  readonly index: number;
}

function DataRow<R>({ row, columns, index }: DataRowProps<R>) {
  return (
    <tr aria-rowindex={index + 2}>
      {columns.map(({ title, cell, align, onPhone }) => (
        <td key={title} data-align={align} data-phone={onPhone ?? "hidden"}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

function Spacer({ height, span }: { readonly height: number; readonly span: number }) {
  return (
    <tr class="spacer">
      <td colSpan={span} style={{ height: `${height}px` }} />
    </tr>
  );
}

export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading</span>
    </div>
  );
}
