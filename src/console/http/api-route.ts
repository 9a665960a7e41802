import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "../../schema/index.ts";
import type { Viewer } from "../identity/identity.ts";
import type { ResponseName } from "./schemas.ts";

/** A route of the API, with its description for the OpenAPI document. */
export type ApiRoute = OpenRoute | CallerRoute;

/** For every client. */
export interface OpenRoute extends RouteDescription {
  readonly access: "open";
  handle(call: OpenCall): Promise<unknown>;
}

/** For every authenticated caller, or for those who may perform operations. */
export interface CallerRoute extends RouteDescription {
  readonly access: "viewer" | "operator";
  handle(call: ApiCall): Promise<unknown>;
}

interface RouteDescription {
  readonly method: "GET" | "POST" | "DELETE";
  /** In the syntax of Fastify: `/api/v1/rows/:kind`. */
  readonly path: string;
  readonly summary: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The body of the response, or, of a stream, that of each event by the name of the event. */
  readonly result?: ResponseName | Readonly<Record<string, ResponseName | "nothing">>;
  /** Error responses beyond those that every route has. */
  readonly problems?: Readonly<Record<number, string>>;
}

/** A validated request: `params`, `query` and `body` match the schemas of the route. */
export interface OpenCall {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly lastEventId: string | undefined;
  readonly request: FastifyRequest;
  /** For a handler that writes the response itself. */
  readonly reply: FastifyReply;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
}

/** A request of an authenticated caller. */
export interface ApiCall extends OpenCall {
  readonly viewer: Viewer;
  /** Whether the caller may still read what the caller could read at the beginning: a stream ends when that has changed. */
  isStillValid(): Promise<boolean>;
}

/** An error that the caller receives as a problem. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly status: number;
  /** Members of the problem beyond the standard ones. */
  readonly more: object;

  constructor(status: number, message: string, more: object = {}) {
    super(message);
    this.status = status;
    this.more = more;
  }
}

export function tooManyFailures(waitSeconds: number): ProblemError {
  return new ProblemError(429, `Too many failed log-ins. Try again in ${waitSeconds} s.`);
}
