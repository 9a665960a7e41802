import type { IncomingHttpHeaders } from "node:http";

/** A request, read to its end. */
export interface Call {
  readonly method: string;
  /** The encoded path, without the query. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes and text go as they are, anything else as JSON. */
  readonly body?: unknown;
}

export type Handler = (call: Call) => Reply | Promise<Reply>;

/** Thrown to respond with an error or another reply. */
export class Refusal extends Error {
  readonly reply: Reply;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    super(`${status} ${JSON.stringify(body)}`);
    this.reply = { status, body, headers };
  }
}

/** Name and password of HTTP's Basic scheme. */
export function basicCredentials({ headers }: Call): { name: string; password: string } | undefined {
  const [, encoded] = /^Basic (.+)$/i.exec(headers.authorization ?? "") ?? [];
  if (encoded === undefined) return undefined;
  const [name = "", ...password] = Buffer.from(encoded, "base64").toString().split(":");
  return { name, password: password.join(":") };
}

/** The error of a handler: `400`, in the format of the server. */
export function jsonOf({ body }: Call, refuse: (message: string) => Refusal): Record<string, unknown> {
  if (body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(body.toString());
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    throw refuse((error as Error).message);
  }
  throw refuse("not an object");
}
