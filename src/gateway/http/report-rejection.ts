import type { FastifyRequest } from "fastify";
import { type Logger, limitLog } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";
import type { GatewayMetrics, RejectReason } from "../metrics.ts";

export interface Rejection {
  /** Of the route, never of the payload: senders must not choose how many conditions are logged. */
  readonly source: string;
  readonly reason: RejectReason;
  /** The response to the sender, which never contains a secret. */
  readonly detail: string;
}

/** Counts a request that is rejected because of its sender, and logs the first of its kind and then one each minute. */
export type ReportRejection = (request: Pick<FastifyRequest, "socket">, rejection: Rejection) => void;

export function rejectionReporter({ metrics, clock, log }: RejectionReporterOptions): ReportRejection {
  const limit = limitLog(clock, 60_000);
  return ({ socket }, { source, reason, detail }) => {
    metrics.rejected(reason);
    const unreported = limit(`${source} ${reason}`);
    if (unreported === undefined) return;
    log.warn("request rejected", { source, reason, detail, remoteAddress: socket.remoteAddress, unreported });
  };
}

interface RejectionReporterOptions {
  readonly metrics: Pick<GatewayMetrics, "rejected">;
  readonly clock: Clock;
  readonly log: Logger;
}
