import { STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";
import { CoordinationError } from "../../coordination/index.ts";
import { KubeError } from "../../kube/index.ts";
import { LedgerError } from "../../ledger/index.ts";
import { GatewayError } from "../gateway-error.ts";

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

/** An error response (RFC 9457) with every problem. It never repeats what the sender sent. */
interface ProblemDocument {
  readonly type: "about:blank";
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly problems?: readonly string[];
}

function problemDocument(status: number, detail: string, problems?: readonly string[]): ProblemDocument {
  return {
    type: "about:blank",
    title: STATUS_CODES[status] ?? "Error",
    status,
    detail,
    ...(problems && problems.length > 0 ? { problems: problems.slice(0, maxProblems) } : {}),
  };
}

/** Problems in one response. */
const maxProblems = 100;
