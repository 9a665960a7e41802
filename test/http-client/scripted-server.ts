import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Reply = (response: ServerResponse, request: Request) => void;

export interface ScriptedServer {
  readonly url: string;
  readonly port: number;
  /** In the order of their arrival. */
  readonly requests: readonly Request[];
  close(): Promise<void>;
}

/** Answers the first request with the first reply, and so on; every further one with the last. */
export function scriptedServer(...replies: readonly Reply[]): Promise<ScriptedServer> {
  return scriptedServerAt(0, ...replies);
}

export async function scriptedServerAt(wanted: number, ...replies: readonly Reply[]): Promise<ScriptedServer> {
  const requests: Request[] = [];
  const server = createServer(async (incoming, response) => {
    response.on("error", () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request = {
      method: incoming.method ?? "",
      url: new URL(incoming.url ?? "", "http://server"),
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
    };
    requests.push(request);
    (replies[requests.length - 1] ?? replies.at(-1))?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(wanted, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Never answers. */
export const mute: Reply = () => {};

/** Sees the request, then cuts the connection. */
export const reset: Reply = (response) => response.socket?.resetAndDestroy();

export function json(value: unknown, { status = 200, headers = {} }: Head = {}): Reply {
  return (response) =>
    response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(value));
}

export function text(value: string, { status = 200, headers = {} }: Head = {}): Reply {
  return (response) => response.writeHead(status, headers).end(value);
}

export function failure(code: number, reason: string, more: object = {}, headers: Head["headers"] = {}): Reply {
  return json(
    { kind: "Status", status: "Failure", reason, code, message: `${reason}!`, ...more },
    { status: code, headers },
  );
}

/** Sends the head, then `chunks`, each on its own, and leaves the stream open unless `then` does something about it. */
export function stream(
  chunks: readonly (string | Buffer)[],
  then: (response: ServerResponse) => unknown = () => {},
): Reply {
  return async (response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.flushHeaders();
    for (const chunk of chunks) {
      await new Promise((resolve) => response.write(chunk, resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    then(response);
  };
}

interface Head {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}
