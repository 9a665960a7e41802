import { connect, type Socket } from "node:net";

/** HTTP/1.1 over one connection with as little work as possible, so that the server is what is measured. */
export class RawConnection {
  readonly #socket: Socket;
  #text = "";
  #answered: ((status: number) => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true).setEncoding("latin1");
    socket.on("data", (data) => this.#take(String(data)));
  }

  static open(port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => resolve(new RawConnection(socket)));
      socket.once("error", reject);
    });
  }

  /** Sends a whole request and resolves with the status of its answer when that has arrived to its end. */
  send(request: string): Promise<number> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#socket.write(request, "latin1");
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(data: string) {
    this.#text += data;
    const head = this.#text.indexOf("\r\n\r\n");
    if (head < 0) return;
    const [, length = "0"] = /content-length: (\d+)/i.exec(this.#text) ?? [];
    if (this.#text.length < head + 4 + Number(length)) return;
    const status = Number(this.#text.slice(9, 12));
    this.#text = "";
    this.#answered?.(status);
  }
}
