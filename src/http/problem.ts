import { STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";

/** An error response (RFC 9457). It never repeats what the client sent. */
interface ProblemDocument {
  readonly type: "about:blank";
  readonly title: string;
  readonly status: number;
  readonly detail: string;
}

/** Sends an error response; `more` are members that the server adds. */
export function sendProblem(reply: FastifyReply, status: number, detail: string, more: object = {}) {
  return reply
    .code(status)
    .type("application/problem+json")
    .send({ ...problemDocument(status, detail), ...more });
}

function problemDocument(status: number, detail: string): ProblemDocument {
  return { type: "about:blank", title: STATUS_CODES[status] ?? "Error", status, detail };
}
