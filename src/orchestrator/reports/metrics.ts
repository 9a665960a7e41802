import type { Informer } from "../../kube/index.ts";
import { type BlockReason, blockReasons, type RemediationRequest } from "../../resources/index.ts";
import type { Metrics } from "../../telemetry/index.ts";
import { type Announcement, outcomes, verdicts } from "../action.ts";

/** Counts announcements. */
export interface OrchestratorMetrics {
  count(what: Announcement): void;
}

const reasons = Object.keys(blockReasons) as BlockReason[];
const openPhases = ["Pending", "Analyzing", "AwaitingApproval", "Executing", "Verifying", "Blocked"] as const;

/** Declares the orchestrator's metrics. */
export function orchestratorMetrics(
  metrics: Metrics,
  incidents: Pick<Informer<RemediationRequest>, "list">,
): OrchestratorMetrics {
  metrics.gauge(
    "ro_open_incidents",
    "Incidents that are not closed, by phase.",
    ({ phase }) => incidents.list().filter(({ status }) => (status?.phase ?? "Pending") === phase).length,
    { phase: openPhases },
  );
  metrics.gauge(
    "ro_blocked_incidents",
    "Incidents that wait now, by the check that blocked them.",
    ({ reason }) =>
      incidents.list().filter(({ status }) => status?.phase === "Blocked" && status.block?.reason === reason).length,
    { reason: reasons },
  );
  const decisions = metrics.counter("ro_decisions_total", "Decisions about incidents.", { verdict: verdicts });
  const blocks = metrics.counter(
    "ro_blocks_total",
    "Decisions that an incident has to wait, by the check that blocked it.",
    { reason: reasons },
  );
  const closed = metrics.counter("ro_incidents_closed_total", "Incidents that were closed, by how they ended.", {
    outcome: outcomes,
  });
  const recurrences = metrics.counter(
    "ro_recurrences_total",
    "Incidents that were reported again after a run that succeeded.",
  );
  return {
    count(what) {
      switch (what.kind) {
        case "decided":
          decisions.with({ verdict: what.verdict }).inc();
          if (what.reason) blocks.with({ reason: what.reason }).inc();
          return;
        case "closed":
          return closed.with({ outcome: what.outcome }).inc();
        case "recurred":
          return recurrences.inc();
        case "diagnosed":
        case "again":
        case "verifying":
        case "acknowledged":
        case "deleted":
          return;
      }
    },
  };
}
