import type { FastifyReply } from "fastify";
import { CoordinationError } from "../../coordination/index.ts";
import { KubeError } from "../../kube/index.ts";
import { LedgerError } from "../../ledger/index.ts";
import { GatewayError } from "../gateway-error.ts";
import { problemDocument } from "./problem.ts";

export function sendProblem(reply: FastifyReply, status: number, detail: string, problems?: readonly string[]) {
  return reply
    .code(status)
    .type("application/problem+json")
    .send(problemDocument(status, detail, problems));
}

/** A backend did not answer. Any other error is a defect, and must not be hidden behind a retry. */
export function isOutage(error: unknown): boolean {
  return [GatewayError, KubeError, LedgerError, CoordinationError].some((kind) => error instanceof kind);
}
