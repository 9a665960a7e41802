import type { ServerResponse } from "node:http";

/** The answers that a server still owes. */
export class Underway {
  readonly #responses = new Set<ServerResponse>();
  #closing = false;

  add(response: ServerResponse): void {
    this.#responses.add(response);
    if (this.#closing) response.shouldKeepAlive = false;
    response.on("close", () => {
      this.#responses.delete(response);
      if (this.#closing) response.req.socket.end();
    });
  }

  /** From now on every answer is the last one on its connection. */
  close(): void {
    this.#closing = true;
    for (const response of this.#responses) response.shouldKeepAlive = false;
  }
}
