import { open } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

export interface BareServer {
  readonly port: number;
  close(): Promise<void>;
}

/** What Node and the disk alone allow: reads a body, appends it, and answers with it when it is durable. */
export async function bareCreates(folder: string): Promise<BareServer> {
  const file = await open(join(folder, "bare-http"), "w");
  let waiting: { text: string; response: ServerResponse }[] = [];
  let flushing = false;

  async function flush() {
    if (flushing) return;
    flushing = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await file.write(batch.map(({ text }) => text).join("\n"));
      await file.datasync();
      for (const { text, response } of batch) response.writeHead(201, { "Content-Length": text.length }).end(text);
    }
    flushing = false;
  }

  return await listening(
    (text, response) => {
      waiting.push({ text, response });
      void flush();
    },
    () => file.close(),
  );
}

/** The limit of Node itself: writes the same bytes to every connection. */
export async function bareFanout(): Promise<BareServer & { send(frame: Buffer): void }> {
  const responses: ServerResponse[] = [];
  const server = await listening((_, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.flushHeaders();
    responses.push(response);
  });
  return {
    ...server,
    send(frame) {
      for (const response of responses) response.write(frame);
    },
  };
}

async function listening(answer: (text: string, response: ServerResponse) => void, end = async () => {}) {
  const server = createServer({ noDelay: true }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => answer(Buffer.concat(chunks).toString(), response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await end();
    },
  };
}
