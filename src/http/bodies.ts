import { STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";
import { isJsonDeeper } from "../kube/index.ts";

/** Deeper than any body that a client has a reason to send. */
const maxBodyDepth = 100;

/** Parses a body. Throws an error with `statusCode` 400 for one that is not JSON, or that is nested too deeply. */
export function parseJsonBody(body: string): unknown {
  try {
    if (!isJsonDeeper(body, maxBodyDepth)) return JSON.parse(body);
  } catch {
    // Rejected like a body that is nested too deeply.
  }
  throw Object.assign(new Error("the body is not JSON"), { statusCode: 400 });
}

/**
 * Sends an error response (RFC 9457), which never repeats the content of the request. `more` are members that the server
 * adds.
 */
export function sendProblem(reply: FastifyReply, status: number, detail: string, more: object = {}) {
  return reply
    .code(status)
    .type("application/problem+json")
    .send({ type: "about:blank", title: STATUS_CODES[status] ?? "Error", status, detail, ...more });
}
