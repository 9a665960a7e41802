interface Panel {
  readonly title: string;
  readonly unit: "short" | "s" | "ops" | "percentunit" | "bytes";
  /** PromQL by legend. A legend may contain `{{label}}`. */
  readonly lines: Readonly<Record<string, string>>;
}

const stages = { gateway: "gateway", orchestrator: "ro", notify: "notify", agent: "agent" } as const;

/** The panels for on-call engineers, from incoming signals to outgoing notices. */
export const panels: readonly Panel[] = [
  {
    title: "Signals by outcome",
    unit: "ops",
    lines: { "{{outcome}}": "sum by (outcome) (rate(gateway_signals_total[5m]))" },
  },
  {
    title: "Open incidents by phase",
    unit: "short",
    lines: { "{{phase}}": "max by (phase) (ro_open_incidents)" },
  },
  {
    title: "Blocked incidents by reason",
    unit: "short",
    lines: { "{{reason}}": "max by (reason) (ro_blocked_incidents)" },
  },
  {
    title: "Incidents closed in an hour, by outcome",
    unit: "short",
    lines: { "{{outcome}}": "sum by (outcome) (increase(ro_incidents_closed_total[1h]))" },
  },
  {
    title: "Executions by phase reached",
    unit: "ops",
    lines: { "{{phase}}": "sum by (phase) (rate(workflowexecution_transitions_total[5m]))" },
  },
  {
    title: "Skips by reason",
    unit: "ops",
    lines: { "{{reason}}": "sum by (reason) (rate(workflowexecution_backoff_skip_total[5m]))" },
  },
  {
    title: "Failures in an hour, by reason",
    unit: "short",
    lines: { "{{reason}}": "sum by (reason) (increase(workflowexecution_failures_total[1h])) > 0" },
  },
  {
    title: "Oldest execution",
    unit: "s",
    lines: { "{{phase}}": "max by (phase) (workflowexecution_oldest_seconds)" },
  },
  {
    title: "Lock acquisition, 95th percentile",
    unit: "s",
    lines: perStage(
      (prefix) =>
        `histogram_quantile(0.95, sum by (le) (rate(${prefix}_lock_acquisition_duration_seconds_bucket[5m])))`,
    ),
  },
  {
    title: "Locks that met another holder",
    unit: "percentunit",
    lines: perStage(
      (prefix) =>
        `sum(rate(${prefix}_lock_contentions_total[5m])) / sum(rate(${prefix}_lock_acquisition_attempts_total[5m]))`,
    ),
  },
  {
    title: "Locks lost, and refused by the backend",
    unit: "ops",
    lines: {
      ...perStage((prefix) => `sum(rate(${prefix}_locks_lost_total[5m]))`, " lost"),
      ...perStage(
        (prefix) => `sum(rate(${prefix}_lock_acquisition_failures_total{reason="api_error"}[5m]))`,
        " refused",
      ),
    },
  },
  {
    title: "Ledger: age of the oldest event not yet in the database",
    unit: "s",
    lines: { lag: "max(ledger_database_lag_seconds)" },
  },
  {
    title: "Ledger: journals on disk",
    unit: "bytes",
    lines: { largest: "max(ledger_journal_bytes)" },
  },
  {
    title: "Ledger: events appended and rejected",
    unit: "ops",
    lines: {
      kept: "sum(rate(ledger_events_total[5m]))",
      "{{reason}}": "sum by (reason) (rate(ledger_append_failures_total[5m])) > 0",
    },
  },
  {
    title: "Notices: attempts by channel",
    unit: "ops",
    lines: { "{{channel}} {{status}}": "sum by (channel, status) (rate(notify_deliveries_total[5m])) > 0" },
  },
  {
    title: "Coding tasks by phase",
    unit: "short",
    lines: { "{{phase}}": "max by (phase) (agent_open_tasks)" },
  },
  {
    title: "Coding tasks ended in an hour, by outcome",
    unit: "short",
    lines: {
      "review {{outcome}}": "sum by (outcome) (increase(reviews_total[1h])) > 0",
      "{{type}} {{outcome}}": "sum by (type, outcome) (increase(coding_tasks_total[1h])) > 0",
    },
  },
  {
    title: "Oldest coding task",
    unit: "s",
    lines: { "{{phase}}": "max by (phase) (agent_oldest_task_seconds)" },
  },
  {
    title: "Polls of GitLab and Jira",
    unit: "ops",
    lines: { "{{source}} {{outcome}}": "sum by (source, outcome) (rate(agent_polls_total[5m]))" },
  },
  {
    title: "GitLab: polling lag",
    unit: "s",
    lines: { lag: "max(agent_watermark_lag_seconds)" },
  },
];

function perStage(query: (prefix: string) => string, suffix = ""): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(stages).map(([stage, prefix]) => [stage + suffix, query(prefix)]));
}

const [width, height, perRow] = [8, 8, 3];

/** A dashboard to import into Grafana, with a variable for the Prometheus data source. */
export function grafanaDashboard(): object {
  const datasource = { type: "prometheus", uid: "$datasource" };
  return {
    title: "Interlock",
    uid: "interlock",
    schemaVersion: 39,
    time: { from: "now-6h", to: "now" },
    refresh: "30s",
    templating: { list: [{ name: "datasource", type: "datasource", query: "prometheus" }] },
    panels: panels.map(({ title, unit, lines }, i) => ({
      id: i + 1,
      type: "timeseries",
      title,
      datasource,
      gridPos: { x: (i % perRow) * width, y: Math.floor(i / perRow) * height, w: width, h: height },
      fieldConfig: { defaults: { unit }, overrides: [] },
      targets: Object.entries(lines).map(([legendFormat, expr], j) => ({
        refId: String.fromCharCode(65 + j),
        datasource,
        expr,
        legendFormat,
      })),
    })),
  };
}
