import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** Messages that people see together: a thread, an alert, or a single message where the service has no threads. */
export interface Conversation {
  readonly messages: readonly string[];
  readonly isResolved: boolean;
}

/**
 * A fault of the next request: a status instead of the service, a request that is processed although its response is
 * lost, no fault, or no response at all.
 */
export type Fault =
  | { readonly kind: "status"; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly kind: "lost-response" }
  | { readonly kind: "none" }
  | { readonly kind: "never" };

/** A strict double of a service: it rejects what the documented rules of the service reject. */
export interface ServiceDouble extends AsyncDisposable {
  readonly port: number;
  /** For the next requests, in order. */
  faults: Fault[];
  /** Requests that broke a rule, with the rule. */
  readonly rejections: readonly string[];
  /** Oldest first. */
  conversations(): readonly Conversation[];
}

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Response {
  readonly status: number;
  readonly body?: unknown;
}

/** A broken rule of a service, with the response that the service gives. */
class Rejected extends Error {
  readonly response: Response;

  constructor(rule: string, response: Response) {
    super(rule);
    this.response = response;
  }
}

/** Starts a double that serves HTTP. `serve` throws `Rejected` for requests that break a rule. */
export async function startHttpDouble(
  serve: (request: ReceivedRequest) => Response,
  conversations: () => readonly Conversation[],
): Promise<ServiceDouble> {
  const rejections: string[] = [];
  const server = createServer((incoming, outgoing) => {
    let body = "";
    incoming.on("data", (chunk) => {
      body += chunk;
    });
    incoming.on("end", () => {
      const fault = double.faults.shift();
      if (fault?.kind === "never") return;
      if (fault?.kind === "status") {
        const { status, retryAfterSeconds: seconds } = fault;
        outgoing.writeHead(status, seconds === undefined ? {} : { "retry-after": String(seconds) }).end();
        return;
      }
      const { method = "", url: path = "", headers } = incoming;
      const response = serveStrictly({ method, path, headers, body });
      if (fault?.kind === "lost-response") incoming.socket.destroy();
      else outgoing.writeHead(response.status).end(JSON.stringify(response.body ?? {}));
    });
  });

  function serveStrictly(request: ReceivedRequest): Response {
    try {
      return serve(request);
    } catch (error) {
      if (!(error instanceof Rejected)) throw error;
      rejections.push(error.message);
      return error.response;
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const double: ServiceDouble = {
    port: (server.address() as AddressInfo).port,
    faults: [],
    rejections,
    conversations,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return double;
}

/** Throws unless `holds`. */
export function demand(holds: boolean, rule: string, response: Response): asserts holds {
  if (!holds) throw new Rejected(rule, response);
}

/** Throws for fields that the service does not document. */
export function demandFields(value: object, known: readonly string[], where: string, response: Response): void {
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  demand(unknown.length === 0, `${where} has unknown fields: ${unknown.join(", ")}`, response);
}

/** Control characters, and characters that change the direction of text or are invisible. */
export function hasControlCharacters(text: string): boolean {
  return /[\p{Cc}\p{Cf}]/u.test(text.replaceAll("\n", "").replaceAll("\u{fe0f}", ""));
}
