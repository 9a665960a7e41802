/** An alert. All texts are fixed, so that they can be compared in tests. */
export interface Alert {
  readonly name: string;
  /** PromQL. */
  readonly when: string;
  /** How long the condition must last. */
  readonly for: string;
  readonly severity: "warning" | "critical";
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
  /** The heading in docs/operations.md that describes the action. */
  readonly runbook: string;
}

/** Stages that acquire a lock for each piece of work. Notify is not one: its replicas wait for the lock of the leader. */
const locking = { gateway: "gateway", orchestrator: "ro" } as const;

/** Reasons that need an acknowledgement; all other blocks clear by themselves, or when rules change. */
const needsAck = ["PreviousExecutionFailed", "ExhaustedRetries", "Ineffective"];

/** The alerts that page an operator. */
export const alerts: readonly Alert[] = [
  ...Object.entries(locking).flatMap(([stage, prefix]) => lockAlerts(stage, prefix)),
  // Agents wait for each other by design: tasks of one branch run one after the other, and one process polls.
  locksFail("agent", "agent", ["contention", "aborted", "timeout"]),
  {
    name: "InterlockAckRequired",
    when: `max by (reason) (ro_blocked_incidents{reason=~"${needsAck.join("|")}"}) > 0`,
    for: "5m",
    severity: "warning",
    summary: "Incidents are blocked until an operator acknowledges a failure.",
    runbook: "blocked-until-an-operator-acknowledges",
  },
  {
    name: "InterlockNoMatchingRule",
    when: 'max(ro_blocked_incidents{reason="NoMatchingRule"}) > 0',
    for: "15m",
    severity: "warning",
    summary: "Open incidents match no rule, or a rule that cannot be executed.",
    runbook: "no-rule-applies",
  },
  {
    name: "InterlockApprovalWaits",
    when: 'max(ro_open_incidents{phase="AwaitingApproval"}) > 0',
    for: "15m",
    severity: "warning",
    summary: "An incident waits for an operator to approve or reject a workflow.",
    runbook: "blocked-until-an-operator-acknowledges",
  },
  {
    name: "InterlockExecutionStuck",
    when: 'max(workflowexecution_oldest_seconds{phase="Pending"}) > 300 or max(workflowexecution_oldest_seconds{phase="Running"}) > 3600',
    for: "5m",
    severity: "critical",
    summary: "An execution has been Pending for 5 minutes or Running for an hour.",
    runbook: "a-run-is-stuck",
  },
  {
    name: "InterlockWorkStalled",
    when: ["executor", "ro", "gateway", "notify", "agent"]
      .map((prefix) => `max by (reason) (${prefix}_stalled_objects) > 0`)
      .join(" or "),
    for: "5m",
    severity: "warning",
    summary: "Writes have failed for 5 minutes: webhook, quota, permission or API server.",
    runbook: "work-is-stalled",
  },
  {
    name: "InterlockSignalsRejected",
    when: 'sum(increase(gateway_signals_total{outcome="unavailable"}[5m])) > 0',
    for: "5m",
    severity: "critical",
    summary: "The gateway responds with 503: signals are not accepted, and senders must retry.",
    runbook: "the-api-server-is-unavailable",
  },
  {
    name: "InterlockSignalsForbidden",
    when: 'sum(increase(gateway_signals_total{outcome="forbidden"}[15m])) > 0',
    for: "0m",
    severity: "warning",
    summary: "Signals open no incidents, because the gateway lacks permission to read their subjects.",
    runbook: "the-gateway-may-not-read-an-object",
  },
  {
    name: "InterlockIncidentsLimited",
    when: 'sum(increase(gateway_signals_total{outcome="limited"}[5m])) > 0',
    for: "5m",
    severity: "critical",
    summary: "Too many incidents are open: new problems open no incidents until some are closed.",
    runbook: "too-many-incidents-are-open",
  },
  {
    name: "InterlockLedgerLags",
    when: "max(ledger_database_lag_seconds) > 300",
    for: "5m",
    severity: "warning",
    summary:
      "Events have waited in a journal for 5 minutes, because the ledger's database rejects them or is unavailable.",
    runbook: "postgresql-is-unavailable-or-frozen",
  },
  {
    name: "InterlockLedgerAppendFails",
    when: 'sum(increase(ledger_append_failures_total{reason=~"full|failed"}[5m])) > 0',
    for: "0m",
    severity: "critical",
    summary: "A journal rejects events; stages stop acting.",
    runbook: "a-disk-is-full",
  },
  {
    name: "InterlockNoticesUndelivered",
    when:
      'sum by (channel) (increase(notify_deliveries_total{status!="success"}[30m])) > 0 ' +
      'unless sum by (channel) (increase(notify_deliveries_total{status="success"}[30m])) > 0',
    for: "15m",
    severity: "warning",
    summary: "A channel rejects every delivery attempt.",
    runbook: "notifications-fail",
  },
  {
    name: "InterlockNoticesGivenUp",
    when: 'sum(increase(notify_notices_total{phase=~"Failed|PartiallySent"}[1h])) > 0',
    for: "0m",
    severity: "warning",
    summary: "Notifications were given up; at least one recipient was not notified.",
    runbook: "notifications-fail",
  },
  {
    name: "InterlockNotifyNotRunning",
    when: "(sum(notify_locks_held) or vector(0)) == 0",
    for: "5m",
    severity: "warning",
    summary: "No process delivers notices.",
    runbook: "notifications-fail",
  },
  {
    name: "InterlockTasksFail",
    when: `${endedTasks("Failed")} > 2 and ${endedTasks("Failed")} > ${endedTasks("Completed")}`,
    for: "5m",
    severity: "warning",
    summary: "More coding tasks failed than were completed in the last hour.",
    runbook: "coding-tasks-fail",
  },
  {
    name: "InterlockTasksWait",
    when: 'max(agent_oldest_task_seconds{phase=~"Pending|Waiting"}) > 1800',
    for: "5m",
    severity: "warning",
    summary: "A coding task has waited for half an hour.",
    runbook: "coding-tasks-wait",
  },
  {
    name: "InterlockPollingLags",
    when: "max(agent_watermark_lag_seconds) > 900",
    for: "5m",
    severity: "warning",
    summary: "Polling of a GitLab project is more than 15 minutes behind.",
    runbook: "gitlab-or-jira-is-unavailable",
  },
  {
    name: "InterlockPollingFails",
    when:
      'sum by (source) (increase(agent_polls_total{outcome="failed"}[15m])) > 0 ' +
      'unless sum by (source) (increase(agent_polls_total{outcome="polled"}[15m])) > 0',
    for: "5m",
    severity: "critical",
    summary: "Every poll of GitLab, or of Jira, has failed for 15 minutes.",
    runbook: "gitlab-or-jira-is-unavailable",
  },
];

