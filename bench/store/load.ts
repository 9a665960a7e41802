import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface CreateLoad {
  readonly do: "create";
  readonly port: number;
  readonly token: string;
  /** The first object's number. */
  readonly from: number;
  readonly count: number;
  readonly inFlight: number;
}

export interface WatchLoad {
  readonly do: "watch";
  readonly port: number;
  readonly token: string;
  readonly path: string;
  readonly watchers: number;
  /** How many events each watcher waits for. */
  readonly events: number;
}

export type Load = CreateLoad | WatchLoad;

export interface Created {
  readonly perSecond: number;
  readonly p50Ms: number;
}

export interface Watched {
  /** On the machine's clock: when the last watcher had received everything. */
  readonly endedAt: number;
}

/** Clients in a process of their own: what they cost is not the server's. */
export class Clients {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL("./load-worker.js", import.meta.url)));

  async create(load: Omit<CreateLoad, "do">): Promise<Created> {
    this.#child.send({ do: "create", ...load });
    return await this.#answer<Created>();
  }

  /** Resolves when all watches are open, with what waits for their end. */
  async watch(load: Omit<WatchLoad, "do">): Promise<() => Promise<Watched>> {
    this.#child.send({ do: "watch", ...load });
    await this.#answer();
    const ended = this.#answer<Watched>();
    return () => ended;
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  #answer<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      const died = () => reject(new Error("the clients died: see above"));
      this.#child.once("exit", died);
      this.#child.once("message", (message) => {
        this.#child.off("exit", died);
        resolve(message as T);
      });
    });
  }
}
