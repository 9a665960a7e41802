import type { Informer } from "../../kube/index.ts";
import { type BlockReason, blockReasons, type RemediationRequest } from "../../resources/index.ts";
import type { Metrics } from "../../telemetry/index.ts";
import { type Announcement, outcomes, verdicts } from "../action.ts";

const reasons = Object.keys(blockReasons) as BlockReason[];
const openPhases = ["Pending", "Analyzing", "AwaitingApproval", "Executing", "Verifying", "Blocked"] as const;

/** Declares the orchestrator's metrics. Returns a function that counts announcements. */
export function orchestratorMetrics(
  metrics: Metrics,
  incidents: Pick<Informer<RemediationRequest>, "list">,
): (announcement: Announcement) => void {
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
  return (announcement) => {
    if (announcement.kind === "decided") {
      decisions.with({ verdict: announcement.verdict }).inc();
      if (announcement.reason) blocks.with({ reason: announcement.reason }).inc();
    }
    if (announcement.kind === "closed") closed.with({ outcome: announcement.outcome }).inc();
    if (announcement.kind === "recurred") recurrences.inc();
  };
}