/** The number of tasks that ended in the last hour, reviews included. */
function endedTasks(outcome: "Failed" | "Completed"): string {
  const ended = (metric: string) => `sum(increase(${metric}{outcome="${outcome}"}[1h]))`;
  return `(${ended("reviews_total")} + ${ended("coding_tasks_total")})`;
}

/** `expected`: the reasons that are not failures of the locks. */
function locksFail(stage: string, prefix: string, expected: readonly string[]): Alert {
  const rate = (metric: string) => `sum(rate(${prefix}_lock_acquisition_${metric}[5m]))`;
  const granted = rate("successes_total");
  const refused = rate(`failures_total{reason!~"${expected.join("|")}"}`);
  return {
    name: "InterlockLocksFail",
    when: `${granted} / (${granted} + ${refused}) < 0.999`,
    for: "5m",
    labels: { stage },
    severity: "critical",
    summary: "Less than 99.9 % of lock requests are granted; requests that met another holder are not counted.",
    runbook: "locks-fail-or-are-slow",
  };
}

function lockAlerts(stage: string, prefix: string): readonly Alert[] {
  const rate = (metric: string) => `sum(rate(${prefix}_lock_${metric}[5m]))`;
  const buckets = `sum by (le) (rate(${prefix}_lock_acquisition_duration_seconds_bucket[5m]))`;
  const common = { for: "5m", labels: { stage }, severity: "warning" } as const;
  return [
    locksFail(stage, prefix, ["contention", "aborted"]),
    {
      ...common,
      name: "InterlockLocksContended",
      when: `${rate("contentions_total")} / ${rate("acquisition_attempts_total")} > 0.05`,
      summary: "More than 5 % of lock requests meet another holder.",
      runbook: "locks-are-contended",
    },
    {
      ...common,
      name: "InterlockLocksSlow",
      when: `histogram_quantile(0.95, ${buckets}) > 0.02`,
      summary: "The 95th percentile of lock acquisition exceeds 20 ms.",
      runbook: "locks-fail-or-are-slow",
    },
  ];
}

/** The alerts as a rule file for Prometheus. */
export function prometheusRules() {
  const rules = alerts.map((alert) => ({
    alert: alert.name,
    expr: alert.when,
    for: alert.for,
    labels: { severity: alert.severity, ...alert.labels },
    annotations: { summary: alert.summary, runbook: `docs/operations.md#${alert.runbook}` },
  }));
  return { groups: [{ name: "interlock", rules }] };
}
