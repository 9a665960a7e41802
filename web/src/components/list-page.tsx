import type { ComponentChildren } from "preact";
import { location } from "../router.ts";
import { type Column, DataTable, type TableRow, type TableRows } from "./data-table.tsx";
import { EmptyState } from "./empty-state.tsx";
import { FilterBar, type FilterChoice } from "./filter-bar.tsx";
import { Link } from "./link.tsx";
import { PageHeader } from "./panel.tsx";

interface ListPageProps<R extends TableRow> {
  readonly title: string;
  /** Beside the title. */
  readonly aside?: ComponentChildren;
  readonly choices?: readonly FilterChoice[];
  /** Read out by screen readers. */
  readonly caption?: string;
  readonly list: TableRows<R>;
  readonly columns: readonly Column<R>[];
  readonly none: NoRows;
  /** Between the filters and the table. */
  readonly children?: ComponentChildren;
}

/** The content of a list without rows. */
interface NoRows {
  readonly title: string;
  /** The next command, to be copied. */
  readonly command: string;
  readonly hint?: string;
}

/** A page with a filtered list. The filters are in the URL. */
export function ListPage<R extends TableRow>(props: ListPageProps<R>) {
  const { title, aside, choices, caption = `${title}, newest first`, list, columns, none, children } = props;
  return (
    <>
      <PageHeader title={title} aside={aside} />
      <FilterBar {...(choices && { choices })} />
      {children}
      <DataTable caption={caption} list={list} columns={columns} empty={<EmptyList {...none} />} />
    </>
  );
}

/** With a filter there may be other rows. */
export function EmptyList({ title, command, hint }: NoRows) {
  const { path, query } = location.value;
  if (query.toString() === "")
    return (
      <EmptyState title={title} command={command}>
        {hint}
      </EmptyState>
    );
  return (
    <EmptyState title="Nothing matches the filter">
      <Link to={path}>Clear the filter</Link>
    </EmptyState>
  );
}
