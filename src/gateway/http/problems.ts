import type { FastifyReply } from "fastify";
import { CoordinationError } from "../../coordination/index.ts";
import { sendProblem as send } from "../../http/index.ts";
import { KubeError } from "../../kube/index.ts";
import { LedgerError } from "../../ledger/index.ts";
import { GatewayError } from "../gateway-error.ts";

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
