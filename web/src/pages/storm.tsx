import { useMemo } from "preact/hooks";
import type { Storm } from "../../../src/console/wire.ts";
import { withQuery } from "../api.ts";
import { Chart } from "../components/chart.tsx";
import { Loading } from "../components/data-table.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { Link } from "../components/link.tsx";
import { PageHeader, Panel } from "../components/panel.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { Time } from "../components/time.tsx";
import { formatCount, formatPeriod } from "../format.ts";
import { type FunnelStep, formatShare, funnelSteps } from "../funnel.ts";
import { usePolled } from "../live/use-live.ts";
import { location } from "../router.ts";

const windows = [
  { value: "15m", label: "15 minutes" },
  { value: "1h", label: "1 hour" },
  { value: "6h", label: "6 hours" },
  { value: "24h", label: "1 day" },
  { value: "168h", label: "7 days" },
] as const;

const defaultWindow = "1h";

/** The way from signals to runs: how many signals were absorbed at each stage, and how few runs remained. */
export function StormPage() {
  const window = location.value.query.get("window") ?? defaultWindow;
  const { value: storm, problem } = usePolled<Storm>(withQuery("/storm", { window }), 5_000);
  return (
    <>
      <PageHeader title="Storm" aside={<Windows current={window} />} />
      {problem && <ProblemNotice problem={problem} />}
      {storm ? <StormView storm={storm} /> : problem === undefined && <Loading />}
    </>
  );
}

function Windows({ current }: { readonly current: string }) {
  return (
    <nav class="segments" aria-label="Period">
      {windows.map(({ value, label }) => (
        <Link key={value} to={withQuery("/storm", { window: value })} class="segment" isCurrent={value === current}>
          {label}
        </Link>
      ))}
    </nav>
  );
}

function StormView({ storm }: { readonly storm: Storm }) {
  const { signals, incidents, runs } = storm.totals;
  if (signals + incidents + runs === 0)
    return (
      <EmptyState title="No signal arrived in this period" command="npm run demo:storm">
        The demonstration sends a storm of alerts and shows how few runs it causes.
      </EmptyState>
    );
  return (
    <>
      <Panel title="From signals to runs" aside={<span class="muted panel-meaning">{summary(storm.totals)}</span>}>
        <Funnel totals={storm.totals} />
      </Panel>
      <OverTime storm={storm} />
    </>
  );
}

function summary({ signals, runs }: Storm["totals"]): string {
  if (runs === 0) return `${formatCount(signals)} signals caused no run`;
  return `One run for every ${formatCount(Math.round(signals / runs))} signals`;
}

function Funnel({ totals }: { readonly totals: Storm["totals"] }) {
  return (
    <table class="funnel">
      <caption class="visually-hidden">Signals, incidents and runs, and what was absorbed between them</caption>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">Step</th>
          <th scope="col">Count</th>
          <th scope="col">Share</th>
          <th scope="col">Bar</th>
        </tr>
      </thead>
      <tbody>
        {funnelSteps(totals).map((step) => (
          <FunnelLine key={step.label} step={step} />
        ))}
      </tbody>
    </table>
  );
}

function FunnelLine({ step: { kind, label, meaning, tone, count, share, width } }: { readonly step: FunnelStep }) {
  return (
    <tr data-kind={kind} data-tone={tone}>
      <th scope="row">
        {label}
        <span class="funnel-meaning">{meaning}</span>
      </th>
      <td class="funnel-count">
        {kind === "absorbed" && count > 0 ? "−" : ""}
        {formatCount(count)}
      </td>
      <td class="funnel-share">{share && `${formatShare(share.value)} of ${share.of}`}</td>
      <td class="funnel-place">
        {count > 0 && <div class="funnel-bar" style={{ width: `${(width * 100).toFixed(2)}%` }} />}
      </td>
    </tr>
  );
}

const graphs = [
  { field: "signals", label: "Signals", tone: "neutral" },
  { field: "incidents", label: "Incidents", tone: "wait" },
  { field: "runs", label: "Runs", tone: "active" },
] as const;

/** One chart for each stage, with a scale of its own: one run stands beside a thousand signals. */
function OverTime({ storm }: { readonly storm: Storm }) {
  const times = useMemo(() => storm.times.map((time) => Date.parse(time)), [storm]);
  return (
    <Panel
      title="Over time"
      aside={<span class="muted">per {formatPeriod(storm.bucketSeconds).replace(/^1 /, "")}</span>}
    >
      <div class="panel-body">
        {graphs.map(({ field, label, tone }) => (
          <figure key={field} class="graph" data-tone={tone}>
            <figcaption class="graph-title">{label}</figcaption>
            <Chart label={`${label} over time`} tone={tone} times={times} values={storm[field]} height={110} />
          </figure>
        ))}
        <details class="numbers">
          <summary>The same as numbers</summary>
          <Numbers storm={storm} />
        </details>
      </div>
    </Panel>
  );
}

/** The steps in which something happened, newest first. */
function Numbers({ storm: { times, signals, incidents, runs } }: { readonly storm: Storm }) {
  const steps = times
    .map((time, index) => ({ time, counts: [signals[index] ?? 0, incidents[index] ?? 0, runs[index] ?? 0] }))
    .filter(({ counts }) => counts.some((count) => count > 0))
    .reverse();
  return (
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">From</th>
          {graphs.map(({ label }) => (
            <th key={label} scope="col" data-align="end">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {steps.map(({ time, counts }) => (
          <tr key={time}>
            <th scope="row">
              <Time at={time} />
            </th>
            {graphs.map(({ label }, index) => (
              <td key={label} data-align="end" class="number">
                {formatCount(counts[index] ?? 0)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
