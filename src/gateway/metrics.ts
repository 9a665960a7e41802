import type { Metrics } from "../telemetry/index.ts";
import { type Admission, admissionKinds } from "./admission.ts";

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

/** The metrics of a gateway. */
export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;

export function gatewayMetrics(metrics: Metrics) {
  const signals = metrics.counter("gateway_signals_total", "Signals by outcome.", {
    source: sources,
    outcome: [...admissionKinds, "limited", "unavailable"],
  });
  const truncated = metrics.counter(
    "gateway_truncated_alerts_total",
    "Alerts that Alertmanager left out of its batches.",
  );
  const occurrences = metrics.counter(
    "gateway_occurrences_written_total",
    "Signals whose count was written to an incident's status.",
  );
  const writes = metrics.counter(
    "gateway_occurrence_writes_total",
    "Status writes that record counts; one write covers many signals.",
  );
  const rejections = metrics.counter(
    "gateway_requests_turned_away_total",
    "Requests rejected without processing, by reason.",
    { reason: rejected },
  );
  const duration = metrics.histogram(
    "gateway_http_request_duration_seconds",
    "Time from request to response.",
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5],
    { status: statuses },
  );
  const isSource = (source: string): source is (typeof sources)[number] =>
    (sources as readonly string[]).includes(source);
  return {
    admitted(source: string, outcome: Admission["kind"] | "limited" | "unavailable", count = 1) {
      signals.with({ source: isSource(source) ? source : "other", outcome }).inc(count);
    },
    /** Calls `count` whenever the metrics are read. */
    openIncidents(count: () => number) {
      metrics.gauge(
        "gateway_open_incidents",
        "Open incidents, as cached by this gateway. Limited by gateway.maxOpenIncidents.",
        count,
      );
    },
    truncated: (alerts: number) => truncated.inc(alerts),
    written(count: number) {
      writes.inc();
      occurrences.inc(count);
    },
    rejected: (reason: RejectReason) => rejections.with({ reason }).inc(),
    responded(status: number, seconds: number) {
      const family = status >= 500 ? "5xx" : status >= 400 ? "4xx" : "2xx";
      duration.with({ status: family }).observe(seconds);
    },
  };
}
