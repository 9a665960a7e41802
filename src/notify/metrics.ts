import type { Metrics } from "../telemetry/index.ts";

const channels = ["console", "file", "webhook", "slack", "mattermost", "teams", "pagerduty", "opsgenie", "email"];

/** Declares the notifier's metrics. */
export function notifyMetrics(metrics: Metrics) {
  return {
    deliveries: metrics.counter("notify_deliveries_total", "Delivery attempts by channel and status.", {
      channel: channels,
      status: ["success", "failed", "timeout", "refused"],
    }),
    notices: metrics.counter("notify_notices_total", "Settled notices by phase.", {
      phase: ["Sent", "PartiallySent", "Failed", "Digested"],
    }),
  };
}
