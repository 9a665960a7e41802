import type { FastifyReply, FastifyRequest } from "fastify";
import { CoordinationError } from "../../coordination/index.ts";
import { sendProblem as send } from "../../http/index.ts";
import { KubeError } from "../../kube/index.ts";
import { LedgerError } from "../../ledger/index.ts";
import type { WarnLimited } from "../../telemetry/index.ts";
import { GatewayError } from "../gateway-error.ts";
import type { GatewayMetrics, RejectReason } from "../metrics.ts";

/** Problems in one response. */
const maxProblems = 100;

/** Sends an error response with every problem. */
export function sendProblem(reply: FastifyReply, status: number, detail: string, problems: readonly string[] = []) {
  return send(reply, status, detail, problems.length > 0 ? { problems: problems.slice(0, maxProblems) } : {});
}

/** Whether a backend failed. Any other error is a defect, and must not be hidden behind a retry. */
export function isOutage(error: unknown): boolean {
  return [GatewayError, KubeError, LedgerError, CoordinationError].some((kind) => error instanceof kind);
}

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
