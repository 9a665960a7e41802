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
  metrics.gauge({
    name: "ro_open_incidents",
    help: "Incidents that are not closed, by phase.",
    labels: { phase: openPhases },
    collect(gauge) {
      const all = incidents.list();
      for (const phase of openPhases) {
        gauge.with({ phase }).set(all.filter(({ status }) => (status?.phase ?? "Pending") === phase).length);
      }
    },
  });
  metrics.gauge({
    name: "ro_blocked_incidents",
    help: "Incidents that wait now, by the check that said no.",
    labels: { reason: reasons },
    collect(gauge) {
      const waiting = incidents
        .list()
        .map(({ status }) => (status?.phase === "Blocked" ? status.block?.reason : undefined));
      for (const reason of reasons) gauge.with({ reason }).set(waiting.filter((one) => one === reason).length);
    },
  });
  const decisions = metrics.counter({
    name: "ro_decisions_total",
    help: "Decisions about incidents.",
    labels: { verdict: verdicts },
  });
  const blocks = metrics.counter({
    name: "ro_blocks_total",
    help: "Decisions that an incident has to wait, by the check that said no.",
    labels: { reason: reasons },
  });
  const closed = metrics.counter({
    name: "ro_incidents_closed_total",
    help: "Incidents that were closed, by how they ended.",
    labels: { outcome: outcomes },
  });
  const recurrences = metrics.counter({
    name: "ro_recurrences_total",
    help: "Incidents that were reported again after a run that succeeded.",
  });
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
