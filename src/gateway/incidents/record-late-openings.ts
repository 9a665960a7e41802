import type { Informer } from "../../kube/index.ts";
import { managedBy, type RemediationRequest } from "../../resources/index.ts";
import type { WarnLimited } from "../../telemetry/index.ts";
import { type Clock, sleep } from "../../time/index.ts";
import { hasCounts } from "./change-status.ts";

interface LateOpeningsOptions {
  readonly informer: Pick<Informer<RemediationRequest>, "list">;
  readonly recordOpening: (incident: RemediationRequest) => Promise<void>;
  readonly serverNowMs: () => number;
  readonly clock: Clock;
  readonly warn: WarnLimited;
}

/** An incident normally has counts within seconds, because its gateway writes them. */
const graceMs = 30_000;

/**
 * Records, until `signal` aborts, the openings of incidents whose gateway ended right after it had created them, and that
 * no signal has been counted on since.
 */
export async function recordLateOpenings(options: LateOpeningsOptions, signal: AbortSignal): Promise<void> {
  const { informer, recordOpening, serverNowMs, clock, warn } = options;
  const isLate = (incident: RemediationRequest) => {
    const { labels, creationTimestamp = "" } = incident.metadata;
    const isOurs = labels?.[managedBy.label] === managedBy.value;
    return isOurs && !hasCounts(incident) && serverNowMs() - Date.parse(creationTimestamp) >= graceMs;
  };
  let recorded = new Set<string>();
  while (!signal.aborted) {
    await sleep(clock, graceMs, signal, { background: true }).catch(() => {});
    const before = recorded;
    recorded = new Set();
    for (const incident of informer.list().filter(isLate)) {
      const { uid = "", name } = incident.metadata;
      try {
        if (!before.has(uid) && !signal.aborted) await recordOpening(incident);
        recorded.add(uid);
      } catch (error) {
        warn("opening not recorded", { incident: name, error }, error);
      }
    }
  }
}
