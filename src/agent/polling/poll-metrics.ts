import type { Metrics } from "../../telemetry/index.ts";

const sources = ["gitlab", "jira"] as const;
type Source = (typeof sources)[number];

export interface PollMetrics {
  polled(source: Source): void;
  failed(source: Source): void;
}

export function pollMetrics(metrics: Metrics): PollMetrics {
  const polls = metrics.counter({
    name: "agent_polls_total",
    help: "Polls of a project by outcome.",
    labels: { source: sources, outcome: ["polled", "failed"] },
  });
  return {
    polled: (source) => polls.with({ source, outcome: "polled" }).inc(),
    failed: (source) => polls.with({ source, outcome: "failed" }).inc(),
  };
}
