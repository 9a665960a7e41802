import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedLetter {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The response to a request: a status, a closed connection after the request, or none. */
export type Answer = number | "hang-up" | "never";

/** A real HTTP server that notices are posted to. */
export interface Receiver extends AsyncDisposable {
  readonly port: number;
  readonly letters: readonly ReceivedLetter[];
  /** For the next requests, in order; the last one is repeated. */
  answers: Answer[];
}

export async function startReceiver(): Promise<Receiver> {
  const letters: ReceivedLetter[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      letters.push({ path: request.url ?? "", headers: request.headers, body });
      const answer = (receiver.answers.length > 1 ? receiver.answers.shift() : receiver.answers[0]) ?? 200;
      if (answer === "hang-up") request.socket.destroy();
      else if (answer !== "never") response.writeHead(answer).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: Receiver = {
    port: (server.address() as AddressInfo).port,
    letters,
    answers: [200],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
