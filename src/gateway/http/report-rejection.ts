import type { FastifyRequest } from "fastify";
import type { WarnLimited } from "../limited-warnings.ts";
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

export function rejectionReporter(metrics: Pick<GatewayMetrics, "rejected">, warn: WarnLimited): ReportRejection {
  return ({ socket }, { source, reason, detail }) => {
    metrics.rejected(reason);
    const fields = { source, reason, detail, remoteAddress: socket.remoteAddress };
    warn("request rejected", fields, `${source} ${reason}`);
  };
}
