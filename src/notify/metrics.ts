import type { NotificationRequestStatus } from "../resources/index.ts";
import type { Metrics } from "../telemetry/index.ts";
import type { Delivery } from "./channel.ts";

export interface NotifyMetrics {
  countAttempt(channel: string, status: Delivery["status"]): void;
  countSettled(phase: NotificationRequestStatus["phase"]): void;
}

const channels = ["console", "file", "webhook", "slack", "mattermost", "teams", "pagerduty", "opsgenie", "email"];

export function notifyMetrics(metrics: Metrics): NotifyMetrics {
  const tries = metrics.counter("notify_deliveries_total", "Delivery attempts by channel and status.", {
    channel: channels,
    status: ["success", "failed", "timeout", "refused"],
  });
  const notices = metrics.counter("notify_notices_total", "Settled notices by phase.", {
    phase: ["Sent", "PartiallySent", "Failed", "Digested"],
  });
  return {
    countAttempt: (channel, status) => tries.with({ channel, status }).inc(),
    countSettled(phase) {
      if (phase === "Sent" || phase === "PartiallySent" || phase === "Failed" || phase === "Digested") {
        notices.with({ phase }).inc();
      }
    },
  };
}
