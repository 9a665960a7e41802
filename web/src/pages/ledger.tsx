import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { type LedgerChains, ledgerEventTypes } from "../../../src/console/wire.ts";
import { withQuery } from "../api.ts";
import { Badge } from "../components/badge.tsx";
import { type Column, DataTable } from "../components/data-table.tsx";
import { FilterBar, type FilterChoice } from "../components/filter-bar.tsx";
import { Link } from "../components/link.tsx";
import { EmptyList } from "../components/list-page.tsx";
import { Modal } from "../components/modal.tsx";
import { PageHeader, Panel } from "../components/panel.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { Sentence, Time } from "../components/time.tsx";
import { formatCount, shortNames } from "../format.ts";
import { aboutText, chainTone, factText, type LedgerRow, orderFacts } from "../ledger.ts";
import { type LedgerFilter, useLedger } from "../live/use-ledger.ts";
import { usePolled } from "../live/use-live.ts";
import { location } from "../router.ts";

const choices: readonly FilterChoice[] = [
  { name: "type", label: "Type", options: ledgerEventTypes.map((type) => ({ value: type, label: type })) },
];

/** All decisions and actions, and whether the record is intact. */
export function LedgerPage() {
  const list = useLedger(ledgerFilter(location.value.query));
  const [shown, setShown] = useState<LedgerRow>();
  return (
    <>
      <PageHeader title="Ledger" />
      <Chains />
      <FilterBar choices={choices} />
      <DataTable
        caption="Events, newest first"
        list={list}
        columns={eventColumns(setShown)}
        empty={<EmptyList title="There is no event" command="interlock ledger show --since 24h" />}
      />
      {shown && <EventDialog event={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

function ledgerFilter(query: URLSearchParams): LedgerFilter {
  const names = ["search", "type", "target", "incident", "execution"] as const;
  return Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])));
}

function eventColumns(show: (event: LedgerRow) => void): readonly Column<LedgerRow>[] {
  return [
    {
      title: "Type",
      width: "200px",
      onPhone: "first line",
      cell: (event) => (
        <button type="button" class="link-button mono" data-row onClick={() => show(event)}>
          {event.type}
        </button>
      ),
    },
    { title: "Time", width: "150px", onPhone: "first line", cell: ({ at }) => <Time at={at} /> },
    { title: "About", width: "24%", cell: (event) => <About event={event} /> },
    {
      title: "Event",
      onPhone: "second line",
      cell: ({ summary }) => (
        <span title={summary}>
          <Sentence text={summary} />
        </span>
      ),
    },
  ];
}

/** The object that an event is about. */
function About({ event: { facts } }: { readonly event: LedgerRow }) {
  const about = aboutText(facts);
  return (
    <span class="mono" title={about}>
      {shortNames(about)}
    </span>
  );
}

/** The server reads the whole ledger to verify it. */
const verifyMs = 300_000;

/** Whether each writer's chain is complete and unchanged. */
function Chains() {
  const { value, problem } = usePolled<LedgerChains>("/ledger/chains", verifyMs);
  if (problem) return <ProblemNotice problem={problem} />;
  if (!value || value.chains.length === 0) return null;
  const { chains } = value;
  const rows = chains.reduce((sum, chain) => sum + chain.rows, 0);
  return (
    <Panel
      title="Chains"
      aside={
        <span class="muted">
          {formatCount(rows)} rows of {formatCount(chains.length)} {chains.length === 1 ? "writer" : "writers"}
        </span>
      }
    >
      <table class="cards flat">
        <caption class="visually-hidden">The chain of each writer</caption>
        <thead>
          <tr>
            <th scope="col">Writer</th>
            <th scope="col">State</th>
            <th scope="col" data-align="end">
              Rows
            </th>
            <th scope="col">Head</th>
          </tr>
        </thead>
        <tbody>
          {chains.map(({ writer, state, rows: count, head }) => (
            <tr key={writer}>
              <th scope="row" class="mono">
                {writer}
              </th>
              <td class="cards-wide">
                <Badge tone={chainTone(state)} text={state} />
              </td>
              <td data-align="end" class="number">
                {formatCount(count)}
              </td>
              <td class="mono muted" title={head}>
                {head.slice(0, 16)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

/** The facts that name an object, and the filter for all events about it. */
const subjects = [
  { fact: "target_resource", filter: "target", label: "this target" },
  { fact: "remediation_id", filter: "incident", label: "this incident" },
  { fact: "execution_id", filter: "execution", label: "this execution" },
] as const;

function EventDialog({ event, onClose }: { readonly event: LedgerRow; readonly onClose: () => void }) {
  const { id, at, type, summary, facts } = event;
  return (
    <Modal title={type} onClose={onClose}>
      <p>
        <Sentence text={summary} />
      </p>
      <dl class="event-facts">
        <dt>Time</dt>
        <dd>
          <Time at={at} />
        </dd>
        <dt>Id</dt>
        <dd class="mono">{id}</dd>
        {orderFacts(facts).map(([name, fact]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>
              <pre>{factText(fact)}</pre>
            </dd>
          </Fragment>
        ))}
      </dl>
      <footer class="modal-footer">
        {subjects.map(({ fact, filter, label }) => {
          const value = facts[fact];
          return (
            typeof value === "string" && (
              <Link key={filter} to={withQuery("/ledger", { [filter]: value })} class="button" onOpen={onClose}>
                All about {label}
              </Link>
            )
          );
        })}
      </footer>
    </Modal>
  );
}
