import type { Metrics } from "../telemetry/index.ts";
import { type Admission, admissionKinds } from "./admission.ts";

/** Counts what the gateway does. */
export interface GatewayMetrics {
  admitted(source: string, outcome: Admission["kind"] | "limited" | "unavailable", signals?: number): void;
  /** Reads the number of open incidents whenever the metrics are read. */
  openIncidents(count: () => number): void;
  truncated(alerts: number): void;
  written(occurrences: number): void;
  rejected(reason: RejectReason): void;
  answered(status: number, seconds: number): void;
}

const rejected = ["no-token", "unknown-token", "not-allowed", "too-many", "too-large"] as const;
export type RejectReason = (typeof rejected)[number];

const sources = [
  "alertmanager",
  "grafana",
  "pagerduty",
  "datadog",
  "cloudevents",
  "generic",
  "kubernetes-events",
  "kubernetes-nodes",
  "other",
] as const;
const statuses = ["2xx", "4xx", "5xx"] as const;

export function gatewayMetrics(metrics: Metrics): GatewayMetrics {
  const signals = metrics.counter({
    name: "gateway_signals_total",
    help: "Signals by outcome.",
    labels: { source: sources, outcome: [...admissionKinds, "limited", "unavailable"] },
  });
  const truncated = metrics.counter({
    name: "gateway_truncated_alerts_total",
    help: "Alerts that Alertmanager left out of its batches.",
  });
  const occurrences = metrics.counter({
    name: "gateway_occurrences_written_total",
    help: "Signals whose count was written to an incident's status.",
  });
  const writes = metrics.counter({
    name: "gateway_occurrence_writes_total",
    help: "Status writes that record counts; one write covers many signals.",
  });
  const away = metrics.counter({
    name: "gateway_requests_turned_away_total",
    help: "Requests rejected without processing, by reason.",
    labels: { reason: rejected },
  });
  const duration = metrics.histogram({
    name: "gateway_http_request_duration_seconds",
    help: "Time from request to response.",
    labels: { status: statuses },
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
  });
  const isSource = (source: string): source is (typeof sources)[number] =>
    (sources as readonly string[]).includes(source);
  return {
    admitted: (source, outcome, count = 1) =>
      signals.with({ source: isSource(source) ? source : "other", outcome }).inc(count),
    openIncidents(count) {
      metrics.gauge({
        name: "gateway_open_incidents",
        help: "Open incidents, as cached by this gateway. Limited by gateway.maxOpenIncidents.",
        collect: (gauge) => gauge.set(count()),
      });
    },
    truncated: (alerts) => truncated.inc(alerts),
    written(count) {
      writes.inc();
      occurrences.inc(count);
    },
    rejected: (reason) => away.with({ reason }).inc(),
    answered(status, seconds) {
      const family = status >= 500 ? "5xx" : status >= 400 ? "4xx" : "2xx";
      duration.with({ status: family }).observe(seconds);
    },
  };
}
