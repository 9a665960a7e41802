import { useState } from "preact/hooks";
import type { ApprovalRow } from "../../../src/console/wire.ts";
import { objectPath } from "../api.ts";
import { ApprovalAnswers } from "../components/approval-line.tsx";
import { Phase } from "../components/badge.tsx";
import { BatchDialog } from "../components/batch-dialog.tsx";
import type { Column } from "../components/data-table.tsx";
import type { FilterChoice } from "../components/filter-bar.tsx";
import { Link, TargetLink } from "../components/link.tsx";
import { ListPage } from "../components/list-page.tsx";
import { Countdown, Time } from "../components/time.tsx";
import { formatCount } from "../format.ts";
import { isStale } from "../live/live.ts";
import { useFilteredRows } from "../live/use-rows.ts";
import { operationTexts } from "../operations.ts";
import { mayPerform } from "../session.ts";

const choices: readonly FilterChoice[] = [
  {
    name: "phase",
    label: "Answer",
    defaultLabel: "Waiting for an answer",
    options: [
      { value: "Approved", label: "Approved" },
      { value: "Rejected", label: "Rejected" },
      { value: "Expired", label: "Expired" },
      { value: "Pending,Approved,Rejected,Expired", label: "All approvals" },
    ],
  },
];

/** The workflows that wait for an approval, and earlier answers. */
export function ApprovalsPage() {
  const list = useFilteredRows("approvals", { phase: "Pending" });
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const mayAnswer = mayPerform("approve") || mayPerform("reject");
  const open = list.rows.filter(isOpen);
  // An approval that another user answers meanwhile is no longer selected.
  const selected = open.filter(({ key }) => marked.has(key));
  const select = (rows: readonly ApprovalRow[]) => setMarked(new Set(rows.map(({ key }) => key)));
  const toggle = (row: ApprovalRow) =>
    select(marked.has(row.key) ? selected.filter(({ key }) => key !== row.key) : [...selected, row]);
  return (
    <ListPage
      title="Approvals"
      choices={choices}
      list={list}
      columns={approvalColumns(mayAnswer ? { marked, toggle } : undefined)}
      none={{ title: "No approval waits for an answer", command: "interlock get approvals" }}
    >
      {mayAnswer && open.length > 0 && <Selection open={open} selected={selected} onSelect={select} />}
    </ListPage>
  );
}

function isOpen({ decision }: ApprovalRow): boolean {
  return decision === undefined;
}

interface SelectionProps {
  readonly open: readonly ApprovalRow[];
  readonly selected: readonly ApprovalRow[];
  readonly onSelect: (rows: readonly ApprovalRow[]) => void;
}

/** Selects all loaded approvals, and answers those that are selected. */
function Selection({ open, selected, onSelect }: SelectionProps) {
  const [operation, setOperation] = useState<"approve" | "reject">();
  const isAll = selected.length === open.length;
  return (
    <div class="selection">
      <label class="check">
        <input
          type="checkbox"
          checked={isAll}
          ref={(element) => {
            if (element) element.indeterminate = selected.length > 0 && !isAll;
          }}
          onChange={() => onSelect(isAll ? [] : open)}
        />
        <span>{selected.length === 0 ? "Select all" : `${formatCount(selected.length)} selected`}</span>
      </label>
      {(["approve", "reject"] as const).filter(mayPerform).map((name) => (
        <button
          key={name}
          type="button"
          class="button small"
          data-danger={operationTexts[name].isDangerous || undefined}
          disabled={selected.length === 0 || isStale.value}
          onClick={() => setOperation(name)}
        >
          {operationTexts[name].label}…<span class="visually-hidden"> selected</span>
        </button>
      ))}
      {operation && <BatchDialog operation={operation} rows={selected} onClose={() => setOperation(undefined)} />}
    </div>
  );
}

interface Marks {
  readonly marked: ReadonlySet<string>;
  readonly toggle: (row: ApprovalRow) => void;
}

function approvalColumns(marks: Marks | undefined): readonly Column<ApprovalRow>[] {
  return [
    {
      title: "Workflow",
      width: "18%",
      onPhone: "first line",
      cell: (row) => (
        <span class="check">
          {marks && isOpen(row) && (
            <input
              type="checkbox"
              aria-label={`Select ${row.workflow} on ${row.target}`}
              checked={marks.marked.has(row.key)}
              onChange={() => marks.toggle(row)}
            />
          )}
          <WorkflowLink row={row} />
        </span>
      ),
    },
    {
      title: "Target",
      width: "18%",
      onPhone: "second line",
      cell: (row) => <TargetLink target={row.target} />,
    },
    { title: "Why", cell: (row) => <span title={row.why}>{row.why}</span> },
    {
      title: "Requested",
      width: "96px",
      onPhone: "second line",
      cell: (row) => <Time at={row.createdAt} style="relative" />,
    },
    { title: "Answer", width: "156px", onPhone: "first line", cell: (row) => <Answer row={row} /> },
    {
      title: "Actions",
      width: "190px",
      align: "end",
      cell: (row) =>
        isOpen(row) && (
          <span class="row-actions">
            <ApprovalAnswers row={row} />
          </span>
        ),
    },
  ];
}

function WorkflowLink({ row }: { readonly row: ApprovalRow }) {
  if (row.incident === undefined) return <span class="strong ellipsis">{row.workflow}</span>;
  return (
    <Link to={objectPath("incidents", row.incident)} class="strong ellipsis" isRow title="Open the incident">
      {row.workflow}
    </Link>
  );
}

function Answer({ row }: { readonly row: ApprovalRow }) {
  if (row.decision === undefined) return <Countdown until={row.requiredBy} prefix="expires in" />;
  return (
    <>
      <Phase phase={row.decision} />
      <span class="line-sub">
        {row.decidedBy} <Time at={row.decidedAt} style="relative" />
      </span>
    </>
  );
}
