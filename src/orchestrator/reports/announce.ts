import type { RemediationRequest } from "../../resources/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Announcement } from "../action.ts";
import type { OrchestratorMetrics } from "./metrics.ts";

/** Updates log and metrics. Never throws, and nothing waits for it. */
export type Announce = (what: Announcement, incident: RemediationRequest) => void;

export function announcer({ log, metrics }: { readonly log: Logger; readonly metrics: OrchestratorMetrics }): Announce {
  return (what, incident) => {
    metrics.count(what);
    writeLog(log, what, incident);
  };
}

function writeLog(log: Logger, what: Announcement, { metadata, spec, status }: RemediationRequest) {
  const { target, workflowId } = status?.diagnosis ?? {};
  const fields = {
    incident: `${metadata.namespace}/${metadata.name}`,
    signalName: spec.signalName,
    targetResource: target,
    workflowId,
  };
  switch (what.kind) {
    case "diagnosed":
      return log.info("incident diagnosed", { ...fields, rule: what.rule });
    case "decided":
      return log.info("incident decided", {
        ...fields,
        verdict: what.verdict,
        reason: what.reason,
        message: what.message,
      });
    case "again":
      return log.info("incident decided again", { ...fields, because: what.because });
    case "recurred":
      return log.warn("incident came back", fields);
    case "verifying":
      return log.info("incident verifying", fields);
    case "acknowledged":
      return log.info("incident acknowledged", { ...fields, by: what.by });
    case "closed":
      return log.info("incident closed", { ...fields, outcome: what.outcome, message: what.message });
    case "deleted":
      return log.info("incident deleted", fields);
  }
}
